import { expect, it } from 'vitest';

import type { SuggestedModel } from '../../../client/index.ts';
import { describeFit, describeModel, describeUse } from './describe-suggested.ts';

const MODEL: SuggestedModel = {
  id: 'a/b',
  license: 'Apache-2.0',
  isChat: true,
  numParameters: 134_515_008,
  downloadBytes: 269_060_552,
  dtype: 'fp16',
  contextLength: 2048,
  memoryBytes: 1_240_000_000,
  obstacle: '',
};

it('says how large a model is, and no download where it is here already', () => {
  expect(describeModel(MODEL, false)).toBe('134.5M parameters · 269 MB download · Apache-2.0');
  expect(describeModel(MODEL, true)).toBe('134.5M parameters · on this device · Apache-2.0');
});

it('says what it takes, or why it doesn’t fit', () => {
  expect(describeFit(MODEL)).toBe('Fits: 1.24 GB in fp16 with one text of 2,048 tokens.');
  expect(describeFit({ ...MODEL, dtype: 'q4' })).toContain('Tight: ');
  expect(describeFit({ ...MODEL, obstacle: 'Too large.' })).toBe('Too large.');
});

it('says that an encoder comes beside the model that generates', () => {
  const encoder = { ...MODEL, isChat: false, deployment: 'embedder' };
  expect(describeFit(encoder)).toBe('Fits: 1.24 GB in fp16, beside the model that generates.');
  expect(
    [MODEL, { ...MODEL, isChat: false }, encoder, { ...encoder, deployment: 'reranker' }].map(describeUse),
  ).toEqual(['chat', 'text', 'embeddings', 'ranking']);
});
