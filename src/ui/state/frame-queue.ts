import { onNextFrame } from './next-frame.ts';

/** The source of frames; tests drive their own. */
export interface FrameSource {
  requestFrame(callback: () => void): void;
  /** Calls back once after a pause, which is longer than a frame. */
  requestPause(callback: () => void): void;
  /** Whether the page gets no frames, like a hidden tab. */
  isPaused(): boolean;
}

/** How often a tab shows the work of other tabs, ms. */
const PAUSE_MS = 1000;

export const pageFrames: FrameSource = {
  requestFrame: onNextFrame,
  requestPause: (callback) => {
    setTimeout(callback, PAUSE_MS);
  },
  isPaused: () => document.hidden,
};

/**
 * Collects items and applies them together, in order and at most once per frame. Items that can wait are applied with the next one
 * that can't, or after a pause, so that an idle tab costs little. A hidden tab gets no frames: there each item is applied at once.
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
