import { expect, it } from 'vitest';
import { convolve } from './reference-operations.ts';

// No golden value of a whole model shows it yet.

it('convolves each value with its latest ones, the last by the last weight', () => {
  const kernel = Float32Array.of(1, 10, 100, -1, 0, 2);
  const latest = [
    [1, 5],
    [2, 6],
    [3, 7],
  ];
  expect(convolve(latest, kernel)).toEqual([321, 9]);
});
