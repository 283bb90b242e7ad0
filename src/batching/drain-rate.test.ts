import { describe, expect, it } from 'vitest';
import { DrainRate } from './drain-rate.ts';

describe('DrainRate', () => {
  it('says one second before anything was measured', () => {
    expect(new DrainRate().retryAfterMs).toBe(1000);
  });

  it('settles on the time between two admissions', () => {
    const rate = new DrainRate();
    for (let nowMs = 0; nowMs <= 2000; nowMs += 40) rate.recordAdmission(nowMs, 1);
    expect(rate.retryAfterMs).toBeCloseTo(40);
    for (let nowMs = 2000; nowMs <= 4000; nowMs += 80) rate.recordAdmission(nowMs, 1);
    expect(rate.retryAfterMs).toBeCloseTo(80, 0);
  });

  it('leaves out the pause after the queue ran empty', () => {
    const rate = new DrainRate();
    rate.recordAdmission(0, 1);
    rate.recordAdmission(40, 0);
    rate.recordAdmission(60_000, 1);
    rate.recordAdmission(60_040, 1);
    expect(rate.retryAfterMs).toBeCloseTo(40);
  });

  it('never says at once', () => {
    const rate = new DrainRate();
    rate.recordAdmission(5, 2);
    rate.recordAdmission(5, 1);
    expect(rate.retryAfterMs).toBe(1);
  });
});
