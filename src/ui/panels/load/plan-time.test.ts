import { describe, expect, it } from 'vitest';

import { createTrace } from './create-trace.ts';
import { DEFAULT_LOAD_FORM, parseLoadForm } from './load-form.ts';
import { describePlan, estimatePlan, NOTHING_ENDED, plannedMsOf } from './plan-time.ts';

const SENDING = { elapsedMs: 1000, numSent: 5, numFinished: 2, numRejected: 0, numToSend: undefined };
/** The second of three trials of 5 s each. */
const SECOND = {
  label: 'static',
  plannedMs: 5000,
  numLater: 1,
  laterMs: 5000,
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
    const first = { ...SECOND, numLater: 2, laterMs: 10_000 };
    expect(estimatePlan(first, NOTHING_ENDED, SENDING)).toEqual({
      label: 'static',
      index: 1,
      numTrials: 3,
      elapsedMs: 1000,
      leftMs: 14_000,
    });
  });

  it('is scaled by what the ended trials took', () => {
    const ended = { num: 1, plannedMs: 5000, tookMs: 10_000 };
    const { index, elapsedMs, leftMs } = estimatePlan(SECOND, ended, SENDING);
    expect([index, elapsedMs, leftMs]).toEqual([2, 11_000, 9000 + 10_000]);
  });

  it('never becomes negative where a trial outlasts its plan', () => {
    expect(estimatePlan(SECOND, NOTHING_ENDED, { ...SENDING, elapsedMs: 8000 }).leftMs).toBe(5000);
  });

  it('follows the ends of the requests once all are sent', () => {
    const draining = { elapsedMs: 6000, numSent: 40, numFinished: 8, numRejected: 2, numToSend: 40 };
    expect(estimatePlan(SECOND, NOTHING_ENDED, draining).leftMs).toBe(18_000 + 5000);
  });
});

describe('the line of the progress', () => {
  it('tells the trial, the time and the time left', () => {
    const plan = { label: 'static', index: 2, numTrials: 3, elapsedMs: 3100 };
    expect(describePlan({ ...plan, leftMs: 11_800 })).toBe('static · run 2 of 3 · about 12 s left');
    expect(describePlan({ ...plan, leftMs: 400 })).toMatch(/· less than 1 s left$/);
  });
});
