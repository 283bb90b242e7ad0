import { describe, expect, it } from 'vitest';

import { createTrace } from './create-trace.ts';
import { DEFAULT_LOAD_FORM, parseLoadForm } from './load-form.ts';
import { describePlan, estimatePlan, NOTHING_ENDED, plannedMsOf } from './plan-time.ts';

const SENDING = { elapsedMs: 1000, numSent: 5, numFinished: 2, numRejected: 0, numToSend: undefined };
/** The second of three trials of 5 s each. */
const SECOND = {
  label: 'static',
  plannedMs: 5000,
  numLater: { least: 1, most: 1 },
  laterMs: { least: 5000, most: 5000 },
};

describe('the plan of a trial', () => {
  const { scenario } = parseLoadForm({ ...DEFAULT_LOAD_FORM, durationSeconds: '4' }, 8, true);

  it('lasts for as long as requests arrive', () => {
    expect(plannedMsOf(createTrace(scenario), scenario)).toBe(4000);
    const poisson = { ...scenario, arrivals: { type: 'poisson', ratePerSecond: 2 } } as const;
    expect(plannedMsOf(createTrace(poisson), poisson)).toBe(4000);
  });

  it('lasts until the last arrival where a trace is replayed', () => {
    const request = { prompt: 'once', maxNewTokens: 1, seed: 1 };
    const requests = [
      { ...request, atMs: 10 },
      { ...request, atMs: 300 },
    ];
    expect(plannedMsOf({ requests })).toBe(300);
    expect(plannedMsOf({ requests, closedLoop: { numUsers: 1, durationSeconds: 2 } })).toBe(2000);
  });
});

describe('the time left', () => {
  it('is that of the plan at first', () => {
    const first = { ...SECOND, numLater: { least: 2, most: 2 }, laterMs: { least: 10_000, most: 10_000 } };
    expect(estimatePlan(first, NOTHING_ENDED, SENDING)).toEqual({
      label: 'static',
      index: 1,
      numTrials: { least: 3, most: 3 },
      elapsedMs: 1000,
      leftMs: { least: 14_000, most: 14_000 },
    });
  });

  it('is scaled by what the ended trials took', () => {
    const ended = { num: 1, plannedMs: 5000, tookMs: 10_000 };
    const { index, elapsedMs, leftMs } = estimatePlan(SECOND, ended, SENDING);
    expect([index, elapsedMs, leftMs.most]).toEqual([2, 11_000, 9000 + 10_000]);
  });

  it('never becomes negative where a trial outlasts its plan', () => {
    expect(estimatePlan(SECOND, NOTHING_ENDED, { ...SENDING, elapsedMs: 8000 }).leftMs.most).toBe(5000);
  });

  it('follows the ends of the requests once all are sent', () => {
    const draining = { elapsedMs: 6000, numSent: 40, numFinished: 8, numRejected: 2, numToSend: 40 };
    expect(estimatePlan(SECOND, NOTHING_ENDED, draining).leftMs.most).toBe(18_000 + 5000);
  });

  it('has two ends where the number of rounds is open', () => {
    const open = { ...SECOND, numLater: { least: 2, most: 4 }, laterMs: { least: 10_000, most: 20_000 } };
    expect(estimatePlan(open, NOTHING_ENDED, SENDING)).toMatchObject({
      numTrials: { least: 3, most: 5 },
      leftMs: { least: 14_000, most: 24_000 },
    });
  });
});

describe('the line of the progress', () => {
  it('tells the trial, the time and the time left', () => {
    const plan = { label: 'static', index: 2, numTrials: { least: 3, most: 3 }, elapsedMs: 3100 };
    expect(describePlan({ ...plan, leftMs: { least: 11_800, most: 11_800 } })).toBe(
      'static · run 2 of 3 · about 12 s left',
    );
    expect(describePlan({ ...plan, leftMs: { least: 400, most: 400 } })).toMatch(/· less than 1 s left$/);
  });

  it('names both ends of what is open', () => {
    expect(
      describePlan({
        label: 'size 4, wait 0 ms, round 2',
        index: 8,
        numTrials: { least: 25, most: 45 },
        elapsedMs: 20_000,
        leftMs: { least: 40_000, most: 90_000 },
      }),
    ).toBe('size 4, wait 0 ms, round 2 · run 8 of 25 to 45 · about 40 to 90 s left');
  });
});
