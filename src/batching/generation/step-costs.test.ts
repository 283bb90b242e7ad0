import { expect, it } from 'vitest';
import { StepCosts } from './step-costs.ts';

function costsOf(measured: readonly (readonly [numTokens: number, ms: number])[]): StepCosts {
  const costs = new StepCosts();
  for (const [numTokens, ms] of measured) costs.measure(numTokens, ms);
  return costs;
}

const msOf = (costs: StepCosts, ...sizes: readonly number[]) => sizes.map((size) => costs.msOf(size));

it('are those of each size that was measured, and else a line through them', () => {
  const costs = costsOf([
    [1, 10],
    [5, 18],
    [9, 26],
  ]);
  expect(msOf(costs, 1, 3, 5, 11)).toEqual([10, 14, 18, 30]);
  costs.measure(4, 17);
  expect(msOf(costs, 1, 4, 5)).toEqual([10, 17, 18]);
});

it('follow the newest steps', () => {
  const costs = costsOf([[1, 10], [9, 10], ...Array.from({ length: 30 }, () => [9, 50] as const)]);
  expect(costs.msOf(9)).toBeCloseTo(50, 1);
  expect(costs.msOf(5)).toBeCloseTo(30, 1);
});

it('are shared out before two sizes were measured, so that guesses may begin', () => {
  expect(msOf(costsOf([]), 1, 2)).toEqual([2, 3]);
  expect(msOf(costsOf([[1, 10]]), 1, 2, 3)).toEqual([10, 15, 20]);
  expect(msOf(costsOf([[8, 90]]), 8, 9)).toEqual([90, 100]);
});

it('are never 0 for a further token, whatever noise there is', () => {
  const costs = costsOf([
    [1, 30],
    [2, 10],
  ]);
  expect(msOf(costs, 9, 10)).toEqual([27.5, 28.5]);
});

it('forget a size that was not measured for long: the machine may be busier since', () => {
  const later = Array.from({ length: 100 }, () => [1, 100] as const);
  expect(costsOf([[9, 26], ...later.slice(1)]).msOf(9)).toBe(26);
  expect(msOf(costsOf([[9, 26], ...later]), 1, 2)).toEqual([100, 150]);
});
