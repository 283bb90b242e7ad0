import * as v from 'valibot';

import { asInUnicode16, NUMERIC, PUNCTUATION, RUST_WORD, SPACE } from './characters.ts';
import type { Normalizer } from './normalizers.ts';
import { matcherOf, splitBehavior, splitBy, type Matcher } from './splitting.ts';
import { spellBytes } from './token-decoder.ts';
import { parsePart, pattern, unsupportedPart } from './tokenizer-parts.ts';

/** Cuts a piece of a text into smaller ones. Some add a space where the piece begins the text. */
export type PreTokenize = (piece: string, isFirst: boolean) => readonly string[];

const oneCharacter = v.pipe(v.string(), v.regex(/^[\s\S]$/u));

const preTokenizer = v.variant('type', [
  v.object({ type: v.picklist(['BertPreTokenizer', 'Whitespace', 'WhitespaceSplit']) }),
  v.object({
    type: v.literal('ByteLevel'),
    add_prefix_space: v.boolean(),
    use_regex: v.optional(v.boolean(), true),
  }),
  v.object({ type: v.literal('CharDelimiterSplit'), delimiter: oneCharacter }),
  v.object({ type: v.literal('Digits'), individual_digits: v.boolean() }),
  v.object({
    type: v.literal('FixedLength'),
    length: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 16)), 5),
  }),
  v.object({
    type: v.literal('Metaspace'),
    replacement: oneCharacter,
    add_prefix_space: v.nullish(v.boolean()),
    prepend_scheme: v.optional(v.picklist(['first', 'never', 'always']), 'always'),
    split: v.nullish(v.boolean()),
  }),
  v.object({ type: v.literal('Punctuation'), behavior: v.optional(splitBehavior, 'Isolated') }),
  v.object({ type: v.literal('Split'), pattern, behavior: splitBehavior, invert: v.boolean() }),
  v.object({ type: v.literal('Sequence'), pretokenizers: v.array(v.unknown()) }),
]);
type PreTokenizer = v.InferOutput<typeof preTokenizer>;

/** GPT-2's split. */
const GPT2_WORDS = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

const ALL = (source: string): Matcher => ({ expression: new RegExp(source, 'gu') });
const isolated = splitBy(ALL(PUNCTUATION), { behavior: 'Isolated' });
const splitAtSpaces = splitBy(ALL(SPACE), { behavior: 'Removed' });
const OTHER_WORD = String.raw`(?!${RUST_WORD})\P{White_Space}`;
const wordsAndOthers = splitBy(
  { ...ALL(`${RUST_WORD}+|(?:${OTHER_WORD})+`), sees: asInUnicode16 },
  { behavior: 'Removed', invert: true },
);

/**
 * The pre-tokenizers of a `tokenizer.json` in their order.
 *
 * @throws UnsupportedModelError for others than those above, and for regular expressions that can't be used.
 */
export function readPreTokenizers(
  given: unknown,
  normalizers: readonly Normalizer[],
): readonly PreTokenize[] {
  const all = flatten(given);
  const firstAt = all.findIndex((one) => one.type === 'Metaspace' && schemeOf(one) === 'first');
  if (firstAt > 0 || (firstAt === 0 && !normalizers.every(keepsFirst)))
    throw unsupportedPart(
      'pre-tokenizer',
      all[firstAt],
      'which adds a space where a text begins, but something before it may move the beginning',
    );
  return all.map(stepOf);
}

function flatten(given: unknown): readonly PreTokenizer[] {
  if (given === null || given === undefined) return [];
  const parsed = parsePart('pre-tokenizer', preTokenizer, given);
  return parsed.type === 'Sequence' ? parsed.pretokenizers.flatMap(flatten) : [parsed];
}

/** Whether the first character of a normalized text comes from the first one of the text. */
function keepsFirst(given: Normalizer): boolean {
  if (given.type === 'Replace')
    return 'String' in given.pattern && /^[\s\S]$/u.test(given.pattern.String) && given.content !== '';
  return ['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'Prepend', 'ByteLevel'].includes(given.type);
}

function stepOf(given: PreTokenizer): PreTokenize {
  switch (given.type) {
    case 'BertPreTokenizer':
      return (piece) => splitAtSpaces(piece).flatMap(isolated);
    case 'WhitespaceSplit':
      return splitAtSpaces;
    case 'Whitespace':
      return wordsAndOthers;
    case 'ByteLevel': {
      const split = given.use_regex
        ? splitBy(matcherOf({ Regex: GPT2_WORDS }), { behavior: 'Isolated' })
        : (piece: string) => [piece];
      const start = given.add_prefix_space ? ' ' : '';
      return (piece) =>
        split(piece.startsWith(' ') ? piece : start + piece).map((word) => spellBytes(encoder.encode(word)));
    }
    case 'CharDelimiterSplit':
      return splitBy(matcherOf({ String: given.delimiter }), { behavior: 'Removed' });
    case 'Digits':
      return splitBy(ALL(NUMERIC), { behavior: given.individual_digits ? 'Isolated' : 'Contiguous' });
    case 'FixedLength':
      return splitBy(ALL(`[\\s\\S]{1,${given.length}}`), { behavior: 'Isolated' });
    case 'Metaspace':
      return metaspace(given);
    case 'Punctuation':
      return splitBy(ALL(PUNCTUATION), given);
    case 'Split':
      return splitBy(matcherOf(given.pattern), given);
    case 'Sequence':
      throw unsupportedPart('pre-tokenizer', given);
  }
}

const encoder = new TextEncoder();

type Metaspace = Extract<PreTokenizer, { type: 'Metaspace' }>;

function schemeOf({ add_prefix_space: isPrefixed, prepend_scheme: scheme }: Metaspace): string {
  return isPrefixed === false ? 'never' : scheme;
}

function metaspace(given: Metaspace): PreTokenize {
  const { replacement, add_prefix_space: isPrefixed, prepend_scheme: declared } = given;
  if (isPrefixed === false && declared !== 'never')
    throw unsupportedPart('pre-tokenizer', given, 'whose add_prefix_space contradicts its prepend_scheme');
  const scheme = schemeOf(given);
  const split =
    given.split === false
      ? (piece: string) => [piece]
      : splitBy(matcherOf({ String: replacement }), { behavior: 'MergedWithNext' });
  return (piece, isFirst) => {
    const replaced = piece.replaceAll(' ', () => replacement);
    const isPrepended = scheme === 'always' || (scheme === 'first' && isFirst);
    return split(isPrepended && !replaced.startsWith(replacement) ? replacement + replaced : replaced);
  };
}
