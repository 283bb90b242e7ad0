/**
 * Lets text through up to the first stop string: the one that is complete first. If several are complete at the same
 * character, the one that begins first counts. How the text is cut into pieces makes no difference.
 */
export class StopMatcher {
  readonly #stopStrings: readonly string[];
  readonly #maxLength: number;
  readonly #includesStop: boolean;
  /** Text that is held back: its longest end that a stop string begins with. */
  #held = '';
  /** Characters of `#held` that cannot complete a stop string. */
  #numExempt = 0;
  #isStopped = false;

  /**
   * @param stopStrings Well-formed and not empty, so that no cut goes through a character.
   * @param includesStop Whether the stop string itself is let through.
   */
  constructor(stopStrings: readonly string[], includesStop = false) {
    this.#stopStrings = stopStrings;
    this.#includesStop = includesStop;
    this.#maxLength = Math.max(0, ...stopStrings.map(({ length }) => length));
  }

  /** Whether a stop string is complete. Then no more text is let through. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Returns the text that can be shown now, whatever comes next.
   *
   * @param mayStop Whether a stop string may be completed in this piece. One that is completed later may begin in it.
   */
  push(text: string, mayStop = true): string {
    if (this.#isStopped) return '';
    const pending = this.#held + text;
    if (!mayStop) this.#numExempt = pending.length;
    const stop = mayStop ? this.#findStop(pending) : undefined;
    this.#isStopped = stop !== undefined;
    const shownLength = stop ? stop[this.#includesStop ? 'end' : 'index'] : this.#indexOfBeginning(pending);
    this.#held = this.#isStopped ? '' : pending.slice(shownLength);
    this.#numExempt = Math.max(0, this.#numExempt - shownLength);
    return pending.slice(0, shownLength);
  }

  /** Returns the text that was held back for a stop string that did not come. */
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

  /** Where the longest end begins that may become a stop string; the text's length if there is none. */
  #indexOfBeginning(text: string): number {
    for (let index = Math.max(0, text.length - this.#maxLength + 1); index < text.length; index++) {
      const end = text.slice(index);
      if (this.#stopStrings.some((stopString) => stopString.startsWith(end))) return index;
    }
    return text.length;
  }
}
