import { framePeriodMs, onDrawFrame, runAlone } from './draw-clock.ts';

/** In frames of the drawing clock: five times a second, as often as a person reads new values, unless frames are dear. */
const FRAMES_PER_TURN = 4;

let waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let drawnAtMs = -Infinity;

/**
 * Limits how often canvases are drawn while news comes with each message. All of them have their turn together, in a frame of the
 * drawing clock: the first news after a rest at once, the last one after a period at most.
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
