import { flushSync } from 'react-dom';

/** As often as a person sees text grow, ms. */
const PERIOD_MS = 50;
/** Where drawing is dear or the thread is late, ms. */
const MAX_PERIOD_MS = 250;
/** The largest share of the thread that drawing takes: the rest of the machine may be what generates the text. */
const MAX_SHARE = 1 / 12;
/** A frame that comes later than this shows that the machine has more to do than it can, ms. */
const LATE_MS = 50;

interface Frame {
  readonly callbacks: Set<() => void>;
  readonly begun: Set<() => void>;
}

let waiting = new Set<() => void>();
/** While a frame is being drawn: its callbacks, and those of them that have begun. */
let running: Frame | undefined;
let isScheduled = false;
let drawnAtMs = -Infinity;
let periodMs = PERIOD_MS;

/**
 * Calls back in the next frame that is drawn for what streams in: the one clock of texts, figures and canvases, so that they share the
 * frames. A frame costs the renderer and the GPU process more than what is drawn in it. Frames are 50 ms apart, and further where they
 * are dear or late. The first after a rest comes at once. A callback that is requested twice runs once, and one that is requested
 * during a frame runs in that frame, unless it has run there already. Returns the cancellation.
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
  // After the browser's own part of the frame: style, layout and paint.
  setTimeout(() => setPeriod(performance.now() - startMs, isLate), 0);
}

/** Grows at once and shrinks by half a frame. */
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
