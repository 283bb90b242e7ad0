import { flushSync } from 'react-dom';

let callbacks = new Set<() => void>();

/**
 * Calls back in the next frame. All callbacks of a frame share one React commit, and one that is requested twice runs once. Returns
 * the cancellation.
 */
export function onNextFrame(callback: () => void): () => void {
  if (callbacks.size === 0) requestAnimationFrame(runFrame);
  const asked = callbacks.add(callback);
  return () => asked.delete(callback);
}

/** Resolves once what is in the document now is painted; in a hidden tab, which paints nothing, at once. */
export function afterPaint(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
  });
}

function runFrame(): void {
  const due = callbacks;
  callbacks = new Set();
  flushSync(() => {
    for (const callback of due) runAlone(callback);
  });
}

/** One callback's error doesn't stop the others. */
export function runAlone(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}
