import type { PreTrainedTokenizer } from '@huggingface/transformers';

import { mergePairs } from './merge-pairs.ts';

/** In UTF-16 units. The library takes a few milliseconds for this many, whatever the text. */
export const PIECE_LENGTH = 2048;

/** A computation that yields its cost since the last yield, in UTF-16 units that it has read. */
type Cost<Result> = Generator<number, Result>;

/** Smaller costs aren't worth a yield. */
const MIN_COST = 256;

/** The library's tokenizer below @huggingface/transformers. */
type Library = PreTrainedTokenizer['_tokenizer'];

/** A part of a text between added tokens, normalized, as the library hands it to the pre-tokenizer. */
interface Section {
  /** 0: only its parts have a cost. */
  readonly length: 0;
  readonly text: string;
  readonly options: object;
}

interface PreTokenizer {
  pre_tokenize(text: string, options: object): string[];
}

interface ByteLevel extends PreTokenizer {
  readonly byte_encoder: object;
  readonly add_prefix_space: boolean;
  readonly use_regex: boolean;
  readonly pattern: RegExp;
}

interface Bpe {
  /** WordPiece, which cuts long words off, has none. */
  readonly bpe_ranks?: ReadonlyMap<string, number>;
  readonly end_of_word_suffix?: string | null;
  readonly continuing_subword_suffix?: string | null;
  encode(words: readonly string[]): string[];
}

/**
 * The tokens of a text, the same as the library's, which can't be interrupted. A yield ends each piece: other tasks run
 * between two. The library itself does all but the loops.
 */
export function* encodeInPieces(
  library: Library,
  text: string,
  addSpecialTokens: boolean,
): Generator<void, number[]> {
  const options = { add_special_tokens: addSpecialTokens };
  if (text.length <= PIECE_LENGTH) return library.encode(text, options).ids;
  const tokens = yield* paced(tokensOf(library, text));
  const encode_text = (given: string | null) => given && tokens;
  return changed(library, { encode_text }).encode(text, options).ids;
}

/** Yields whenever the work has yielded the length of a piece. */
function* paced<Result>(work: Cost<Result>): Generator<void, Result> {
  let cost = 0;
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
    cost += part.value;
    if (cost < PIECE_LENGTH) continue;
    cost = 0;
    yield;
  }
}

function* tokensOf(library: Library, text: string): Cost<string[]> {
  return yield* eachOf(sectionsOf(library, text), (section) =>
    // A string is an added token.
    typeof section === 'string' ? [section] : tokensIn(library, section),
  );
}

function sectionsOf(library: Library, text: string): readonly (string | Section)[] {
  const splitter = changed(library, {
    pre_tokenizer: (section: string, options: object): Section => ({ length: 0, text: section, options }),
    model: (section: Section) => [section],
    post_processor: null,
  });
  return splitter.tokenize(text);
}

function* tokensIn({ pre_tokenizer, model }: Library, { text, options }: Section): Cost<string[]> {
  let words = [text];
  for (const stage of stagesOf(pre_tokenizer)) words = yield* preTokenize(stage, words, options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- other tokenizers than BPE and WordPiece are refused
  const bpe = model as unknown as Bpe;
  // A word that is in pieces already: the library finds the tokens of its symbols.
  const spelled = changed(bpe, { ignore_merges: false, bpe: (symbols: readonly string[]) => symbols });
  const hasSuffix = Boolean(bpe.end_of_word_suffix ?? bpe.continuing_subword_suffix);
  return yield* eachOf(words, function* tokensOfWord(word) {
    if (word.length <= PIECE_LENGTH || hasSuffix || !bpe.bpe_ranks) return bpe.encode([word]);
    const symbols = yield* mergePairs(word, bpe.bpe_ranks);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its `bpe` above takes symbols
    return yield* eachOf(symbols, (symbol) => spelled.encode([[symbol] as unknown as string]));
  });
}

function stagesOf(preTokenizer: object | null): readonly PreTokenizer[] {
  if (!preTokenizer) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- those of a `Sequence`, or the only one
  return (Reflect.get(preTokenizer, 'tokenizers') ?? [preTokenizer]) as readonly PreTokenizer[];
}

function preTokenize(stage: PreTokenizer, words: readonly string[], options: object): Cost<string[]> {
  return eachOf(words, (word) =>
    isByteLevel(stage) && word.length > PIECE_LENGTH
      ? bytesOf(stage, word, options)
      : stage.pre_tokenize(word, options),
  );
}

function isByteLevel(stage: PreTokenizer): stage is ByteLevel {
  return 'byte_encoder' in stage;
}

/** As the library's `ByteLevel`: its pattern cuts quickly, but spelling bytes takes long. */
function bytesOf(stage: ByteLevel, word: string, options: object): Cost<string[]> {
  const { add_prefix_space, use_regex, pattern } = stage;
  const text = add_prefix_space && !word.startsWith(' ') ? ` ${word}` : word;
  const speller = changed(stage, { add_prefix_space: false, use_regex: false });
  return eachOf(use_regex ? (text.match(pattern) ?? []) : [text], function* spell(part) {
    const spelled = yield* eachOf(partsOf(part), (piece) => speller.pre_tokenize(piece, options));
    return [spelled.join('')];
  });
}

/** Parts of a text, none of which ends in the middle of a character. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = start + PIECE_LENGTH;
    const isInside = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    parts.push(text.slice(start, isInside ? end - 1 : end));
    start = isInside ? end - 1 : end;
  }
  return parts;
}

/** The results of all parts in one list. */
function* eachOf<Part extends { readonly length: number }>(
  parts: readonly Part[],
  read: (part: Part) => readonly string[] | Cost<readonly string[]>,
): Cost<string[]> {
  const results: string[] = [];
  let cost = 0;
  for (const part of parts) {
    const reading = read(part);
    const found = 'next' in reading ? yield* reading : reading;
    for (const result of found) results.push(result);
    cost += part.length;
    if (cost < MIN_COST) continue;
    yield cost;
    cost = 0;
  }
  yield cost;
  return results;
}

/** The same object with other parts. */
function changed<Whole extends object>(whole: Whole, parts: object): Whole {
  return Object.assign(Object.create(whole), parts);
}
