import { expect, it } from 'vitest';

import { describeKnown } from './nearest-name.ts';
import { OPTION_NAMES } from '../options/generation-options.ts';

it.each([
  ['temprature', 'temperature'],
  ['max_new_tokens', 'maxNewTokens'],
  ['MaxNewToken', 'maxNewTokens'],
  ['stopTokens', 'stopTokenIds'],
  ['topk', 'topK'],
  // The names of other APIs.
  ['max_tokens', 'maxNewTokens'],
  ['max_token', 'maxNewTokens'],
  ['repeat_penalty', 'repetitionPenalty'],
  ['response_format', 'responseFormat'],
])('the name that was meant stands for all of a long list: %s', (name, meant) => {
  expect(describeKnown(name, OPTION_NAMES)).toBe(`the nearest of ${OPTION_NAMES.length} is ${meant}`);
});

it.each(['stream', 'beam_width', 'x'])(
  'no name is near to %s, so the docs have all of a long list',
  (name) => {
    expect(describeKnown(name, OPTION_NAMES)).toBe('see docs/generation-options.md');
  },
);

it('a list that fits is told where no name is near', () => {
  const names = Array.from({ length: 9 }, (_, index) => `knob${index}`);
  expect(describeKnown('x', names)).toBe(`the options are ${names.join(', ')}`);
});

it('a name of any length costs little', () => {
  expect(describeKnown('x'.repeat(1_000_000), OPTION_NAMES).length).toBeLessThan(100);
});

it('an empty list is told as such', () => {
  expect(describeKnown('a', [])).toBe('there are no options');
});

it('a short list is told whole', () => {
  expect(describeKnown('tpo', ['top', 'bottom'])).toBe('the options are top, bottom');
});
