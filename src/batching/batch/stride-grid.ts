/** Shorter strides count as 0: clocks are too coarse for them. */
export const SHORTEST_STRIDE_MS = 0.001;

/**
 * When the batcher may check for a batch under `strideMs`: on a grid that starts with the first call after a pause.
 *
 *   arrival          full            timeout
 *      |--------------|----|-----------|---|
 *    check               check           check      (strideMs apart)
 */
export class StrideGrid {
  readonly #strideMs: number;
  /** The last check; undefined before the first one. */
  #lastMs: number | undefined;

  /** @param strideMs At least `SHORTEST_STRIDE_MS`. */
  constructor(strideMs: number) {
    this.#strideMs = strideMs;
  }

  /** Whether a check is due; each one is given once. `isQuiet`: the first call has just arrived. */
  take(nowMs: number, isQuiet: boolean): boolean {
    const isNewGrid = isQuiet && this.#lastMs !== undefined && nowMs >= this.#lastMs + this.#strideMs;
    const checkMs = isNewGrid ? nowMs : this.nextMs(nowMs);
    if (checkMs > nowMs) return false;
    this.#lastMs = checkMs;
    return true;
  }

  /** Takes the check that the alarm was set for, even if it rang late. */
  takeAt(checkMs: number): boolean {
    this.#lastMs = checkMs;
    return true;
  }

  /** The first untaken check at or after `fromMs`. */
  nextMs(fromMs: number): number {
    if (this.#lastMs === undefined) return fromMs;
    const strides = Math.ceil((fromMs - this.#lastMs) / this.#strideMs);
    return this.#lastMs + this.#strideMs * Math.max(1, strides);
  }
}
