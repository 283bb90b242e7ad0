/** As often as a person reads new values, ms. */
const PERIOD_MS = 200;
/** Where the thread is late, ms. */
const MAX_PERIOD_MS = 800;
/** A turn that comes later than this shows that the thread has more to do than it can, ms. */
const LATE_MS = 40;

/** Of all canvases, because they share the thread. */
let periodMs = PERIOD_MS;

/**
 * Limits how often a canvas is drawn while news comes with each message. The first news after a rest is drawn at once, the last one after
 * a period at most. A late turn doubles the period, one on time halves it again.
 */
export function paceDrawing(draw: () => void): { readonly request: () => void; readonly cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAtMs = -Infinity;

  const take = (dueMs: number): void => {
    timer = undefined;
    drawnAtMs = performance.now();
    const isLate = drawnAtMs - dueMs > LATE_MS;
    periodMs = isLate ? Math.min(MAX_PERIOD_MS, periodMs * 2) : Math.max(PERIOD_MS, periodMs / 2);
    draw();
  };

  return {
    request() {
      if (timer !== undefined) return;
      const nowMs = performance.now();
      const dueMs = Math.max(nowMs, drawnAtMs + periodMs);
      if (dueMs === nowMs) take(dueMs);
      else timer = setTimeout(() => take(dueMs), dueMs - nowMs);
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
