const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Cuts a JSON array that comes in pieces into the texts of its entries, which are then parsed one by one. */
export class ArrayEntries {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEnded = false;
  #numEntries = 0;
  /** The part of the next entry that has come. After the array's end, text that doesn't belong there. */
  #open = '';

  get openLength(): number {
    return this.#open.length;
  }

  /** Whether all of an array has come, and nothing else. */
  get isWhole(): boolean {
    return this.#hasEnded && this.#open.trim() === '';
  }

  *take(text: string): Generator<string> {
    let begin = 0;
    for (let at = 0; at < text.length && !this.#hasEnded; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isInString || code === QUOTE) {
        this.#passString(code);
      } else if (OPENING.has(code)) {
        this.#depth += 1;
        if (this.#depth === 1) begin = at + 1;
      } else if (CLOSING.has(code) || code === COMMA) {
        if (code !== COMMA) this.#depth -= 1;
        const isEnd = this.#depth === 0;
        if (!isEnd && (code !== COMMA || this.#depth > 1)) continue;
        const entry = this.#open + text.slice(begin, at);
        begin = at + 1;
        this.#open = '';
        this.#hasEnded = isEnd;
        if (isEnd && this.#numEntries === 0 && entry.trim() === '') continue;
        this.#numEntries += 1;
        yield entry;
      }
    }
    this.#open += text.slice(begin);
  }

  #passString(code: number): void {
    if (!this.#isInString) this.#isInString = true;
    else if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
  }
}
