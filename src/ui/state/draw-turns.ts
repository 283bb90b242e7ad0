import { onNextFrame } from './next-frame.ts';

/** Those who have something new to draw, each in its turn. */
export interface DrawTurns {
  /** Who waits already waits on. */
  request(draw: () => void): void;
  cancel(draw: () => void): void;
}

/** So many a frame: all of them at once would hold up whoever types or scrolls. */
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
