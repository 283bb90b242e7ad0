import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../batching/fake-clock.ts';
import { requestId } from '../../batching/generation/test-support.ts';
import { Deadlines } from './deadlines.ts';

function createDeadlines() {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock);
  const timedOut: string[] = [];
  const set = (name: string, remainingMs: number): void =>
    deadlines.set(requestId(name), remainingMs, () => timedOut.push(name));
  const clear = (name: string): void => deadlines.clear(requestId(name));
  return { clock, set, clear, timedOut };
}

describe('Deadlines', () => {
  it('call back once when the time of a request is up', () => {
    const { clock, set, timedOut } = createDeadlines();
    set('a', 20);
    set('b', 10);
    clock.advance(19);
    expect(timedOut).toEqual(['b']);
    clock.advance(100);
    expect(timedOut).toEqual(['b', 'a']);
  });

  it('are kept in a later turn where the time was up before', () => {
    const { clock, set, timedOut } = createDeadlines();
    set('a', -5);
    expect(timedOut).toEqual([]);
    clock.advance(0);
    expect(timedOut).toEqual(['a']);
  });

  it('are forgotten when the request has ended, and no timer is left', () => {
    const { clock, set, clear, timedOut } = createDeadlines();
    set('a', 20);
    clear('a');
    clear('a');
    clear('never set');
    expect(clock.pendingTimers).toBe(0);
    clock.advance(100);
    expect(timedOut).toEqual([]);
  });
});
