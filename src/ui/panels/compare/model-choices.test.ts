import { expect, it } from 'vitest';

import type { StoredModel, SuggestedModel } from '../../../client/index.ts';
import { MODEL, WEBGPU } from '../../testing/test-support.ts';
import { describePlan, firstSides, modelChoices } from './model-choices.ts';

const STORED: StoredModel = {
  key: 'key',
  id: 'owner/kept',
  revision: 'main',
  dtype: 'q4',
  storedBytes: 1,
  totalBytes: 1,
};
const SUGGESTED: SuggestedModel = {
  id: 'owner/small',
  license: 'MIT',
  isChat: false,
  numParameters: 1,
  downloadBytes: 1,
  dtype: 'fp16',
  contextLength: 512,
  memoryBytes: 1,
  obstacle: '',
};

function served(id: string, precision: 'fp32' | 'q8' = 'fp32') {
  return { model: { ...MODEL, id }, backend: { ...WEBGPU, precision } };
}

it('offers the model that serves, the embedded one, stored and suggested ones, each once', () => {
  const choices = modelChoices(served('owner/kept', 'q8'), [STORED], [SUGGESTED]);
  expect(choices).toEqual([
    { id: 'owner/kept', revision: 'main', dtype: 'q8', isFixed: false },
    { id: 'storyteller', dtype: 'fp32' },
    { id: 'owner/small', dtype: 'fp16' },
  ]);
});

it('leaves out parts of downloads, picked files, encoders, and what doesn’t fit', () => {
  const stored = [
    { ...STORED, id: 'picked', revision: '' },
    { ...STORED, id: 'owner/encoder' },
  ];
  const suggested = [
    { ...SUGGESTED, obstacle: 'too large' },
    { ...SUGGESTED, id: 'owner/encoder', deployment: 'embedder' },
  ];
  const choices = modelChoices(served('storyteller'), stored, suggested);
  expect(choices.map(({ id }) => id)).toEqual(['storyteller']);
});

it('begins with the model that serves and another precision of it', () => {
  const [inFp32, inQ8] = (['fp32', 'q8'] as const).map((precision) =>
    firstSides(modelChoices(served('storyteller', precision), [], [])).map(({ dtype }) => dtype),
  );
  expect(inFp32).toEqual(['fp32', 'q8']);
  expect(inQ8).toEqual(['q8', 'fp32']);
});

it('compares picked files only as they are loaded', () => {
  const choices = modelChoices(served('picked'), [{ ...STORED, id: 'picked', revision: '' }], []);
  expect(choices[0]).toEqual({ id: 'picked', dtype: 'fp32', isFixed: true });
  expect(firstSides(choices).map(({ id }) => id)).toEqual(['picked', 'storyteller']);
});

it('says what a precision takes, and that it is downloaded first', () => {
  const plan = { dtype: 'q8', isAuto: true, memoryBytes: 2e6, obstacle: '', isStored: true } as const;
  expect(describePlan(plan)).toBe('It takes 2.00 MB of memory with one text of full length.');
  expect(describePlan({ ...plan, isStored: false })).toMatch(/ It is downloaded first\.$/);
});
