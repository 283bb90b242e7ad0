import { framePeriodMs, onDrawFrame, runAlone } from './draw-clock.ts';

/** Frames of the drawing clock per turn: canvases are drawn five times a second, as often as a person reads new values. */
const FRAMES_PER_TURN = 4;

let waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let drawnAtMs = -Infinity;

/**
 * Limits how often canvases are drawn while each message brings news. All canvases are drawn together, in one frame of the drawing
 * clock: the first news after a rest at once, later news within a turn.
 */
export function paceDrawing(draw: () => void): { readonly request: () => void; readonly cancel: () => void } {
  return {
    request() {
      waiting.add(draw);
      const waitMs = drawnAtMs + FRAMES_PER_TURN * framePeriodMs() - performance.now();
      if (waitMs <= 0) onDrawFrame(takeTurn);
      else timer ??= setTimeout(() => onDrawFrame(takeTurn), waitMs);
    },
    cancel() {
      waiting.delete(draw);
    },
  };
}

function takeTurn(): void {
  clearTimeout(timer);
  timer = undefined;
  drawnAtMs = performance.now();
  const due = waiting;
  waiting = new Set();
  for (const draw of due) runAlone(draw);
}
