/** Strides below this are as good as none: the clock's readings are too coarse to keep such looks apart. */
export const SHORTEST_STRIDE_MS = 0.001;

/**
 * When the batcher may look for a batch under `strideMs`: on a grid that the first call after a quiet spell starts.
 *
 *   arrival          full            timeout
 *      |--------------|----|-----------|---|
 *      look                look            look       (strideMs apart)
 */
export class LookGrid {
  readonly #strideMs: number;
  /** The last grid point that was looked at; undefined before the first look, which starts the first grid. */
  #lastMs: number | undefined;

  /** @param strideMs At least `SHORTEST_STRIDE_MS`. */
  constructor(strideMs: number) {
    this.#strideMs = strideMs;
  }

  /** Whether now is the time for a look; each is given once. `isQuiet`: a first call has just come. */
  take(nowMs: number, isQuiet: boolean): boolean {
    const isNewGrid = isQuiet && this.#lastMs !== undefined && nowMs >= this.#lastMs + this.#strideMs;
    const lookMs = isNewGrid ? nowMs : this.nextMs(nowMs);
    if (lookMs > nowMs) return false;
    this.#lastMs = lookMs;
    return true;
  }

  /** The look that the alarm was set for, however late it rang. */
  takeAt(lookMs: number): boolean {
    this.#lastMs = lookMs;
    return true;
  }

  /** The first look that is not before `fromMs` and has not been taken. */
  nextMs(fromMs: number): number {
    if (this.#lastMs === undefined) return fromMs;
    const strides = Math.ceil((fromMs - this.#lastMs) / this.#strideMs);
    return this.#lastMs + this.#strideMs * Math.max(1, strides);
  }
}
