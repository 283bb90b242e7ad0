import { expect, it } from 'vitest';
import { StepCosts } from './step-costs.ts';

function costsOf(measured: readonly (readonly [numTokens: number, ms: number])[]): StepCosts {
  const costs = new StepCosts();
  for (const [numTokens, ms] of measured) costs.measure(numTokens, ms);
  return costs;
}

it('are a line through the means of each size', () => {
  const costs = costsOf([
    [1, 10],
    [5, 18],
    [9, 26],
  ]);
  expect(costs.of(1)).toEqual({ stepMs: 10, tokenMs: 2 });
  expect(costs.of(3)).toEqual({ stepMs: 14, tokenMs: 2 });
});

it('follow the newest steps', () => {
  const costs = costsOf([[1, 10], [9, 10], ...Array.from({ length: 30 }, () => [9, 50] as const)]);
  expect(costs.of(1).tokenMs).toBeCloseTo(5, 1);
});

it('are shared out before two sizes were measured, so that guesses may begin', () => {
  expect(costsOf([]).of(1)).toEqual({ stepMs: 2, tokenMs: 1 });
  expect(costsOf([[1, 10]]).of(1)).toEqual({ stepMs: 10, tokenMs: 5 });
  expect(costsOf([[8, 90]]).of(8)).toEqual({ stepMs: 90, tokenMs: 10 });
});

it('are never 0 for a further token, whatever noise there is', () => {
  const costs = costsOf([
    [1, 30],
    [2, 10],
  ]);
  expect(costs.of(9)).toEqual({ stepMs: 27.5, tokenMs: 1 });
});

it('forget a size that was not measured for long: the machine may be busier since', () => {
  const later = Array.from({ length: 100 }, () => [1, 100] as const);
  expect(costsOf([[9, 26], ...later.slice(1)]).of(1).tokenMs).toBeLessThan(20);
  expect(costsOf([[9, 26], ...later]).of(1)).toEqual({ stepMs: 100, tokenMs: 50 });
});
