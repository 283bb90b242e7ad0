import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** From the request of a frame to its start, ms. */
const FRAME_MS = 10;

let frameMs = FRAME_MS;

beforeEach(() => {
  frameMs = FRAME_MS;
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => setTimeout(callback, frameMs));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Asks for a frame every 10 ms, and draws for `costMs` in each. Returns the times from frame to frame, ms. */
async function drawFor(durationMs: number, costMs = 0): Promise<number[]> {
  const { onDrawFrame } = await import('./draw-clock.ts');
  const times: number[] = [];
  const draw = (): void => {
    times.push(performance.now());
    if (costMs > 0) vi.advanceTimersByTime(costMs);
  };
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    onDrawFrame(draw);
    vi.advanceTimersByTime(10);
  }
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

it('draws twenty times a second at most, and at once after a rest', async () => {
  const { onDrawFrame } = await import('./draw-clock.ts');
  const intervals = await drawFor(1000);
  expect(intervals.length).toBeGreaterThan(12);
  expect(Math.min(...intervals)).toBeGreaterThanOrEqual(50);
  vi.advanceTimersByTime(1000);
  const draw = vi.fn<() => void>();
  onDrawFrame(draw);
  vi.advanceTimersByTime(FRAME_MS);
  expect(draw).toHaveBeenCalledTimes(1);
});

it('draws nothing unless asked', async () => {
  await drawFor(200);
  vi.advanceTimersByTime(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

it('takes a twelfth of the thread at most', async () => {
  const intervals = await drawFor(2000, 10);
  expect(Math.min(...intervals.slice(1))).toBeGreaterThanOrEqual(120);
});

it('draws four times a second when drawing is very expensive', async () => {
  const intervals = await drawFor(3000, 100);
  expect(Math.max(...intervals)).toBeLessThan(250 + 100);
});

it('draws less often while frames are late, and as often as before once they are not', async () => {
  frameMs = 60;
  const late = await drawFor(2000);
  expect(late.at(-1)).toBeGreaterThanOrEqual(250);
  frameMs = FRAME_MS;
  const onTime = await drawFor(2000);
  expect(onTime.at(-1)).toBeLessThan(80);
});

it('runs a callback that is requested during a frame in that frame, or in the next one if it has run', async () => {
  const { onDrawFrame } = await import('./draw-clock.ts');
  const drawn: string[] = [];
  const text = (): void => void drawn.push('text');
  const data = (): void => {
    drawn.push('data');
    onDrawFrame(text);
    onDrawFrame(text);
    if (drawn.length < 3) onDrawFrame(data);
  };
  onDrawFrame(data);
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn).toEqual(['data', 'text']);
  vi.advanceTimersByTime(50 + FRAME_MS);
  expect(drawn).toEqual(['data', 'text', 'data', 'text']);
});

it('does not draw what was cancelled', async () => {
  const { onDrawFrame } = await import('./draw-clock.ts');
  const draw = vi.fn<() => void>();
  onDrawFrame(draw)();
  vi.advanceTimersByTime(1000);
  expect(draw).not.toHaveBeenCalled();
});

it('reports an error of a callback and draws the rest of the frame', async () => {
  const { onDrawFrame } = await import('./draw-clock.ts');
  const report = vi.fn<(error: unknown) => void>();
  vi.stubGlobal('reportError', report);
  const fault = new Error('its own');
  const draw = vi.fn<() => void>();
  onDrawFrame(() => {
    throw fault;
  });
  onDrawFrame(draw);
  vi.advanceTimersByTime(FRAME_MS);
  expect(draw).toHaveBeenCalledTimes(1);
  expect(report).toHaveBeenCalledWith(fault);
});

it('leaves a callback that an effect of the commit requests to the next frame', async () => {
  const effects: (() => void)[] = [];
  vi.doMock('react-dom', () => ({
    flushSync: (render: () => void) => {
      render();
      for (const effect of effects.splice(0)) effect();
    },
  }));
  const { onDrawFrame } = await import('./draw-clock.ts');
  const draw = vi.fn<() => void>();
  effects.push(() => void onDrawFrame(draw));
  onDrawFrame(() => {});
  vi.advanceTimersByTime(FRAME_MS);
  expect(draw).not.toHaveBeenCalled();
  vi.advanceTimersByTime(50 + FRAME_MS);
  expect(draw).toHaveBeenCalledTimes(1);
  vi.doUnmock('react-dom');
});
