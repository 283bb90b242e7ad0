import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StepHangError } from './faults/runtime-errors.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { warmUp } from './warm-up.ts';

/** A backend whose run number `hangAt`, counted from 1, never ends. Other runs take `runMs`. */
function createBackend(hangAt: number, runMs: number): ScriptedBackend {
  const backend = new ScriptedBackend();
  let numRuns = 0;
  backend.forward = () => {
    numRuns += 1;
    if (numRuns === hangAt) return new Promise<never>(() => {});
    return new Promise((resolve) => setTimeout(() => resolve({ runMs }), runMs));
  };
  backend.sample = () => Promise.resolve({ samples: [], readbackMs: 0 });
  return backend;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('warming up', () => {
  it('gives every pass the time that it takes, be it minutes', async () => {
    const reports: number[] = [];
    const done = warmUp(createBackend(0, 240_000), ScriptedBackend.config, (count) => reports.push(count));
    await vi.advanceTimersByTimeAsync(6 * 240_000);
    await done;
    expect(reports).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('is two passes where no others take long at first', async () => {
    const reports: number[] = [];
    const backend = Object.assign(createBackend(0, 10), { warmUpShapes: [] });
    const done = warmUp(backend, ScriptedBackend.config, (count) => reports.push(count));
    await vi.advanceTimersByTimeAsync(20);
    await done;
    expect(reports).toEqual([0, 1, 2]);
  });

  it('does not wait for ever for a pass that never ends', async () => {
    const done = warmUp(createBackend(3, 20_000), ScriptedBackend.config, () => {});
    const ended = vi.fn<(error: unknown) => void>();
    done.catch(ended);
    await vi.advanceTimersByTimeAsync(2 * 20_000 + 300_000);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(ended).toHaveBeenCalledWith(expect.any(StepHangError));
  });

  it('ends before its next pass once a text that has begun waits', async () => {
    const reports: number[] = [];
    let isAwaited = false;
    const report = (count: number) => void reports.push(count);
    const done = warmUp(createBackend(0, 10), ScriptedBackend.config, report, () => isAwaited);
    await vi.advanceTimersByTimeAsync(15);
    isAwaited = true;
    await vi.advanceTimersByTimeAsync(5);
    await done;
    expect(reports).toEqual([0, 1, 6]);
  });

  it('leaves no timer behind', async () => {
    const done = warmUp(createBackend(0, 10), ScriptedBackend.config, () => {});
    await vi.advanceTimersByTimeAsync(60);
    await done;
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
