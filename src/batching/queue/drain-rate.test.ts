import { describe, expect, it } from 'vitest';
import { DrainRate, retryAfterMsOf } from './drain-rate.ts';

/** Runs one after the other; returns the time at the end of the last. */
function runAll(rate: DrainRate, durationsMs: readonly number[]): number {
  let nowMs = 0;
  for (const durationMs of durationsMs) {
    const run = {};
    rate.start(run, nowMs);
    nowMs += durationMs;
    rate.end(run, nowMs);
  }
  return nowMs;
}

describe('DrainRate', () => {
  it('says when what runs is as old as the longest of the last runs', () => {
    const rate = new DrainRate();
    const nowMs = runAll(rate, [5000, 20_000, 5000]);
    rate.start({}, nowMs);
    expect([0, 1, 15_000].map((ageMs) => rate.remainingMs(nowMs + ageMs))).toEqual([20_000, 19_999, 5000]);
  });

  it('measures runs, not the pauses between them', () => {
    const rate = new DrainRate();
    runAll(rate, [40]);
    rate.start({}, 60_000);
    expect(rate.remainingMs(60_000)).toBe(40);
  });

  it('takes what is older than any before to last as long again', () => {
    const rate = new DrainRate();
    const nowMs = runAll(rate, [40]);
    rate.start({}, nowMs);
    expect([40, 300].map((ageMs) => rate.remainingMs(nowMs + ageMs))).toEqual([40, 300]);
  });

  it('says one second of the first run ever, or as long again as it has run', () => {
    const rate = new DrainRate();
    rate.start({}, 0);
    expect([0, 900, 8000].map((nowMs) => rate.remainingMs(nowMs))).toEqual([1000, 1000, 8000]);
  });

  it('forgets a slow start', () => {
    const rate = new DrainRate();
    const nowMs = runAll(rate, [20_000, ...Array.from({ length: 16 }, () => 50)]);
    rate.start({}, nowMs);
    expect(rate.remainingMs(nowMs)).toBe(50);
  });

  it('counts the ends that are needed, and further rounds of them', () => {
    const rate = new DrainRate();
    runAll(rate, [100]);
    for (const startedAtMs of [130, 110, 120]) rate.start({}, startedAtMs);
    expect([1, 2, 3, 4, 7].map((numEnds) => rate.remainingMs(140, numEnds))).toEqual([70, 80, 90, 170, 270]);
  });

  it('does not learn from a run that was cut short, and has nothing to say when nothing runs', () => {
    const rate = new DrainRate();
    runAll(rate, [10]);
    const run = {};
    rate.start(run, 10);
    rate.forget(run);
    rate.end(run, 500);
    expect(rate.remainingMs(500)).toBe(0);
    rate.start({}, 500);
    expect(rate.remainingMs(500)).toBe(10);
  });
});

describe('retryAfterMsOf', () => {
  it('gives whole milliseconds, never none and never an endless wait', () => {
    expect([-3, 0, 0.2, 12.5, 40, Infinity].map(retryAfterMsOf)).toEqual([1, 1, 1, 13, 40, 1000]);
  });
});
