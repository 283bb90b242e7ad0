import { expect, it } from 'vitest';

import { LoadFraction } from './load-fraction.ts';

it('one bar grows over all phases of a download, also when one begins again', () => {
  const fraction = new LoadFraction();
  const seen = [
    fraction.at({ phase: 'resolve', loaded: 2, total: 0 }),
    fraction.at({ phase: 'download', loaded: 50, total: 100 }),
    fraction.at({ phase: 'download', loaded: 20, total: 100 }),
    fraction.at({ phase: 'download', loaded: 100, total: 100 }),
    fraction.at({ phase: 'prepare', loaded: 0, total: 7 }),
    fraction.at({ phase: 'compile', loaded: 2, total: 2 }),
    fraction.at({ phase: 'drain', loaded: 1, total: 1 }),
  ];
  expect(seen).toEqual([0, 0.425, 0.425, 0.85, 0.85, 0.99, 1]);
});

it('a model that is stored has the bar to itself', () => {
  const fraction = new LoadFraction();
  expect(fraction.at({ phase: 'prepare', loaded: 5, total: 10 })).toBeCloseTo(0.475);
});

it('a load that has succeeded is done, whatever phases it had', () => {
  const fraction = new LoadFraction();
  fraction.at({ phase: 'prepare', loaded: 5, total: 10 });
  expect([fraction.end(), fraction.at({ phase: 'compile', loaded: 0, total: 2 })]).toEqual([1, 1]);
});
