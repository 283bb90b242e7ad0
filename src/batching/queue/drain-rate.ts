/** Assumed before the first measurement. */
const UNKNOWN_REMAINING_MS = 1000;

/** Number of remembered durations: enough to include slow runs of a mixture, few enough to forget a slow start. */
const NUM_REMEMBERED = 16;

/**
 * Estimates when a full queue has a free place, from its runs: batches, sequences or steps. Places come free only when a run
 * ends, so an average rate would send callers back too early.
 *
 *     remaining(run) = longest - age    while age < longest, the longest of the last 16 durations
 *                    = age              of a run that is older than that: as long again
 *                    = max(age, 1 s)    before any run has ended
 *
 * The n-th place comes free at the n-th smallest `remaining`; after the last run, each further round takes `longest`. The
 * longest duration counts, because half of the runs of a mixture last longer than the average.
 */
export class DrainRate {
  /** The starts of the runs, oldest first. */
  readonly #startsMs = new Map<object, number>();
  /** The last durations, as a ring. */
  readonly #durationsMs: number[] = [];
  #numMeasured = 0;

  start(run: object, nowMs: number): void {
    this.#startsMs.set(run, nowMs);
  }

  end(run: object, nowMs: number): void {
    const startedAtMs = this.#startsMs.get(run);
    if (startedAtMs === undefined) return;
    this.forget(run);
    this.#durationsMs[this.#numMeasured % NUM_REMEMBERED] = nowMs - startedAtMs;
    this.#numMeasured += 1;
  }

  /** Ends a run that was cut short, without measuring it. */
  forget(run: object): void {
    this.#startsMs.delete(run);
  }

  /** The time until `numEnds` runs are likely to have ended, in ms; 0 if nothing runs. */
  remainingMs(nowMs: number, numEnds = 1): number {
    const numRuns = this.#startsMs.size;
    if (numRuns === 0) return 0;
    const longestMs = Math.max(0, ...this.#durationsMs);
    const numRounds = Math.floor((numEnds - 1) / numRuns);
    const remainingMs = [...this.#startsMs.values()]
      .map((startedAtMs) => this.#remainingMs(nowMs - startedAtMs, longestMs))
      .toSorted((a, b) => a - b);
    return (remainingMs[(numEnds - 1) % numRuns] ?? 0) + numRounds * longestMs;
  }

  #remainingMs(ageMs: number, longestMs: number): number {
    if (this.#numMeasured === 0) return Math.max(ageMs, UNKNOWN_REMAINING_MS);
    return ageMs < longestMs ? longestMs - ageMs : ageMs;
  }
}

/** The wait to report to callers: whole ms, at least 1; one second if it is unknown. */
export function retryAfterMsOf(remainingMs: number): number {
  return Number.isFinite(remainingMs) ? Math.max(1, Math.ceil(remainingMs)) : UNKNOWN_REMAINING_MS;
}
