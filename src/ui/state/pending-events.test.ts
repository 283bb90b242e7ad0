import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let createPendingEvents: typeof import('./pending-events.ts').createPendingEvents;
const frames: (() => void)[] = [];

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => frames.push(callback));
  vi.stubGlobal('document', { hidden: false });
  ({ createPendingEvents } = await import('./pending-events.ts'));
});

afterEach(() => {
  for (const runFrame of frames.splice(0)) runFrame();
  vi.useRealTimers();
});

/** After the time between two frames. */
function runNextFrame(): void {
  vi.advanceTimersByTime(50);
  frames.shift()?.();
}

function createEvents() {
  const applied: (readonly string[])[] = [];
  return {
    applied,
    frameCallbacks: frames,
    ...createPendingEvents<string>((items) => applied.push(items)),
    nextFrame: runNextFrame,
    endWait: () => vi.advanceTimersByTime(1000),
    setHidden: (hidden: boolean) => vi.stubGlobal('document', { hidden }),
  };
}

describe('pending events', () => {
  it('that arrived since the last frame are applied at once and in order', () => {
    const { applied, push, nextFrame } = createEvents();
    push('a');
    push('b');
    expect(applied).toEqual([]);
    nextFrame();
    push('c');
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('are applied on request, and not again in the frame', () => {
    const { applied, push, apply, nextFrame } = createEvents();
    push('a');
    push('b', true);
    apply();
    expect(applied).toEqual([['a', 'b']]);
    nextFrame();
    apply();
    expect(applied).toHaveLength(1);
  });

  it('need one frame, however many arrive', () => {
    const { frameCallbacks, push } = createEvents();
    push('a');
    push('b');
    push('c');
    expect(frameCallbacks).toHaveLength(1);
  });

  it('are applied on arrival while the page gets no frames', () => {
    const { applied, frameCallbacks, push, setHidden } = createEvents();
    setHidden(true);
    push('a');
    push('b');
    expect(applied).toEqual([['a'], ['b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('that can wait are applied together, in the frame after a second', () => {
    const { applied, frameCallbacks, push, nextFrame, endWait } = createEvents();
    push('a', true);
    push('b', true);
    expect(frameCallbacks).toHaveLength(0);
    endWait();
    nextFrame();
    push('c', true);
    endWait();
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('that can wait are applied with those that cannot, and need no frame after the second', () => {
    const { applied, frameCallbacks, push, nextFrame, endWait } = createEvents();
    push('a', true);
    push('b');
    nextFrame();
    endWait();
    expect(applied).toEqual([['a', 'b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('keep their order when the page is hidden between an event and its frame', () => {
    const { applied, push, nextFrame, setHidden } = createEvents();
    push('a');
    setHidden(true);
    push('b');
    nextFrame();
    expect(applied).toEqual([['a', 'b']]);
  });
});
