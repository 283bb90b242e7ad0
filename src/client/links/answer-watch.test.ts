import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { AnswerWatch } from './answer-watch.ts';

function createWatch(patienceMs: number | undefined = 3000) {
  const clock = new FakeClock();
  const log: string[] = [];
  const waiting = { patienceMs: patienceMs as number | undefined };
  const watch = new AnswerWatch({
    clock,
    patienceMs: () => waiting.patienceMs,
    ask: () => log.push(`ask at ${clock.now()}`),
    onSilence: () => log.push(`silence at ${clock.now()}`),
  });
  return { clock, log, waiting, watch };
}

describe('AnswerWatch', () => {
  it('asks each second of a silence, and reports one that lasts', () => {
    const { clock, log, watch } = createWatch();
    watch.start();
    clock.advance(3500);
    expect(log).toEqual(['ask at 1000', 'ask at 2000', 'silence at 3000']);
  });

  it('asks nothing while messages come, and begins anew after each', () => {
    const { clock, log, watch } = createWatch();
    watch.start();
    for (let second = 0; second < 5; second += 1) {
      clock.advance(900);
      watch.hear();
    }
    expect(log).toEqual([]);
    clock.advance(2400);
    watch.hear();
    clock.advance(2000);
    expect(log.filter((line) => line.startsWith('silence'))).toEqual([]);
  });

  it('runs no timer while this tab waits for nothing', () => {
    const { clock, log, waiting, watch } = createWatch();
    watch.start();
    watch.start();
    expect(clock.pendingTimers).toBe(1);
    waiting.patienceMs = undefined;
    clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
    waiting.patienceMs = 3000;
    watch.start();
    watch.stop();
    expect(clock.pendingTimers).toBe(0);
    expect(log).toEqual([]);
  });

  it('does not count the time in which this tab was suspended itself', () => {
    const { clock, log, watch } = createWatch();
    watch.start();
    clock.advance(2500);
    clock.block(3_600_000);
    clock.advance(0);
    expect(log.slice(2), 'it asks again first').toEqual(['ask at 3602500']);
    watch.hear();
    clock.advance(2000);
    expect(log.some((line) => line.startsWith('silence'))).toBe(false);
  });

  it('reports a silence also where a browser fires the timers of a hidden tab once a minute', () => {
    const { clock, log, watch } = createWatch();
    watch.start();
    for (let minute = 0; minute < 6; minute += 1) {
      clock.block(60_000);
      clock.advance(0);
    }
    expect(log.at(-1)).toMatch(/^silence/);
  });
});
