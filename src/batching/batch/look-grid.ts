/** Shorter strides count as 0: clocks are too coarse for them. */
export const SHORTEST_STRIDE_MS = 0.001;

/**
 * When the batcher may look for a batch under `strideMs`: on a grid that starts with the first call after a pause.
 *
 *   arrival          full            timeout
 *      |--------------|----|-----------|---|
 *      look                look            look       (strideMs apart)
 */
export class LookGrid {
  readonly #strideMs: number;
  /** The last look; undefined before the first one. */
  #lastMs: number | undefined;

  /** @param strideMs At least `SHORTEST_STRIDE_MS`. */
  constructor(strideMs: number) {
    this.#strideMs = strideMs;
  }

  /** Whether a look is due; each one is given once. `isQuiet`: the first call has just arrived. */
  take(nowMs: number, isQuiet: boolean): boolean {
    const isNewGrid = isQuiet && this.#lastMs !== undefined && nowMs >= this.#lastMs + this.#strideMs;
    const lookMs = isNewGrid ? nowMs : this.nextMs(nowMs);
    if (lookMs > nowMs) return false;
    this.#lastMs = lookMs;
    return true;
  }

  /** Takes the look that the alarm was set for, even if it rang late. */
  takeAt(lookMs: number): boolean {
    this.#lastMs = lookMs;
    return true;
  }

  /** The first untaken look at or after `fromMs`. */
  nextMs(fromMs: number): number {
    if (this.#lastMs === undefined) return fromMs;
    const strides = Math.ceil((fromMs - this.#lastMs) / this.#strideMs);
    return this.#lastMs + this.#strideMs * Math.max(1, strides);
  }
}
