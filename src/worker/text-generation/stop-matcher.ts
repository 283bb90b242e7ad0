/**
 * Passes text up to the stop string that is complete first. If several are complete at the same character, the one that begins first
 * counts. The result does not depend on how the text is cut into pieces.
 */
export class StopMatcher {
  readonly #stopStrings: readonly string[];
  readonly #maxLength: number;
  readonly #includesStop: boolean;
  /** Held text: the longest end of the text that is the beginning of a stop string. */
  #held = '';
  /** Characters of `#held` that cannot complete a stop string. */
  #numExempt = 0;
  #found: string | undefined;

  /**
   * @param stopStrings Well-formed and not empty, so that no character is cut in half.
   * @param includesStop Whether the stop string itself passes.
   */
  constructor(stopStrings: readonly string[], includesStop = false) {
    this.#stopStrings = stopStrings;
    this.#includesStop = includesStop;
    this.#maxLength = Math.max(0, ...stopStrings.map(({ length }) => length));
  }

  /** Whether a stop string is complete. Then no more text passes. */
  get isStopped(): boolean {
    return this.#found !== undefined;
  }

  /** The stop string that is complete. */
  get found(): string | undefined {
    return this.#found;
  }

  /**
   * Returns the text that no later piece can change.
   *
   * @param mayStop Whether a stop string may be completed in this piece. One that is completed later may begin in it.
   */
  push(text: string, mayStop = true): string {
    if (this.isStopped) return '';
    const pending = this.#held + text;
    if (!mayStop) this.#numExempt = pending.length;
    const stop = mayStop ? this.#findStop(pending) : undefined;
    this.#found = stop && pending.slice(stop.index, stop.end);
    const shownLength = stop ? stop[this.#includesStop ? 'end' : 'index'] : this.#indexOfBeginning(pending);
    this.#held = this.isStopped ? '' : pending.slice(shownLength);
    this.#numExempt = Math.max(0, this.#numExempt - shownLength);
    return pending.slice(0, shownLength);
  }

  /** Returns the text that was held for a stop string that did not come. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #findStop(text: string) {
    const found = this.#stopStrings.map((stopString) => {
      // Skip stop strings that end in exempt text.
      const index = text.indexOf(stopString, Math.max(0, this.#numExempt + 1 - stopString.length));
      return { index, end: index + stopString.length };
    });
    return found.filter(({ index }) => index >= 0).toSorted((a, b) => a.end - b.end || a.index - b.index)[0];
  }

  /** Index of the longest end that may become a stop string; the text's length if there is none. */
  #indexOfBeginning(text: string): number {
    for (let index = Math.max(0, text.length - this.#maxLength + 1); index < text.length; index++) {
      const end = text.slice(index);
      if (this.#stopStrings.some((stopString) => stopString.startsWith(end))) return index;
    }
    return text.length;
  }
}
