import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { runsOf } from '../../../batching/testing/whole-run.ts';
import { createTrace } from './create-trace.ts';
import type { Arrivals, Lengths, Scenario } from './scenario.ts';

function createScenario(change: Partial<Scenario> = {}): Scenario {
  return {
    arrivals: { type: 'poisson', ratePerSecond: 20 },
    promptWords: { type: 'uniform', min: 2, max: 12 },
    outputTokens: { type: 'long-tail', min: 4, max: 64 },
    durationSeconds: 50,
    seed: 7,
    ...change,
  };
}

const timesOf = (scenario: Scenario): number[] => createTrace(scenario).requests.map(({ atMs }) => atMs);

function textsAt(ratePerSecond: number): string[] {
  const scenario = createScenario({ arrivals: { type: 'poisson', ratePerSecond } });
  return createTrace(scenario).requests.map(({ prompt, maxNewTokens }) => `${maxNewTokens} ${prompt}`);
}

describe('a trace', () => {
  const rate = fc.double({ min: 0.1, max: 50, noNaN: true });
  const arrivals: fc.Arbitrary<Arrivals> = fc.oneof(
    fc.record({ type: fc.constant('closed-loop' as const), numUsers: fc.integer({ min: 1, max: 64 }) }),
    fc.record({ type: fc.constant('poisson' as const), ratePerSecond: rate }),
    fc.record({ type: fc.constant('ramp' as const), fromPerSecond: rate, toPerSecond: rate }),
    fc.record({
      type: fc.constant('burst' as const),
      burstSize: fc.integer({ min: 1, max: 20 }),
      everySeconds: fc.double({ min: 0.1, max: 10, noNaN: true }),
    }),
  );
  const lengths: fc.Arbitrary<Lengths> = fc
    .tuple(
      fc.constantFrom('fixed', 'uniform', 'long-tail'),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 60 }),
    )
    .map(([type, min, more]) => ({ type, min, max: min + more }));
  const scenarios = fc.record({
    arrivals,
    promptWords: lengths,
    outputTokens: lengths,
    durationSeconds: fc.integer({ min: 1, max: 20 }),
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  });

  it('is the same for the same seed, and lies within its scenario', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const trace = createTrace(scenario);
        expect(createTrace(scenario)).toEqual(trace);
        const { promptWords, outputTokens, durationSeconds } = scenario;
        let lastMs = 0;
        for (const { atMs, prompt, maxNewTokens, seed } of trace.requests) {
          expect(atMs).toBeGreaterThanOrEqual(lastMs);
          expect(atMs).toBeLessThan(durationSeconds * 1000);
          lastMs = atMs;
          expect(prompt.split(' ').length).toBeGreaterThanOrEqual(Math.min(promptWords.min, promptWords.max));
          expect(prompt.split(' ').length).toBeLessThanOrEqual(promptWords.max);
          expect(maxNewTokens).toBeGreaterThanOrEqual(outputTokens.min);
          expect(maxNewTokens).toBeLessThanOrEqual(outputTokens.max);
          expect(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32).toBe(true);
        }
      }),
      { numRuns: runsOf({ whole: 100, part: 40 }) },
    );
  });

  it('is another one for another seed', () => {
    expect(createTrace(createScenario({ seed: 8 }))).not.toEqual(createTrace(createScenario()));
  });

  it('asks for the same texts whatever the rate, so that rates compare', () => {
    const slow = textsAt(5);
    expect(textsAt(20).slice(0, slow.length)).toEqual(slow);
  });
});

describe('arrivals', () => {
  it('of Poisson come at their rate, with exponential pauses', () => {
    const times = timesOf(createScenario());
    const pauses = times.map((atMs, index) => atMs - (times[index - 1] ?? 0));
    const mean = pauses.reduce((sum, pause) => sum + pause, 0) / pauses.length;
    const variance = pauses.reduce((sum, pause) => sum + (pause - mean) ** 2, 0) / pauses.length;
    // 1000 arrivals: the mean is within 10 % of 50 ms, and an exponential's deviation is its mean.
    expect(mean).toBeGreaterThan(45);
    expect(mean).toBeLessThan(55);
    expect(Math.sqrt(variance) / mean).toBeGreaterThan(0.85);
    expect(Math.sqrt(variance) / mean).toBeLessThan(1.15);
  });

  it('of a ramp come ever faster', () => {
    const ramp = { type: 'ramp', fromPerSecond: 0, toPerSecond: 40 } as const;
    const times = timesOf(createScenario({ arrivals: ramp }));
    const early = times.filter((atMs) => atMs < 25_000).length;
    // A quarter of the area lies under the first half.
    expect(early / times.length).toBeGreaterThan(0.2);
    expect(early / times.length).toBeLessThan(0.3);
  });

  it('of bursts come together', () => {
    const burst = { type: 'burst', burstSize: 3, everySeconds: 2 } as const;
    expect(timesOf(createScenario({ arrivals: burst, durationSeconds: 5 }))).toEqual([
      0, 0, 0, 2000, 2000, 2000, 4000, 4000, 4000,
    ]);
  });
});
