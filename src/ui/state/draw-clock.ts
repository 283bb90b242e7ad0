import { flushSync } from 'react-dom';

/** The time between two frames, short enough for text to grow smoothly, ms. */
const PERIOD_MS = 50;
/** The longest time between two frames, when drawing is expensive or frames are late, ms. */
const MAX_PERIOD_MS = 250;
/** The largest share of the thread that drawing takes: the machine may need the rest to generate text. */
const MAX_SHARE = 1 / 12;
/** A frame that is later than this shows that the machine is overloaded, ms. */
const LATE_MS = 50;

interface Frame {
  readonly callbacks: Set<() => void>;
  readonly begun: Set<() => void>;
}

let waiting = new Set<() => void>();
/** The frame that is being drawn: its callbacks, and those of them that have begun. */
let running: Frame | undefined;
let isScheduled = false;
let drawnAtMs = -Infinity;
let periodMs = PERIOD_MS;

/**
 * Calls back in the next frame of the drawing clock. Texts, figures and canvases share this clock, because a frame costs the
 * renderer and the GPU process more than the drawings in it. Frames are 50 ms apart, and further apart when they are expensive or
 * late. The first frame after a rest comes at once.
 *
 * A callback that is requested twice runs once. A callback that is requested during a frame runs in that frame, unless it has
 * already run there. Returns a function that cancels the call.
 */
export function onDrawFrame(callback: () => void): () => void {
  const callbacks = running && !running.begun.has(callback) ? running.callbacks : waiting;
  callbacks.add(callback);
  if (callbacks === waiting) schedule();
  return () => callbacks.delete(callback);
}

/** The time between two frames, ms. */
export function framePeriodMs(): number {
  return periodMs;
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  const nowMs = performance.now();
  const dueMs = Math.max(nowMs, drawnAtMs + periodMs);
  const take = (): void => {
    requestAnimationFrame(() => runFrame(dueMs));
  };
  if (dueMs === nowMs) take();
  else setTimeout(take, dueMs - nowMs);
}

function runFrame(dueMs: number): void {
  isScheduled = false;
  drawnAtMs = performance.now();
  const isLate = drawnAtMs - dueMs > LATE_MS;
  const frame = { callbacks: waiting, begun: new Set<() => void>() };
  waiting = new Set();
  running = frame;
  flushSync(() => {
    // A set's iteration also visits what is added meanwhile.
    for (const callback of frame.callbacks) {
      frame.begun.add(callback);
      runAlone(callback);
    }
    // Effects of the commit that follows belong to the next frame.
    running = undefined;
  });
  const startMs = drawnAtMs;
  // Measured in a later task, so that the cost includes the browser's style, layout and paint.
  setTimeout(() => setPeriod(performance.now() - startMs, isLate), 0);
}

/** Lets the period grow at once, and shrink to half per frame at most. */
function setPeriod(costMs: number, isLate: boolean): void {
  const leastMs = Math.max(costMs / MAX_SHARE, isLate ? periodMs * 2 : 0, periodMs / 2, PERIOD_MS);
  periodMs = Math.min(MAX_PERIOD_MS, leastMs);
}

/** One callback's error doesn't stop the others. */
export function runAlone(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}
