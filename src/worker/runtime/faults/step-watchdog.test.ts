import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import type { StepHangError } from './runtime-errors.ts';
import { StepWatchdog } from './step-watchdog.ts';

function createWatchdog() {
  const clock = new FakeClock();
  const hangs: StepHangError[] = [];
  const watchdog = new StepWatchdog(clock, (error) => hangs.push(error));
  const runStep = (ms: number): void => {
    const end = watchdog.begin();
    clock.advance(ms);
    end();
  };
  return { clock, hangs, watchdog, runStep };
}

describe('StepWatchdog', () => {
  it('tells once of a step that does not end', () => {
    const { clock, hangs, watchdog } = createWatchdog();
    watchdog.begin();
    clock.advance(60_000);
    expect(hangs).toEqual([]);
    clock.advance(1000);
    expect(hangs.map(({ message }) => message)).toEqual(['A step did not end within 60 s.']);
    clock.advance(1_000_000);
    expect(hangs).toHaveLength(1);
  });

  it('is at least as patient as it is told to be', () => {
    const clock = new FakeClock();
    const hangs: StepHangError[] = [];
    new StepWatchdog(clock, (error) => hangs.push(error), 300_000).begin();
    clock.advance(300_000);
    expect(hangs).toEqual([]);
    clock.advance(1000);
    expect(hangs.map(({ message }) => message)).toEqual(['A step did not end within 300 s.']);
  });

  it('is as patient as the steps so far are long', () => {
    const { clock, hangs, watchdog, runStep } = createWatchdog();
    for (let step = 0; step < 20; step++) runStep(10_000);
    expect(watchdog.patienceMs).toBe(100_000);
    watchdog.begin();
    clock.advance(100_000);
    expect(hangs).toEqual([]);
    clock.advance(2000);
    expect(hangs).toHaveLength(1);
  });

  it('waits ten times as long as the first steps have taken at most', () => {
    const { watchdog, runStep } = createWatchdog();
    runStep(9000);
    for (let step = 0; step < 3; step++) runStep(100);
    expect(watchdog.patienceMs).toBe(90_000);
  });

  it('counts anew whenever one of two steps in flight ends', () => {
    const { clock, hangs, watchdog } = createWatchdog();
    let end = watchdog.begin();
    for (let step = 0; step < 10; step++) {
      const next = watchdog.begin();
      clock.advance(59_000);
      end();
      end = next;
    }
    expect(hangs).toEqual([]);
  });

  it('sets no timer while nothing runs', () => {
    const { clock, watchdog, runStep } = createWatchdog();
    runStep(10);
    clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
    watchdog.begin();
    expect(clock.pendingTimers).toBe(1);
  });
});
