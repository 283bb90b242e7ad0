import { describe, expect, it } from 'vitest';
import { Alarm } from './alarm.ts';
import type { Clock } from './clock.ts';
import { FakeClock } from '../testing/fake-clock.ts';

function createAlarm() {
  const clock = new FakeClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, (dueMs) => rings.push(dueMs));
  return { clock, alarm, rings };
}

describe('Alarm', () => {
  it('rings once, at the moment it was set for', () => {
    const { clock, alarm, rings } = createAlarm();
    alarm.set(20);
    clock.advance(19);
    expect(rings).toEqual([]);
    clock.advance(100);
    expect(rings).toEqual([20]);
  });

  it('keeps the earlier of two moments, with one timer', () => {
    const { clock, alarm, rings } = createAlarm();
    alarm.set(20);
    alarm.set(30);
    alarm.set(10);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(100);
    expect(rings).toEqual([10]);
  });

  it('sets no timer for Infinity, and none after clear', () => {
    const { clock, alarm } = createAlarm();
    alarm.set(Infinity);
    expect(clock.pendingTimers).toBe(0);
    alarm.set(10);
    alarm.clear();
    expect(clock.pendingTimers).toBe(0);
  });

  it('sets a moment that has passed for now', () => {
    const { clock, alarm, rings } = createAlarm();
    clock.advance(50);
    alarm.set(20);
    clock.advance(0);
    expect(rings).toEqual([20]);
  });

  it('waits the rest when the platform timer fires early', () => {
    const fires: (() => void)[] = [];
    const delays: number[] = [];
    let nowMs = 0;
    const early: Clock = {
      now: () => nowMs,
      setTimer: (delayMs, fire) => {
        delays.push(delayMs);
        fires.push(fire);
        return () => {};
      },
    };
    const rings: number[] = [];
    const alarm = new Alarm(early, (dueMs) => rings.push(dueMs));
    alarm.set(20);
    nowMs = 19.5;
    fires[0]?.();
    expect(rings).toEqual([]);
    expect(delays).toEqual([20, 0.5]);
    nowMs = 20;
    for (const fire of fires.slice(1)) fire();
    for (const fire of fires.slice(2)) fire();
    fires.at(-1)?.();
    expect(rings).toEqual([20]);
  });

  it('takes in what has come before it rings late, also what takes two tasks', () => {
    const { clock, alarm, rings } = createAlarm();
    alarm.set(20);
    const log: string[] = [];
    clock.setTimer(21, () => log.push(`a task, ${rings.length} rings`));
    clock.setTimer(49, () => clock.setTimer(0, () => log.push(`a second task, ${rings.length} rings`)));
    clock.block(50);
    clock.advance(0);
    expect(log).toEqual(['a task, 0 rings', 'a second task, 0 rings']);
    expect(rings).toEqual([20]);
  });

  it('rings no more once it is cleared while it takes in what has come', () => {
    const { clock, alarm, rings } = createAlarm();
    alarm.set(20);
    clock.setTimer(20, () => alarm.clear());
    clock.advance(100);
    expect(rings).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
