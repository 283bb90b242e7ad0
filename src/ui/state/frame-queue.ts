import { onDrawFrame } from './draw-clock.ts';

/** How often a tab shows the work of other tabs, ms. */
const PAUSE_MS = 1000;

interface FrameQueue<Item> {
  readonly push: (item: Item, canWait?: boolean) => void;
  /** Applies all queued items now. */
  readonly flush: () => void;
}

/**
 * Collects items and applies them together, in order and at most once per frame of the drawing clock. Items that can wait are
 * applied with the next one that can't, or after a pause, so that an idle tab costs little. A hidden tab gets no frames: there
 * each item is applied at once.
 */
export function createFrameQueue<Item>(apply: (items: readonly Item[]) => void): FrameQueue<Item> {
  let queued: Item[] = [];
  let isPausing = false;

  const flush = (): void => {
    if (queued.length === 0) return;
    const items = queued;
    queued = [];
    apply(items);
  };

  const endPause = (): void => {
    isPausing = false;
    if (queued.length > 0) onDrawFrame(flush);
  };

  const push = (item: Item, canWait = false): void => {
    queued.push(item);
    if (document.hidden) {
      flush();
    } else if (!canWait) {
      onDrawFrame(flush);
    } else if (!isPausing) {
      isPausing = true;
      setTimeout(endPause, PAUSE_MS);
    }
  };

  return { push, flush };
}
