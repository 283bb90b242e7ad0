/** The answer before anything was measured. */
const UNKNOWN_REMAINING_MS = 1000;

/** Runs whose durations are remembered: enough to meet the slow ones of a mixture, few enough to forget a slow start. */
const NUM_REMEMBERED = 16;

/**
 * How soon a full queue has a place again, from the runs that hold it up: batches, sequences or steps. Places are freed
 * when a run ends, never in between, so an average of admissions over time turns away those who come back in between.
 *
 *     remaining(run) = longest - age    while age < longest, the longest of the last 16 durations
 *                    = age              of a run that is older than that: as long again
 *                    = max(age, 1 s)    before any run has ended
 *
 * The n-th place is free at the n-th smallest `remaining`; beyond the runs there are, each further round of them takes
 * `longest`. Durations are those of runs, so idle time is never in them. The longest counts, not the average: half of the
 * runs of a mixture last longer than their average.
 */
export class DrainRate {
  /** Starts of what runs, oldest first. */
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

  /** It was cut short: how long it ran says nothing about the others. */
  forget(run: object): void {
    this.#startsMs.delete(run);
  }

  /** Until so many runs are likely to have ended, in ms; 0 where nothing runs. */
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

/** A wait as a caller is told of it: whole ms, at least 1; one second where nothing says how long. */
export function retryAfterMsOf(remainingMs: number): number {
  return Number.isFinite(remainingMs) ? Math.max(1, Math.ceil(remainingMs)) : UNKNOWN_REMAINING_MS;
}
