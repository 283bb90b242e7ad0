/** Where frames come from; the page's own in production, a hand-driven one in tests. */
export interface FrameSource {
  requestFrame(callback: () => void): void;
  /** True while the page gets no frames, as in a hidden tab. */
  isPaused(): boolean;
}

export const pageFrames: FrameSource = {
  requestFrame: (callback) => {
    requestAnimationFrame(callback);
  },
  isPaused: () => document.hidden,
};

/**
 * Collects items and applies them together, at most once per frame and in order. A hidden tab gets no frames,
 * so there every item is applied as it arrives: nothing is drawn, and a backlog would stall the return.
 */
export function createFrameQueue<Item>(
  apply: (items: readonly Item[]) => void,
  frames: FrameSource,
): (item: Item) => void {
  let queued: Item[] = [];
  let isFrameRequested = false;

  const flush = (): void => {
    if (queued.length === 0) return;
    const items = queued;
    queued = [];
    apply(items);
  };

  return (item) => {
    queued.push(item);
    if (frames.isPaused()) {
      flush();
    } else if (!isFrameRequested) {
      isFrameRequested = true;
      frames.requestFrame(() => {
        isFrameRequested = false;
        flush();
      });
    }
  };
}
