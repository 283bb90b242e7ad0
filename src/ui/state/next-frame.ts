let callbacks = new Set<() => void>();

/**
 * Calls back with the next frame, all in one go: what they change in React is one commit. Who asks twice is called once. Returns
 * the cancellation.
 */
export function onNextFrame(callback: () => void): () => void {
  if (callbacks.size === 0) requestAnimationFrame(runFrame);
  const asked = callbacks.add(callback);
  return () => asked.delete(callback);
}

function runFrame(): void {
  const due = callbacks;
  callbacks = new Set();
  for (const callback of due) {
    try {
      callback();
    } catch (error) {
      // Its fault is its own: the others have their frame.
      reportError(error);
    }
  }
}
