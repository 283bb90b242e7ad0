import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { checkDepth, nestedCount } from './limits.ts';

/** The most ranges of one set of characters. */
const MAX_RANGES = 5000;

/** Reads a pattern or a grammar from its beginning. */
export class Scanner {
  readonly text: string;
  readonly param: string;
  at = 0;
  /** How often the part that was read last repeats. */
  count = 1;
  #depth = 0;

  constructor(text: string, param: string) {
    this.text = text;
    this.param = param;
  }

  get next(): string {
    return this.text[this.at] ?? '';
  }

  take(text: string): boolean {
    const isNext = this.text.startsWith(text, this.at);
    if (isNext) this.at += text.length;
    return isNext;
  }

  /** @param syntax Sticky. */
  match(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = this.at;
    const found = syntax.exec(this.text);
    if (found) this.at = syntax.lastIndex;
    return found;
  }

  /** How often what was read last may follow itself, if a count is next. */
  repeats(syntax: RegExp): { readonly min: number; readonly max: number } | undefined {
    const found = this.match(syntax);
    if (!found) return undefined;
    const [, sign, from, comma, to] = found;
    const min = sign === undefined ? Number(from) : Number(sign === '+');
    const most = comma === undefined ? min : Infinity;
    const counted = to === undefined || to === '' ? most : Number(to);
    const unbounded = sign === '?' ? 1 : Infinity;
    const max = sign === undefined ? counted : unbounded;
    this.count = nestedCount(this.count, min, max, this.param);
    return { min, max };
  }

  enter(): void {
    checkDepth((this.#depth += 1), this.param);
  }

  leave(count: number): void {
    this.#depth -= 1;
    this.count = count;
  }

  /** The characters of a set, whose bracket has been read. @param readOne The next of them. */
  set<Codes>(
    readOne: () => Codes,
    span: (from: Codes, to?: Codes) => readonly (readonly [number, number])[],
  ) {
    const isNegated = this.take('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.take(']')) {
      const from = readOne();
      const isSpan = this.next === '-' && this.text[this.at + 1] !== ']';
      ranges.push(...span(from, isSpan && this.take('-') ? readOne() : undefined));
      if (ranges.length > MAX_RANGES)
        throw ResponseFormatUnsupportedError.of(
          this.param,
          `has a set of more than ${MAX_RANGES} characters`,
          'use ranges',
        );
    }
    return { isNegated, ranges };
  }
}
