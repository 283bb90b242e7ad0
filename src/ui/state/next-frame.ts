import { flushSync } from 'react-dom';

let callbacks = new Set<() => void>();

/**
 * Calls back with the next frame, all in one go: what they change in React is one commit, within the frame. Who asks twice is
 * called once. Returns the cancellation.
 */
export function onNextFrame(callback: () => void): () => void {
  if (callbacks.size === 0) requestAnimationFrame(runFrame);
  const asked = callbacks.add(callback);
  return () => asked.delete(callback);
}

function runFrame(): void {
  const due = callbacks;
  callbacks = new Set();
  flushSync(() => {
    for (const callback of due) runAlone(callback);
  });
}

/** Its fault is its own: the others have their frame. */
function runAlone(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}
