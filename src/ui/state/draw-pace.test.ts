import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { paceDrawing } from './draw-pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The times of the drawings, ms, with news every 100 ms. */
function drawTimes(durationMs: number): number[] {
  const startMs = performance.now();
  const times: number[] = [];
  const pace = paceDrawing(() => times.push(performance.now() - startMs));
  for (let atMs = 0; atMs <= durationMs; atMs += 100) {
    pace.request();
    vi.advanceTimersByTime(100);
  }
  pace.cancel();
  return times;
}

it('draws the first news at once, and then each fifth of a second while news comes', () => {
  expect(drawTimes(900)).toEqual([0, 200, 400, 600, 800, 1000]);
});

it('draws the last news, and then nothing', () => {
  const draw = vi.fn<() => void>();
  const pace = paceDrawing(draw);
  pace.request();
  pace.request();
  pace.request();
  expect(draw).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10_000);
  expect(draw).toHaveBeenCalledTimes(2);
});

it('draws nothing after the cancellation', () => {
  const draw = vi.fn<() => void>();
  const pace = paceDrawing(draw);
  pace.request();
  pace.request();
  pace.cancel();
  vi.advanceTimersByTime(10_000);
  expect(draw).toHaveBeenCalledTimes(1);
});

it('draws half as often after a late turn, until a turn comes on time', () => {
  const draw = vi.fn<() => void>();
  const pace = paceDrawing(draw);
  const clock = vi.spyOn(performance, 'now');
  const at = (nowMs: number): void => void clock.mockReturnValue(nowMs);
  at(100_000);
  pace.request();
  pace.request();
  at(100_300); // Due at 100 200.
  vi.advanceTimersByTime(200);
  expect(draw).toHaveBeenCalledTimes(2);
  pace.request();
  vi.advanceTimersByTime(399);
  expect(draw).toHaveBeenCalledTimes(2);
  at(100_700);
  vi.advanceTimersByTime(1);
  expect(draw).toHaveBeenCalledTimes(3);
  pace.request();
  at(100_900);
  vi.advanceTimersByTime(200);
  expect(draw).toHaveBeenCalledTimes(4);
  clock.mockRestore();
});
