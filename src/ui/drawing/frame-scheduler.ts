import { flushSync } from 'react-dom';

/** The time between two frames, short enough for text to grow smoothly, ms. */
const PERIOD_MS = 50;
/** The longest time between two frames, when drawing is expensive or frames are late, ms. */
const MAX_PERIOD_MS = 250;
/** The largest share of the thread that drawing takes: the machine may need all other time to generate text. */
const MAX_SHARE = 1 / 12;
/** A frame that is later than this shows that the machine is overloaded, ms. */
const LATE_MS = 50;

type Callback = () => void;

interface FrameRequests {
  /** Runs the callback in a frame to come. A callback that is requested twice runs once, and keeps its place. */
  readonly request: (callback: Callback) => void;
  readonly cancel: (callback: Callback) => void;
}

interface Pace {
  /** The least time from one round of callbacks to the next, in periods of the scheduler. */
  readonly framesApart?: number;
  readonly numPerFrame?: number;
}

/**
 * Runs each callback once, in the next frame. Texts, figures and canvases share the frames, because a frame costs the renderer and
 * the GPU process more than the drawings in it. Frames are 50 ms apart, and further apart when they are expensive or late. The
 * first frame after a pause comes at once.
 *
 * A callback that is requested during a frame runs in that frame, unless it has already run there.
 */
export class FrameScheduler implements FrameRequests {
  #waiting = new Set<Callback>();
  /** The frame that is being drawn: its callbacks, and those of them that have begun. */
  #running: { readonly callbacks: Set<Callback>; readonly begun: Set<Callback> } | undefined;
  #isScheduled = false;
  #startedAtMs = -Infinity;
  #periodMs = PERIOD_MS;

  request(callback: Callback): void {
    if (this.#running && !this.#running.begun.has(callback)) {
      this.#running.callbacks.add(callback);
    } else {
      this.#waiting.add(callback);
      this.#schedule();
    }
  }

  cancel(callback: Callback): void {
    this.#waiting.delete(callback);
    this.#running?.callbacks.delete(callback);
  }

  /** Frames of this scheduler for callbacks that share a pace. The first callback after a pause runs in the next frame. */
  paced({ framesApart = 0, numPerFrame = Infinity }: Pace): FrameRequests {
    const waiting = new Set<Callback>();
    let ranAtMs = -Infinity;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const schedule = (): void => {
      const waitMs = ranAtMs + framesApart * this.#periodMs - performance.now();
      if (waitMs <= 0) this.request(run);
      else timer ??= setTimeout(() => this.request(run), waitMs);
    };
    const run = (): void => {
      clearTimeout(timer);
      timer = undefined;
      ranAtMs = performance.now();
      const next = [...waiting].slice(0, numPerFrame);
      for (const callback of next) waiting.delete(callback);
      if (waiting.size > 0) schedule();
      for (const callback of next) runAlone(callback);
    };

    return {
      request(callback) {
        waiting.add(callback);
        schedule();
      },
      cancel(callback) {
        waiting.delete(callback);
      },
    };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const nowMs = performance.now();
    const dueMs = Math.max(nowMs, this.#startedAtMs + this.#periodMs);
    const start = (): void => {
      requestAnimationFrame(() => this.#runFrame(dueMs));
    };
    if (dueMs === nowMs) start();
    else setTimeout(start, dueMs - nowMs);
  }

  #runFrame(dueMs: number): void {
    this.#isScheduled = false;
    const startMs = performance.now();
    this.#startedAtMs = startMs;
    const { callbacks, begun } = (this.#running = { callbacks: this.#waiting, begun: new Set() });
    this.#waiting = new Set();
    flushSync(() => {
      // A set's iteration also visits what is added meanwhile.
      for (const callback of callbacks) {
        begun.add(callback);
        runAlone(callback);
      }
      // Effects of the commit that follows belong to the next frame.
      this.#running = undefined;
    });
    const isLate = startMs - dueMs > LATE_MS;
    // Measured in a later task, so that the cost includes the browser's style, layout and paint.
    setTimeout(() => this.#setPeriod(performance.now() - startMs, isLate), 0);
  }

  /** Lets the period grow at once, and shrink to half per frame at most. */
  #setPeriod(costMs: number, isLate: boolean): void {
    const leastMs = isLate ? this.#periodMs * 2 : this.#periodMs / 2;
    this.#periodMs = Math.min(MAX_PERIOD_MS, Math.max(costMs / MAX_SHARE, leastMs, PERIOD_MS));
  }
}

/** One callback's error doesn't stop the others. */
function runAlone(callback: Callback): void {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}

/** The page's frames: up to twenty a second. */
export const frames = new FrameScheduler();

/** Right after a frame of `frames`: what is drawn over the time axis takes as long as all else, and together they would be a long task. */
export const axisFrames = new FrameScheduler();

/** All charts and slots share these frames: up to five a second, as often as a person reads new values. */
export const canvasFrames = frames.paced({ framesApart: 4 });
