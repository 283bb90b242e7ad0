import { expect, it } from 'vitest';

import { formatProbability } from './logprobs-table.tsx';

it.each([
  [0, '100.0 %'],
  [-2, '13.5 %'],
  [-11.7, '< 0.1 %'],
])('a logprob of %d is %s', (logprob, text) => {
  expect(formatProbability(logprob)).toBe(text);
});
