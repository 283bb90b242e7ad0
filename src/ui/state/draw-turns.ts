import { onNextFrame } from './next-frame.ts';

/** Runs a few drawings per frame, so that typing and scrolling stay smooth. */
export function createDrawTurns(numPerFrame: number) {
  const waiting = new Set<() => void>();

  const takeTurns = (): void => {
    const next = [...waiting].slice(0, numPerFrame);
    for (const draw of next) waiting.delete(draw);
    if (waiting.size > 0) onNextFrame(takeTurns);
    for (const draw of next) draw();
  };

  return {
    /** A drawing that already waits keeps its place. */
    request(draw: () => void): void {
      waiting.add(draw);
      onNextFrame(takeTurns);
    },
    cancel(draw: () => void): void {
      waiting.delete(draw);
    },
  };
}
