import { expect, it } from 'vitest';

import { percentilesOf } from './percentiles.ts';

it('takes percentiles by the nearest rank', () => {
  const upTo100 = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentilesOf(upTo100)).toEqual({ p50: 50, p95: 95, p99: 99 });
  expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 });
});
