/**
 * Lets text through up to the first stop string: the one that is complete first and, of several that are complete at the
 * same character, the one that begins first. How the text is cut into pieces makes no difference.
 */
export class StopMatcher {
  readonly #stopStrings: readonly string[];
  readonly #maxLength: number;
  /** The longest end of the text so far that a stop string begins with. */
  #held = '';
  #isStopped = false;

  /** @param stopStrings Well-formed and not empty, so that no cut goes through a character. */
  constructor(stopStrings: readonly string[]) {
    this.#stopStrings = stopStrings;
    this.#maxLength = Math.max(0, ...stopStrings.map(({ length }) => length));
  }

  /** Whether a stop string is complete: nothing goes through any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** What can be shown now: no stop string holds it, whatever comes next. */
  push(text: string): string {
    if (this.#isStopped) return '';
    const pending = this.#held + text;
    const stopIndex = this.#indexOfStop(pending);
    this.#isStopped = stopIndex !== undefined;
    const shownLength = stopIndex ?? this.#indexOfBeginning(pending);
    this.#held = this.#isStopped ? '' : pending.slice(shownLength);
    return pending.slice(0, shownLength);
  }

  /** What was held back for a stop string that has not come. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  #indexOfStop(text: string): number | undefined {
    let first: { readonly index: number; readonly end: number } | undefined;
    for (const stopString of this.#stopStrings) {
      const index = text.indexOf(stopString);
      const end = index + stopString.length;
      if (index === -1 || (first && (end > first.end || (end === first.end && index > first.index))))
        continue;
      first = { index, end };
    }
    return first?.index;
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
