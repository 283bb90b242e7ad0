/** Charts that have something new to draw, in the order in which they asked. */
const waiting = new Set<() => void>();
let isFrameRequested = false;

/** One chart a frame: eight at once would hold up whoever types or scrolls. A chart that waits already waits on. */
export function requestTurn(draw: () => void): void {
  waiting.add(draw);
  requestFrame();
}

export function cancelTurn(draw: () => void): void {
  waiting.delete(draw);
}

function requestFrame(): void {
  if (isFrameRequested) return;
  isFrameRequested = true;
  requestAnimationFrame(() => {
    isFrameRequested = false;
    const [next] = waiting;
    if (!next) return;
    waiting.delete(next);
    if (waiting.size > 0) requestFrame();
    next();
  });
}
