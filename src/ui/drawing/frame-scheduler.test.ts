import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FrameScheduler } from './frame-scheduler.ts';

/** React runs these after the callbacks of a frame. */
const effects: (() => void)[] = [];
vi.mock('react-dom', () => ({
  flushSync: (render: () => void) => {
    render();
    for (const effect of effects.splice(0)) effect();
  },
}));

/** From the request of a frame to its start, ms. */
const FRAME_MS = 10;
const PERIOD_MS = 50;

let frameMs = FRAME_MS;
let frames: FrameScheduler;

beforeEach(() => {
  frameMs = FRAME_MS;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => setTimeout(callback, frameMs));
  frames = new FrameScheduler();
});

afterEach(() => {
  vi.useRealTimers();
});

function nextFrame(): void {
  vi.advanceTimersByTime(PERIOD_MS + FRAME_MS);
}

/** Requests a frame every 10 ms, and draws for `costMs` in each. Returns the times from frame to frame, ms. */
function drawFor(durationMs: number, costMs = 0): number[] {
  const times: number[] = [];
  const draw = (): void => {
    times.push(performance.now());
    if (costMs > 0) vi.advanceTimersByTime(costMs);
  };
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    frames.request(draw);
    vi.advanceTimersByTime(10);
  }
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe('frames', () => {
  it('come twenty times a second at most, and at once after a pause', () => {
    const intervals = drawFor(1000);
    expect(intervals.length).toBeGreaterThan(12);
    expect(Math.min(...intervals)).toBeGreaterThanOrEqual(50);
    vi.advanceTimersByTime(1000);
    const draw = vi.fn<() => void>();
    frames.request(draw);
    vi.advanceTimersByTime(FRAME_MS);
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('come only when requested', () => {
    drawFor(200);
    vi.advanceTimersByTime(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('take a twelfth of the thread at most', () => {
    const intervals = drawFor(2000, 10);
    expect(Math.min(...intervals.slice(1))).toBeGreaterThanOrEqual(120);
  });

  it('come four times a second when drawing is very expensive', () => {
    expect(Math.max(...drawFor(3000, 100))).toBeLessThan(250 + 100);
  });

  it('come less often while they are late, and as often as before once they are not', () => {
    frameMs = 60;
    expect(drawFor(2000).at(-1)).toBeGreaterThanOrEqual(250);
    frameMs = FRAME_MS;
    expect(drawFor(2000).at(-1)).toBeLessThan(80);
  });

  it('run a callback that is requested during a frame in that frame, or in the next one if it has run', () => {
    const drawn: string[] = [];
    const text = (): void => void drawn.push('text');
    const data = (): void => {
      drawn.push('data');
      frames.request(text);
      frames.request(text);
      if (drawn.length < 3) frames.request(data);
    };
    frames.request(data);
    vi.advanceTimersByTime(FRAME_MS);
    expect(drawn).toEqual(['data', 'text']);
    nextFrame();
    expect(drawn).toEqual(['data', 'text', 'data', 'text']);
  });

  it('leave out a cancelled callback', () => {
    const draw = vi.fn<() => void>();
    frames.request(draw);
    frames.cancel(draw);
    vi.advanceTimersByTime(1000);
    expect(draw).not.toHaveBeenCalled();
  });

  it('report an error of a callback and run the others', () => {
    const report = vi.fn<(error: unknown) => void>();
    vi.stubGlobal('reportError', report);
    const fault = new Error('its own');
    const draw = vi.fn<() => void>();
    frames.request(() => {
      throw fault;
    });
    frames.request(draw);
    vi.advanceTimersByTime(FRAME_MS);
    expect(draw).toHaveBeenCalledTimes(1);
    expect(report).toHaveBeenCalledWith(fault);
  });

  it('leave a callback that an effect of the commit requests to the next frame', () => {
    const draw = vi.fn<() => void>();
    effects.push(() => frames.request(draw));
    frames.request(() => {});
    vi.advanceTimersByTime(FRAME_MS);
    expect(draw).not.toHaveBeenCalled();
    nextFrame();
    expect(draw).toHaveBeenCalledTimes(1);
  });
});

describe('frames that are four periods apart', () => {
  it('run the first request in the next frame, and then each fifth of a second while requests come', () => {
    const startMs = performance.now();
    const times: number[] = [];
    const paced = frames.paced({ framesApart: 4 });
    const draw = (): void => void times.push(performance.now() - startMs);
    for (let atMs = 0; atMs < 1000; atMs += 100) {
      paced.request(draw);
      vi.advanceTimersByTime(100);
    }
    expect(times).toEqual([10, 220, 430, 640, 850]);
  });

  it('are shared by their callbacks', () => {
    const paced = frames.paced({ framesApart: 4 });
    const times: Record<'a' | 'b', number[]> = { a: [], b: [] };
    const draws = [
      () => void times.a.push(performance.now()),
      () => void times.b.push(performance.now()),
    ] as const;
    for (let atMs = 0; atMs < 1000; atMs += 10) {
      paced.request(draws[atMs % 20 === 0 ? 0 : 1]);
      vi.advanceTimersByTime(10);
    }
    expect(times.a).toHaveLength(5);
    // The second is first requested after the first frame.
    expect(times.b).toEqual(times.a.slice(1));
  });

  it('run the last request, and then nothing', () => {
    const draw = vi.fn<() => void>();
    const paced = frames.paced({ framesApart: 4 });
    paced.request(draw);
    vi.advanceTimersByTime(FRAME_MS);
    paced.request(draw);
    paced.request(draw);
    vi.advanceTimersByTime(10_000);
    expect(draw).toHaveBeenCalledTimes(2);
  });

  it('leave out a cancelled callback', () => {
    const draw = vi.fn<() => void>();
    const paced = frames.paced({ framesApart: 4 });
    paced.request(draw);
    vi.advanceTimersByTime(FRAME_MS);
    paced.request(draw);
    paced.cancel(draw);
    vi.advanceTimersByTime(10_000);
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('come less often when frames are expensive', () => {
    const draw = vi.fn<() => void>(() => void vi.advanceTimersByTime(15));
    const paced = frames.paced({ framesApart: 4 });
    for (let atMs = 0; atMs < 3000; atMs += 100) {
      paced.request(draw);
      vi.advanceTimersByTime(100);
    }
    expect(draw.mock.calls.length).toBeLessThan(10);
  });
});

describe('frames of a few callbacks each', () => {
  it('run so many, in the order of the requests, each once', () => {
    const drawn: string[] = [];
    const paced = frames.paced({ numPerFrame: 2 });
    const draws = ['a', 'b', 'c'].map((name) => () => void drawn.push(name));
    for (const draw of [...draws, ...draws]) paced.request(draw);
    vi.advanceTimersByTime(FRAME_MS);
    expect(drawn).toEqual(['a', 'b']);
    nextFrame();
    expect(drawn).toEqual(['a', 'b', 'c']);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount(), 'no frame is requested').toBe(0);
  });

  it('let a callback request the next frame, and leave out a cancelled one', () => {
    const drawn: string[] = [];
    const paced = frames.paced({ numPerFrame: 1 });
    const cancelled = (): void => void drawn.push('cancelled');
    const again = (): void => {
      drawn.push('again');
      if (drawn.length === 1) paced.request(again);
    };
    paced.request(again);
    paced.request(cancelled);
    vi.advanceTimersByTime(FRAME_MS);
    paced.cancel(cancelled);
    nextFrame();
    nextFrame();
    expect(drawn).toEqual(['again', 'again']);
  });
});
