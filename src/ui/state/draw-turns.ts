import { onNextFrame } from './next-frame.ts';

/** Drawings that wait for their turn. */
interface DrawTurns {
  /** A waiting drawing keeps its place. */
  request(draw: () => void): void;
  cancel(draw: () => void): void;
}

/** Runs a few drawings per frame, so that typing and scrolling stay smooth. */
export function createDrawTurns(numPerFrame: number): DrawTurns {
  const waiting = new Set<() => void>();

  const takeTurns = (): void => {
    const next = [...waiting].slice(0, numPerFrame);
    for (const draw of next) waiting.delete(draw);
    if (waiting.size > 0) onNextFrame(takeTurns);
    for (const draw of next) draw();
  };

  return {
    request(draw) {
      waiting.add(draw);
      onNextFrame(takeTurns);
    },
    cancel(draw) {
      waiting.delete(draw);
    },
  };
}
