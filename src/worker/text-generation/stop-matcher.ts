interface FoundStop {
  readonly index: number;
  readonly end: number;
}

/**
 * Lets text through up to the first stop string: the one that is complete first and, of several that are complete at the
 * same character, the one that begins first. How the text is cut into pieces makes no difference.
 */
export class StopMatcher {
  readonly #stopStrings: readonly string[];
  readonly #maxLength: number;
  readonly #includesStop: boolean;
  /** The longest end of the text so far that a stop string begins with. */
  #held = '';
  /** Of these characters, how many come before the first that may complete a stop string. */
  #numExempt = 0;
  #isStopped = false;

  /**
   * @param stopStrings Well-formed and not empty, so that no cut goes through a character.
   * @param includesStop Whether the stop string is the end of what goes through.
   */
  constructor(stopStrings: readonly string[], includesStop = false) {
    this.#stopStrings = stopStrings;
    this.#includesStop = includesStop;
    this.#maxLength = Math.max(0, ...stopStrings.map(({ length }) => length));
  }

  /** Whether a stop string is complete: nothing goes through any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * What can be shown now: no stop string holds it, whatever comes next.
   *
   * @param mayStop False for a piece in which no stop string is seen to its end; one that is completed later may begin in it.
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

  /** What was held back for a stop string that has not come. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #findStop(text: string): FoundStop | undefined {
    let first: FoundStop | undefined;
    for (const stopString of this.#stopStrings) {
      // One that ends in what is exempt is none.
      const index = text.indexOf(stopString, Math.max(0, this.#numExempt + 1 - stopString.length));
      const end = index + stopString.length;
      if (index === -1 || (first && (end > first.end || (end === first.end && index > first.index))))
        continue;
      first = { index, end };
    }
    return first;
  }

  /** Where the longest end begins that may become a stop string; the text's length where there is none. */
  #indexOfBeginning(text: string): number {
    for (let index = Math.max(0, text.length - this.#maxLength + 1); index < text.length; index++) {
      const end = text.slice(index);
      if (this.#stopStrings.some((stopString) => stopString.startsWith(end))) return index;
    }
    return text.length;
  }
}
