import { expect, it } from 'vitest';
import { createServedModel } from '../worker/test-support.ts';
import { isSameModel } from './models.ts';

const inTab = createServedModel('gpt2');
const atUpstream = { ...inTab, backend: 'upstream', precision: 'unknown' } as const;

it.each([
  ['the model at another precision', { ...inTab, precision: 'fp16' } as const, true],
  ['the model on another backend', { ...inTab, backend: 'webgpu' } as const, true],
  ['another model', createServedModel('gpt2-medium'), false],
  ['an upstream of the same name', atUpstream, false],
])('is the same as the model in the tab or not: %s', (_, other, isSame) => {
  expect(isSameModel(inTab, other)).toBe(isSame);
  expect(isSameModel(other, inTab)).toBe(isSame);
});
