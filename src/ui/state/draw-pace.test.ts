import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const FRAME_MS = 10;
let paceDrawing: typeof import('./draw-pace.ts').paceDrawing;

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => setTimeout(callback, FRAME_MS));
  ({ paceDrawing } = await import('./draw-pace.ts'));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('draws the first news in the next frame, and then each fifth of a second while news comes', () => {
  const startMs = performance.now();
  const times: number[] = [];
  const pace = paceDrawing(() => times.push(performance.now() - startMs));
  for (let atMs = 0; atMs < 1000; atMs += 100) {
    pace.request();
    vi.advanceTimersByTime(100);
  }
  expect(times).toEqual([10, 220, 430, 640, 850]);
});

it('draws all canvases in the same frame', () => {
  const times = new Map<string, number[]>([
    ['a', []],
    ['b', []],
  ]);
  const paces = [...times].map(([, drawn]) => paceDrawing(() => drawn.push(performance.now())));
  for (let atMs = 0; atMs < 1000; atMs += 10) {
    paces[atMs % 20 === 0 ? 0 : 1]?.request();
    vi.advanceTimersByTime(10);
  }
  expect(times.get('a')).toHaveLength(5);
  // The second has its first news after the first frame.
  expect(times.get('b')).toEqual(times.get('a')?.slice(1));
});

it('draws the last news, and then nothing', () => {
  const draw = vi.fn<() => void>();
  const pace = paceDrawing(draw);
  pace.request();
  vi.advanceTimersByTime(FRAME_MS);
  pace.request();
  pace.request();
  vi.advanceTimersByTime(10_000);
  expect(draw).toHaveBeenCalledTimes(2);
});

it('draws nothing after the cancellation', () => {
  const draw = vi.fn<() => void>();
  const pace = paceDrawing(draw);
  pace.request();
  vi.advanceTimersByTime(FRAME_MS);
  pace.request();
  pace.cancel();
  vi.advanceTimersByTime(10_000);
  expect(draw).toHaveBeenCalledTimes(1);
});

it('draws less often when frames are expensive', () => {
  const draw = vi.fn<() => void>(() => void vi.advanceTimersByTime(15));
  const pace = paceDrawing(draw);
  for (let atMs = 0; atMs < 3000; atMs += 100) {
    pace.request();
    vi.advanceTimersByTime(100);
  }
  expect(draw.mock.calls.length).toBeLessThan(10);
});
