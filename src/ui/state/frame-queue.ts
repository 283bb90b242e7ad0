import { onNextFrame } from './next-frame.ts';

/** Where frames come from; the page's own in production, a hand-driven one in tests. */
export interface FrameSource {
  requestFrame(callback: () => void): void;
  /** Calls back once, after a pause that is long for a frame and short for a reader. */
  requestPause(callback: () => void): void;
  /** True while the page gets no frames, as in a hidden tab. */
  isPaused(): boolean;
}

/** How often a tab shows what is none of its own, ms. */
const PAUSE_MS = 1000;

export const pageFrames: FrameSource = {
  requestFrame: onNextFrame,
  requestPause: (callback) => {
    setTimeout(callback, PAUSE_MS);
  },
  isPaused: () => document.hidden,
};

/**
 * Collects items and applies them together, at most once per frame and in order. What can wait is applied with the next
 * item that cannot, or after a pause: a tab that only looks on takes little of what it looks at. A hidden tab gets no frames,
 * so there every item is applied as it arrives: nothing is drawn, and a backlog would stall the return.
 */
export function createFrameQueue<Item>(
  apply: (items: readonly Item[]) => void,
  frames: FrameSource,
): (item: Item, canWait?: boolean) => void {
  let queued: Item[] = [];
  let isFrameRequested = false;
  let isPauseRequested = false;

  const flush = (): void => {
    if (queued.length === 0) return;
    const items = queued;
    queued = [];
    apply(items);
  };

  const requestFrame = (): void => {
    if (isFrameRequested) return;
    isFrameRequested = true;
    frames.requestFrame(() => {
      isFrameRequested = false;
      flush();
    });
  };

  const requestPause = (): void => {
    if (isPauseRequested) return;
    isPauseRequested = true;
    frames.requestPause(() => {
      isPauseRequested = false;
      if (queued.length > 0) requestFrame();
    });
  };

  return (item, canWait = false) => {
    queued.push(item);
    if (frames.isPaused()) flush();
    else if (canWait) requestPause();
    else requestFrame();
  };
}
