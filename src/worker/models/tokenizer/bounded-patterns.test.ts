import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compilePattern } from './bounded-patterns.ts';
import { errorWith } from '../../testing/error-with.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

const refusalOf = (regex: string): unknown => {
  try {
    compilePattern(regex);
    return undefined;
  } catch (error) {
    return error;
  }
};

const CONTRACTIONS = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`;
const UPPER = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const WHITESPACE = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;

describe('the regular expressions of a tokenizer', () => {
  it.each([
    ['GPT-2', String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`],
    [
      'Llama 3',
      String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${WHITESPACE}`,
    ],
    [
      'Qwen 2 and 3',
      String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${WHITESPACE}`,
    ],
    [
      'Qwen 3.5',
      String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${WHITESPACE}`,
    ],
    [
      'GPT-4',
      String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`,
    ],
    [
      'GPT-4o and Phi 4',
      String.raw`${UPPER}*${LOWER}+${CONTRACTIONS}?|${UPPER}+${LOWER}*${CONTRACTIONS}?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${WHITESPACE}`,
    ],
    [
      'Mistral (Tekken)',
      String.raw`${UPPER}*${LOWER}+|${UPPER}+${LOWER}*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${WHITESPACE}`,
    ],
    [
      'DeepSeek V3',
      '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
    ],
    ['DeepSeek Coder', String.raw`\s?\p{P}+`],
    ['Falcon', '[0-9][0-9][0-9]'],
    ['Gemma', String.raw`[^\n]+|[\n]+`],
    ['StarCoder and SmolLM', String.raw`\p{N}`],
    ['Poro', String.raw` ?[^(\s|.,!?…。，、।۔،)]+`],
    ['Chameleon', String.raw`([\t\n]|    |  )`],
    ['four spaces', String.raw`\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}`],
  ])('of %s are accepted', (_, regex) => {
    expect(refusalOf(regex)).toBeUndefined();
  });

  it.each([
    ['a repeated group', '(a+)+$'],
    ['a repeated group without captures', '(?:a|a)*b'],
    ['a group with many ways', '(?:a|a){1,40}b'],
    ['many optional characters', `${'a?'.repeat(40)}b`],
    ['two repetitions of the same', 'a*a*b'],
    ['a repetition that fails at its end', 'a+b'],
    ['a repetition before an assertion', String.raw`\d+(?!\d)`],
    ['a repetition in an assertion', String.raw`\d{1,3}(?=(?:\d{3})*\b)`],
    ['a long repetition', 'a{1,5000}b'],
    ['a back reference', String.raw`(a)\1+`],
    ['words by case without the branch that takes them whole', 'A*B+|A+C*'],
    ['whitespace that ends, without the branch that takes it', String.raw`\s+$|a`],
    ['whitespace that is taken one by one', String.raw`\s*[\r\n]+|\s`],
    ['whitespace with another branch in between', String.raw`\s*[\r\n]+| |\s+`],
    ['a class in a class', '[[]a+)+$]'],
    ['an intersection of classes', '[a&&[^b]]+'],
    ['a possessive repetition', 'a++'],
    ['a named group', '(?<name>a)'],
    ['a modifier of all', '(?x) a b'],
    ['groups without end', '('.repeat(100_000)],
    ['a parenthesis too many', 'a)'],
  ])('are refused: %s', (_, regex) => {
    expect(refusalOf(regex)).toEqual(errorWith('UNSUPPORTED_MODEL', JSON.stringify(regex).slice(0, 20)));
  });

  it('are named in an error of bounded length', () => {
    const refusal = refusalOf(`(a+)+${'b'.repeat(1e6)}`);
    expect(String(refusal).length).toBeLessThan(400);
  });

  it.each([
    ['GPT-2', String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`],
    ['GPT-4', String.raw`'(?i:[sdmt]|ll|ve|re)|\p{L}+|\s+$|\s*[\r\n]|\s+(?!\S)|\s`],
    [
      'GPT-4o',
      String.raw`${UPPER}*${LOWER}+${CONTRACTIONS}?|${UPPER}+${LOWER}*${CONTRACTIONS}?|${WHITESPACE}`,
    ],
  ])('of %s read a megabyte in linear time, whatever it repeats', (_, regex) => {
    const expression = compilePattern(regex);
    for (const unit of [' ', '\n ', 'a', 'A', "'", ' x', '\u0301', '\u{1F642}']) {
      const text = unit.repeat(1e6 / unit.length);
      const before = performance.now();
      expect(text.match(expression)?.length ?? 0).toBeLessThanOrEqual(text.length);
      // It takes some milliseconds, or hours if it is quadratic.
      expect(performance.now() - before).toBeLessThan(10_000);
    }
  });

  it('that are accepted take a bounded number of steps for each character', () => {
    fc.assert(
      fc.property(
        pattern,
        fc.constantFrom('a', 'b', ' ', '\n', 'ab', 'a ', ' \n', '\n  '),
        (branches, unit) => {
          fc.pre(refusalOf(sourceOf(branches)) === undefined);
          const stepsFor = (n: number): number => countSteps(branches, `${unit.repeat(n)}!`);
          // A quadratic match takes a hundred times as many steps for ten times the text.
          expect(stepsFor(300)).toBeLessThan(20 * stepsFor(30));
        },
      ),
      { numRuns: runsOf({ whole: 2000, part: 500 }) },
    );
  });

  it('that go back without a bound are seen by the count of steps', () => {
    const cubic = [[A, A, { ...END, ...ONCE }].map((atom) => ({ ...REPEATED, ...atom }))];
    const stepsFor = (n: number): number => countSteps(cubic, `${'a'.repeat(n)}!`);
    expect(refusalOf(sourceOf(cubic))).toBeDefined();
    expect(stepsFor(300)).toBeGreaterThan(500 * stepsFor(30));
  });
});

