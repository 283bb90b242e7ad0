import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { translatePattern } from './oniguruma.ts';

/** An atom of a regular expression with its quantifier, such as `\p{N}{1,3}`. */
interface Item {
  readonly atom: string;
  readonly min: number;
  /** Infinity for `*` and `+`. */
  readonly max: number;
  /** Steps over all ways to match it; for `*` and `+` those of the atom. */
  readonly cost: number;
  /** The fewest characters that the atom takes: 0 for an assertion. */
  readonly width: number;
}

interface Branch {
  readonly source: string;
  readonly items: readonly Item[];
}

/** Steps at one character of a text. Tokenizers of the hub need less than a hundred. */
const MAX_COST = 1000;
const MAX_DEPTH = 8;

/** Atoms that take no character. */
const ZERO_WIDTH: readonly string[] = ['^', '$', String.raw`\b`, String.raw`\B`];

// Syntax that means the same in all dialects: no class in a class, back reference or possessive quantifier.
const ESCAPE = String.raw`\\(?:[pP]\{[^{}]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[bBdDfnrsStvwW]|[^\p{L}\p{N}])`;
const CLASS = String.raw`\[\^?(?:${ESCAPE}|[^\\[\]&]|&(?!&))+\]`;
const ATOM = new RegExp(String.raw`${ESCAPE}|${CLASS}|[^\\[\](){}*+?|]`, 'uy');
const GROUP = /\((?:\?(?:[:=!]|<[=!]|i:))?/uy;
const QUANTIFIER = /(?:([?*+])|\{(\d+)(?:(,)(\d*))?\})\??/uy;

/** How tokenizers like GPT-2's split runs of whitespace. These branches backtrack, but the last one matches all that they read. */
const WHITESPACE: readonly string[] = [
  String.raw`\s+$`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s*[\r\n]`,
  String.raw`\s+(?!\S)`,
];

/**
 * The regular expression of a tokenizer, which finds all matches, for texts as `asInUnicode16` has them. Refuses one that may take
 * more than a bounded number of steps for each character of a text: `(a+)+$` would hold the worker of all tabs, and nothing can
 * stop a match. Refuses one that matches where nothing is, too: `tokenizers` goes on from there in a way of its own.
 *
 * @throws UnsupportedModelError
 */
export function compilePattern(source: string): RegExp {
  const branches = new PatternParser(source).parse();
  if (!branches || !isBounded(branches))
    throw refused(source, 'may take forever on a text, or is not understood');
  if (branches.some(({ items }) => widthOf(items) === 0)) throw refused(source, 'may match an empty text');
  const translated = translatePattern(source);
  if (translated === undefined) throw refused(source, 'has no counterpart in JavaScript');
  return new RegExp(translated, 'gu');
}

function refused(source: string, reason: string): UnsupportedModelError {
  return UnsupportedModelError.of(
    `tokenizer.json has the regular expression ${shorten(source)}, which ${reason}`,
  );
}

function shorten(source: string): string {
  return JSON.stringify(source).slice(0, 100);
}

function isBounded(branches: readonly Branch[]): boolean {
  if (costOf(branches) > MAX_COST) return false;
  const sources = branches.map(({ source }) => source.replaceAll('\r', '\\r').replaceAll('\n', '\\n'));
  const whitespaceAt = sources.findIndex((source) => WHITESPACE.includes(source));
  const numOthers = whitespaceAt < 0 ? branches.length : whitespaceAt;
  return (
    branches
      .slice(0, numOthers)
      .every((branch, i) => goesForward(branch) || hasTwin(branch, branches[i + 1])) &&
    takesWhitespace(sources.slice(numOthers))
  );
}

/** After its first `*` or `+` nothing can fail, so it never goes back to it. */
function goesForward({ items }: Branch): boolean {
  const firstAt = items.findIndex(({ max }) => max === Infinity);
  return firstAt < 0 || items.slice(firstAt + 1).every(({ min }) => min === 0);
}

/**
 * `A*B+` may backtrack over all that A matched. If the next branch is `A+B*`, it then matches as much without backtracking.
 * o200k splits words by case in this way.
 */
function hasTwin({ items }: Branch, next: Branch | undefined): boolean {
  const at = items.findIndex(({ max }) => max === Infinity);
  const isSwapped = ({ atom, min, max }: Item, i: number): boolean => {
    const other = next?.items[i];
    const expectedMin = i === at ? 1 : i === at + 1 ? 0 : min;
    return other?.atom === atom && other.min === expectedMin && other.max === max;
  };
  return next?.items.length === items.length && items.every(isSwapped) && goesForward(next);
}

function takesWhitespace(sources: readonly string[]): boolean {
  const others = sources.slice(0, -1);
  const last = sources.at(-1);
  const takesAll =
    last === String.raw`\s+` || (last === String.raw`\s` && others.includes(String.raw`\s+(?!\S)`));
  return sources.length === 0 || (takesAll && others.every((source) => WHITESPACE.includes(source)));
}

function costOf(branches: readonly Branch[]): number {
  return branches.reduce((sum, { items }) => sum + items.reduce((product, { cost }) => product * cost, 1), 0);
}

function widthOf(items: readonly Item[]): number {
  return items.reduce((sum, { min, width }) => sum + min * width, 0);
}

class PatternParser {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** Undefined for a pattern that is not understood. */
  parse(): readonly Branch[] | undefined {
    const branches = this.#branches(0);
    return this.#at === this.#pattern.length ? branches : undefined;
  }

  #branches(depth: number): readonly Branch[] | undefined {
    const branches: Branch[] = [];
    do {
      const begin = this.#at;
      const items: Item[] = [];
      while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern.charAt(this.#at))) {
        const item = this.#item(depth);
        if (!item) return undefined;
        items.push(item);
      }
      branches.push({ source: this.#pattern.slice(begin, this.#at), items });
    } while (this.#take(/\|/y));
    return branches;
  }

  #item(depth: number): Item | undefined {
    const begin = this.#at;
    const { cost, width } = this.#take(ATOM) ? { cost: 1, width: 1 } : this.#group(depth + 1);
    const atom = this.#pattern.slice(begin, this.#at);
    const [quantifier, sign, least = '1', comma, most] = this.#take(QUANTIFIER) ?? [];
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
    const max =
      quantifier === undefined
        ? 1
        : sign === '?'
          ? 1
          : sign || (comma && !most)
            ? Infinity
            : Number(most || least);
    const ways = (max - min + 1) * Math.max(1, max, cost ** max);
    const isSingle = atom.startsWith('(') ? max < Infinity : true;
    if (!isSingle || cost === Infinity) return undefined;
    const isAssertion = ZERO_WIDTH.includes(atom);
    return { atom, min, max, cost: max === Infinity ? 1 : ways, width: isAssertion ? 0 : width };
  }

  /** Its cost is infinite if it may repeat without end, or is not understood. */
  #group(depth: number): Pick<Item, 'cost' | 'width'> {
    const opening = depth > MAX_DEPTH ? undefined : this.#take(GROUP)?.[0];
    const branches = opening === undefined ? undefined : this.#branches(depth);
    if (!branches || !this.#take(/\)/y)) return { cost: Infinity, width: 0 };
    const repeats = branches.some(({ items }) => items.some(({ max }) => max === Infinity));
    const isAssertion = /[=!]$/.test(opening ?? '');
    return {
      cost: repeats ? Infinity : costOf(branches),
      width: isAssertion ? 0 : Math.min(...branches.map(({ items }) => widthOf(items))),
    };
  }

  #take(expected: RegExp): RegExpExecArray | undefined {
    expected.lastIndex = this.#at;
    const match = expected.exec(this.#pattern);
    if (!match) return undefined;
    this.#at = expected.lastIndex;
    return match;
  }
}
