import { expect, it } from 'vitest';

import { describeFinding, describeOutcome } from './describe-outcome.ts';
import { createTrial } from '../../testing/fake-load.ts';

function trialsAt(...rates: readonly number[]) {
  return rates.map((tokensPerSecond, index) =>
    createTrial(['off', 'static', 'continuous'][index] ?? '', {
      tokensPerSecond,
      e2eMs: { p50: 1, p95: 1000 / tokensPerSecond, p99: 9 },
    }),
  );
}

it('names the best policy with its gain over off', () => {
  expect(describeFinding(trialsAt(1, 4, 2))).toEqual({
    title: 'static makes 4.0× the tokens/s of off.',
    detail: 'End to end p95 falls from 1,000 ms to 250 ms.',
  });
});

it('claims no gain where there is none', () => {
  expect(describeFinding(trialsAt(100, 90, 104))?.title).toBe(
    'Batching makes no more tokens/s than off here.',
  );
  expect(describeFinding(trialsAt(0, 1, 2))?.title).toBe('No request finished under off.');
});

it('waits for all policies', () => {
  expect(describeFinding(trialsAt(1, 4))).toBeUndefined();
});

const TEST = { deployment: 'text-generator', scenario: undefined, latencyLimitMs: 500 } as const;

it('says under which policy a run was measured', () => {
  expect(describeOutcome({ ...TEST, mode: 'run', trials: [createTrial('run')] })).toEqual({
    title: 'Measured under continuous.',
    detail: '10 of 10 requests finished in 1,000 ms.',
  });
});

it('names the rate with the most tokens', () => {
  const trials = [
    createTrial('2/s', { tokensPerSecond: 50, e2eMs: { p50: 1, p95: 100, p99: 9 } }),
    createTrial('4/s', { tokensPerSecond: 90, e2eMs: { p50: 1, p95: 400, p99: 9 } }),
  ];
  expect(describeOutcome({ ...TEST, mode: 'sweep', trials })).toEqual({
    title: 'Best throughput at 4/s: 90.0 tokens/s.',
    detail: 'End to end p95 is 100 ms at 2/s and 400 ms at 4/s.',
  });
});

it('says that a test was stopped early', () => {
  expect(describeOutcome({ ...TEST, mode: 'run', trials: [] }).title).toMatch(/^Stopped before/);
  expect(describeOutcome({ ...TEST, mode: 'compare', trials: trialsAt(1) }).title).toMatch(/^Stopped before/);
});
