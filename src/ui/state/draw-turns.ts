import { onDrawFrame } from './draw-clock.ts';

/** Runs a few drawings per frame of the drawing clock, so that typing and scrolling stay smooth. */
export function createDrawTurns(numPerFrame: number) {
  const waiting = new Set<() => void>();

  const takeTurns = (): void => {
    const next = [...waiting].slice(0, numPerFrame);
    for (const draw of next) waiting.delete(draw);
    if (waiting.size > 0) onDrawFrame(takeTurns);
    for (const draw of next) draw();
  };

  return {
    /** A drawing that already waits keeps its place. */
    request(draw: () => void): void {
      waiting.add(draw);
      onDrawFrame(takeTurns);
    },
    cancel(draw: () => void): void {
      waiting.delete(draw);
    },
  };
}
