import * as v from 'valibot';

import { COMBINING_MARK, NONSPACING_MARK, normalizeUnicode, OTHER, SPACE } from './characters.ts';
import { matcherOf, partsOf } from './splitting.ts';
import { spellBytes } from './token-decoder.ts';
import { parsePart, pattern, type Pattern } from './tokenizer-parts.ts';

export type Normalize = (text: string) => string;

const unicodeForms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;

const normalizer = v.variant('type', [
  v.object({
    type: v.literal('BertNormalizer'),
    clean_text: v.boolean(),
    handle_chinese_chars: v.boolean(),
    strip_accents: v.nullish(v.boolean()),
    lowercase: v.boolean(),
  }),
  v.object({ type: v.picklist(unicodeForms) }),
  v.object({ type: v.literal('Strip'), strip_left: v.boolean(), strip_right: v.boolean() }),
  v.object({ type: v.picklist(['StripAccents', 'Lowercase', 'Nmt', 'ByteLevel']) }),
  v.object({ type: v.literal('Replace'), pattern, content: v.string() }),
  v.object({ type: v.literal('Prepend'), prepend: v.string() }),
  v.object({ type: v.literal('Sequence'), normalizers: v.array(v.unknown()) }),
]);
export type Normalizer = v.InferOutput<typeof normalizer>;

const SPACES = new RegExp(SPACE, 'gu');
const SPACES_LEFT = new RegExp(`^${SPACE}+`, 'u');
const OTHERS = new RegExp(OTHER, 'gu');
const MARKS = new RegExp(COMBINING_MARK, 'gu');
const NONSPACING_MARKS = new RegExp(NONSPACING_MARK, 'gu');
const IDEOGRAPHS =
  /[\u4E00-\u9FFF\u3400-\u4DBF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\uF900-\uFAFF\u{2F800}-\u{2FA1F}]/gu;
// oxlint-disable-next-line no-control-regex -- these are removed
const NMT_REMOVED = /[\u0001-\u0008\u000B\u000E-\u001F\u007F\u008F\u009F]/g;
const NMT_SPACES = /[\t\n\f\r\u1680\u200B-\u200F\u2028\u2029\u2581\uFEFF\uFFFD]/g;

/** The normalizers of a `tokenizer.json` in their order. @throws UnsupportedModelError for others than those above. */
export function readNormalizers(given: unknown): readonly Normalizer[] {
  if (given === null || given === undefined) return [];
  const parsed = parsePart('normalizer', normalizer, given);
  return parsed.type === 'Sequence' ? parsed.normalizers.flatMap(readNormalizers) : [parsed];
}

/** @throws UnsupportedModelError for regular expressions that can't be used. */
export function normalizeBy(normalizers: readonly Normalizer[]): Normalize {
  const steps = normalizers.map(stepOf);
  return (text) => steps.reduce((normalized, step) => step(normalized), text);
}

function stepOf(given: Normalizer): Normalize {
  switch (given.type) {
    case 'BertNormalizer': {
      const { clean_text: isCleaned, handle_chinese_chars: isApart, lowercase } = given;
      const losesAccents = given.strip_accents ?? lowercase;
      return (text) => {
        let result = text;
        if (isCleaned) result = result.replace(OTHERS, '').replace(SPACES, ' ');
        if (isApart) result = result.replace(IDEOGRAPHS, ' $& ');
        if (losesAccents) result = normalizeUnicode(result, 'NFD').replace(NONSPACING_MARKS, '');
        return lowercase ? toLowercase(result) : result;
      };
    }
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD':
      return (text) => normalizeUnicode(text, given.type);
    case 'Strip':
      return (text) => {
        const rest = given.strip_left ? text.replace(SPACES_LEFT, '') : text;
        return given.strip_right ? withoutLastSpaces(rest) : rest;
      };
    case 'StripAccents':
      return (text) => text.replace(MARKS, '');
    case 'Lowercase':
      return toLowercase;
    case 'Nmt':
      return (text) => text.replace(NMT_REMOVED, '').replace(NMT_SPACES, ' ');
    case 'ByteLevel':
      return (text) => spellBytes(encoder.encode(text));
    case 'Replace':
      return replacer(given.pattern, given.content);
    case 'Prepend':
      return (text) => (text === '' ? '' : given.prepend + text);
    case 'Sequence':
      return normalizeBy(readNormalizers(given));
  }
}

const encoder = new TextEncoder();

/** Character by character: JavaScript writes a sigma at the end of a word in another way. */
function toLowercase(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase();
}

/** An expression that ends at the end would look at each run of spaces again for each of its spaces. */
function withoutLastSpaces(text: string): string {
  let end = text.length;
  // All white space is below U+10000.
  while (end > 0 && SPACES_LEFT.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function replacer(given: Pattern, content: string): Normalize {
  const matcher = matcherOf(given);
  return (text) =>
    partsOf(text, matcher, false)
      .map(({ start, end, isMatch }) => (isMatch ? content : text.slice(start, end)))
      .join('');
}
