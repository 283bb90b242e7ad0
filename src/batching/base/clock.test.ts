import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setDeadline, systemClock } from './clock.ts';
import { FakeClock } from '../testing/fake-clock.ts';

describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('fires once after the delay, on monotonic time', () => {
    const startMs = systemClock.now();
    let numFired = 0;
    systemClock.setTimer(20, () => numFired++);
    vi.advanceTimersByTime(19);
    expect(numFired).toBe(0);
    vi.advanceTimersByTime(1);
    vi.advanceTimersByTime(100);
    expect(numFired).toBe(1);
    expect(systemClock.now() - startMs).toBe(120);
  });

  it('follows the fake time that a test puts in after it was read, and real time again', () => {
    vi.useRealTimers();
    const realMs = systemClock.now();
    vi.useFakeTimers();
    const fakeMs = systemClock.now();
    vi.advanceTimersByTime(1e9);
    expect(systemClock.now() - fakeMs).toBe(1e9);
    vi.useRealTimers();
    expect(systemClock.now() - realMs).toBeLessThan(1e9);
  });

  it('does not fire after it was cancelled', () => {
    let numFired = 0;
    systemClock.setTimer(20, () => numFired++)();
    vi.advanceTimersByTime(100);
    expect(numFired).toBe(0);
  });

  it('waits longer than the longest platform timer', () => {
    let numFired = 0;
    systemClock.setTimer(2 ** 31 + 10, () => numFired++);
    vi.advanceTimersByTime(2 ** 31);
    expect(numFired).toBe(0);
    vi.advanceTimersByTime(10);
    expect(numFired).toBe(1);
  });
});

describe('setDeadline', () => {
  it('ends a wait after what has come by then, and not before its time', () => {
    const clock = new FakeClock();
    const log: string[] = [];
    setDeadline(clock, 20, () => log.push('deadline'));
    clock.advance(19);
    expect(log).toEqual([]);
    clock.setTimer(0, () => clock.setTimer(0, () => log.push('answer')));
    clock.block(10);
    clock.advance(0);
    expect(log).toEqual(['answer', 'deadline']);
  });

  it('can be cancelled until it fires', () => {
    const clock = new FakeClock();
    const log: string[] = [];
    const cancel = setDeadline(clock, 20, () => log.push('deadline'));
    clock.setTimer(20, cancel);
    clock.advance(100);
    expect(log).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('FakeClock', () => {
  it('stands still until it is advanced, then fires due timers in order', () => {
    const clock = new FakeClock();
    const events: string[] = [];
    clock.setTimer(20, () => events.push(`b at ${clock.now()}`));
    clock.setTimer(10, () => {
      events.push(`a at ${clock.now()}`);
      clock.setTimer(5, () => events.push(`nested at ${clock.now()}`));
    });
    clock.setTimer(20, () => events.push(`c at ${clock.now()}`));
    clock.setTimer(20, () => events.push('cancelled'))();
    clock.setTimer(21, () => events.push('later'));
    clock.advance(20);
    expect(events).toEqual(['a at 10', 'nested at 15', 'b at 20', 'c at 20']);
    expect(clock.now()).toBe(20);
    expect(clock.pendingTimers).toBe(1);
  });
});
