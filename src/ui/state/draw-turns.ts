/** Those who have something new to draw, each in its turn. */
export interface DrawTurns {
  /** Who waits already waits on. */
  request(draw: () => void): void;
  cancel(draw: () => void): void;
}

/** So many a frame: all of them at once would hold up whoever types or scrolls. */
export function createDrawTurns(numPerFrame: number): DrawTurns {
  const waiting = new Set<() => void>();
  let isFrameRequested = false;

  const takeTurns = (): void => {
    isFrameRequested = false;
    const next = [...waiting].slice(0, numPerFrame);
    for (const draw of next) waiting.delete(draw);
    if (waiting.size > 0) requestFrame();
    for (const draw of next) draw();
  };
  const requestFrame = (): void => {
    if (isFrameRequested) return;
    isFrameRequested = true;
    requestAnimationFrame(takeTurns);
  };

  return {
    request(draw) {
      waiting.add(draw);
      requestFrame();
    },
    cancel(draw) {
      waiting.delete(draw);
    },
  };
}
