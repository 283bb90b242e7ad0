import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let createFrameQueue: typeof import('./frame-queue.ts').createFrameQueue;
const frames: (() => void)[] = [];

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => frames.push(callback));
  vi.stubGlobal('document', { hidden: false });
  ({ createFrameQueue } = await import('./frame-queue.ts'));
});

afterEach(() => {
  for (const runFrame of frames.splice(0)) runFrame();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** After the pause of the drawing clock. */
function runNextFrame(): void {
  vi.advanceTimersByTime(50);
  frames.shift()?.();
}

function createQueue() {
  const applied: (readonly string[])[] = [];
  return {
    applied,
    frameCallbacks: frames,
    ...createFrameQueue<string>((items) => applied.push(items)),
    nextFrame: runNextFrame,
    endPause: () => vi.advanceTimersByTime(1000),
    setPaused: (hidden: boolean) => vi.stubGlobal('document', { hidden }),
  };
}

describe('frame queue', () => {
  it('applies everything that arrived since the last frame at once and in order', () => {
    const { applied, push, nextFrame } = createQueue();
    push('a');
    push('b');
    expect(applied).toEqual([]);
    nextFrame();
    push('c');
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('applies queued items at once on flush, and not again in the frame', () => {
    const { applied, push, flush, nextFrame } = createQueue();
    push('a');
    push('b', true);
    flush();
    expect(applied).toEqual([['a', 'b']]);
    nextFrame();
    flush();
    expect(applied).toHaveLength(1);
  });

  it('asks for one frame, however many items arrive', () => {
    const { frameCallbacks, push } = createQueue();
    push('a');
    push('b');
    push('c');
    expect(frameCallbacks).toHaveLength(1);
  });

  it('applies each item on arrival while the page gets no frames', () => {
    const { applied, frameCallbacks, push, setPaused } = createQueue();
    setPaused(true);
    push('a');
    push('b');
    expect(applied).toEqual([['a'], ['b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('applies what can wait together, in the frame after a pause', () => {
    const { applied, frameCallbacks, push, nextFrame, endPause } = createQueue();
    push('a', true);
    push('b', true);
    expect(frameCallbacks).toHaveLength(0);
    endPause();
    nextFrame();
    push('c', true);
    endPause();
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('applies what can wait with what cannot, and has nothing left for the end of the pause', () => {
    const { applied, frameCallbacks, push, nextFrame, endPause } = createQueue();
    push('a', true);
    push('b');
    nextFrame();
    endPause();
    expect(applied).toEqual([['a', 'b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('keeps the order when the page is hidden between an item and its frame', () => {
    const { applied, push, nextFrame, setPaused } = createQueue();
    push('a');
    setPaused(true);
    push('b');
    nextFrame();
    expect(applied).toEqual([['a', 'b']]);
  });
});
