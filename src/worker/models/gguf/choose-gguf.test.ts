import { expect, it } from 'vitest';

import { bitsInName, chooseGguf, partsOf } from './choose-gguf.ts';

const NAMES = [
  'README.md',
  'mmproj-model-f16.gguf',
  'model-Q4_K_M.gguf',
  'model-Q8_0-00001-of-00002.gguf',
  'model-Q8_0-00002-of-00002.gguf',
  'model.F16.gguf',
];

it.each([
  ['Q4_K_M', 'model-Q4_K_M.gguf'],
  ['q4_k_m', 'model-Q4_K_M.gguf'],
  ['Q8_0', 'model-Q8_0-00001-of-00002.gguf'],
  ['F16', 'model.F16.gguf'],
  ['model.F16.gguf', 'model.F16.gguf'],
  [undefined, 'model-Q4_K_M.gguf'],
])('%s is %s', (wanted, name) => {
  expect(chooseGguf(NAMES, wanted)).toBe(name);
});

it('takes the only file whatever its type, and none where none is asked for', () => {
  expect(chooseGguf(['a-Q5_0.gguf', 'config.json'], undefined)).toBe('a-Q5_0.gguf');
  expect(chooseGguf(['config.json'], undefined)).toBeUndefined();
});

it.each([
  ['a type that the repository lacks', NAMES, 'Q5_0', /model-Q4_K_M\.gguf, .*model\.F16\.gguf/],
  ['a type that several files have', ['a-Q8_0.gguf', 'b-Q8_0.gguf'], 'Q8_0', /a-Q8_0\.gguf, b-Q8_0\.gguf/],
  ['no type where none is usual', ['a-Q5_0.gguf', 'a-Q6_K.gguf'], undefined, /several/],
  ['a part of a type', NAMES, '0', /No single/],
])('refuses %s, and lists those that are there', (_, names, wanted, message) => {
  expect(() => chooseGguf(names, wanted)).toThrow(
    expect.objectContaining({ code: 'GGUF_FILE_UNCLEAR', message: expect.stringMatching(message) }),
  );
});

it('names all parts of a split file, and refuses a count that no model has', () => {
  expect(partsOf('m-00001-of-00003.gguf')).toEqual([1, 2, 3].map((part) => `m-0000${part}-of-00003.gguf`));
  expect(partsOf('m.gguf')).toEqual(['m.gguf']);
  expect(() => partsOf('m-00001-of-99999.gguf')).toThrow(
    expect.objectContaining({ code: 'MODEL_FILE_MISSING' }),
  );
});

it.each([
  ['a-Q4_K_M.gguf', 4.5],
  ['a.IQ2_XS.gguf', 2.5],
  ['a-q8_0-00001-of-00002.gguf', 8.5],
  ['a-BF16.gguf', 16],
  ['a.f32.gguf', 32],
  ['Q4_0-model.gguf', undefined],
])('the weights of %s have about %s bits', (name, bits) => {
  expect(bitsInName(name)).toBe(bits);
});