interface PatternItem {
  readonly source: string;
  /** Undefined at the end of the text. Nothing is taken by an assertion. */
  readonly accepts: (char: string | undefined) => boolean;
  readonly isAssertion?: true;
  readonly quantifier: string;
  readonly min: number;
  readonly max: number;
}
type PatternBranch = readonly PatternItem[];

const ONCE = { quantifier: '', min: 1, max: 1 };
const REPEATED = { quantifier: '*', min: 0, max: Infinity };
const AT_LEAST_ONCE = { quantifier: '+', min: 1, max: Infinity };
const QUANTIFIERS = [
  ONCE,
  REPEATED,
  AT_LEAST_ONCE,
  { quantifier: '?', min: 0, max: 1 },
  { quantifier: '{1,3}', min: 1, max: 3 },
];

const isSpace = (char = 'x'): boolean => ' \n'.includes(char);
const A = { source: 'a', accepts: (char?: string) => char === 'a' };
const A_OR_B = { source: '[ab]', accepts: (char?: string) => char === 'a' || char === 'b' };
const SPACE = { source: String.raw`\s`, accepts: isSpace };
const NEWLINE = { source: String.raw`[\r\n]`, accepts: (char?: string) => char === '\n' };
const NO_WORD = {
  source: String.raw`(?!\S)`,
  accepts: (char?: string) => char === undefined || isSpace(char),
  isAssertion: true as const,
};
const END = { source: '$', accepts: (char?: string) => char === undefined, isAssertion: true as const };

const item: fc.Arbitrary<PatternItem> = fc.oneof(
  fc
    .tuple(fc.constantFrom(A, A_OR_B, SPACE, NEWLINE), fc.constantFrom(...QUANTIFIERS))
    .map(([atom, quantifier]) => ({ ...atom, ...quantifier })),
  fc.constantFrom(NO_WORD, END).map((assertion) => ({ ...assertion, ...ONCE })),
);
const branch: fc.Arbitrary<PatternBranch> = fc.oneof(
  fc.array(item, { minLength: 1, maxLength: 4 }),
  // Patterns that the check knows by name.
  fc.constantFrom<PatternBranch>(
    [{ ...SPACE, ...AT_LEAST_ONCE }],
    [{ ...SPACE, ...ONCE }],
    [
      { ...SPACE, ...AT_LEAST_ONCE },
      { ...NO_WORD, ...ONCE },
    ],
    [
      { ...SPACE, ...AT_LEAST_ONCE },
      { ...END, ...ONCE },
    ],
    [
      { ...SPACE, ...REPEATED },
      { ...NEWLINE, ...AT_LEAST_ONCE },
    ],
    [
      { ...SPACE, ...REPEATED },
      { ...NEWLINE, ...ONCE },
    ],
    [
      { ...A_OR_B, ...REPEATED },
      { ...A, ...AT_LEAST_ONCE },
    ],
    [
      { ...A_OR_B, ...AT_LEAST_ONCE },
      { ...A, ...REPEATED },
    ],
  ),
);
const pattern = fc.array(branch, { minLength: 1, maxLength: 6 });

function sourceOf(branches: readonly PatternBranch[]): string {
  return branches
    .map((items) => items.map(({ source, quantifier }) => source + quantifier).join(''))
    .join('|');
}

/** Steps of a matcher that backtracks as JavaScript's does, over all matches in a text. */
function countSteps(branches: readonly PatternBranch[], text: string): number {
  let numSteps = 0;
  /** The end of a match of the items from the `i`th on, of which `taken` times have been taken. */
  const match = (items: PatternBranch, i: number, taken: number, at: number): number | undefined => {
    numSteps += 1;
    const next = items[i];
    if (!next) return at;
    const { accepts, isAssertion, min, max } = next;
    const isMore = taken < max && accepts(text[at]);
    const end = isMore ? match(items, i, taken + 1, isAssertion ? at : at + 1) : undefined;
    return end ?? (taken >= min ? match(items, i + 1, 0, at) : undefined);
  };
  for (let at = 0; at < text.length;) {
    let end: number | undefined;
    for (const items of branches) end ??= match(items, 0, 0, at);
    at = Math.max(at + 1, end ?? 0);
  }
  return numSteps;
}
