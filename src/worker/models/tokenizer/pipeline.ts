import { AddedTokenSplitter, type Section } from './added-tokens.ts';
import { readBytePairs } from './byte-pairs.ts';
import { normalizeBy, readNormalizers, type Normalize } from './normalizers.ts';
import { readPreTokenizers, type PreTokenize } from './pre-tokenizers.ts';
import { framed, readFrames, type Frames } from './special-tokens.ts';
import type { SubwordModel, TokenIds } from './subword-model.ts';
import type { TokenTable } from './token-table.ts';
import { fieldsOf, corruptTokenizer } from './tokenizer-parts.ts';
import * as v from 'valibot';

/** In UTF-16 units: a few milliseconds, whatever the text. */
export const PIECE_LENGTH = 2048;

/** A computation that yields its cost since the last yield, in UTF-16 units that it has read. */
type Cost<Result> = Generator<number, Result>;

/**
 * Makes token ids of texts, as huggingface/tokenizers does.
 *
 * Added tokens are cut out. The rest is normalized, cut into words, and each word into tokens of the vocabulary. Special tokens are
 * put around them.
 */
export class TokenizerPipeline {
  readonly frames: Frames;
  readonly #normalize: Normalize;
  readonly #preTokenizers: readonly PreTokenize[];
  readonly #model: SubwordModel;
  readonly #raw: AddedTokenSplitter;
  readonly #normalized: AddedTokenSplitter;

  /** @throws ModelFileCorruptError; UnsupportedModelError that names the component which can't be computed. */
  constructor(tokenizerJson: unknown, { vocab, addedTokens }: TokenTable) {
    const { model, type, normalizer, pre_tokenizer, post_processor } = fieldsOf(tokenizerJson);
    const normalizers = readNormalizers(normalizer);
    this.#preTokenizers = readPreTokenizers(pre_tokenizer, normalizers);
    this.#normalize = normalizeBy(normalizers);
    this.frames = readFrames(post_processor);
    this.#model = type === 'BPE' ? readBytePairs(model, vocab) : readWordPieces(model, vocab);
    this.#raw = new AddedTokenSplitter(addedTokens.filter((token) => !token.isNormalized));
    this.#normalized = new AddedTokenSplitter(addedTokens.filter((token) => token.isNormalized));
  }

  /** Yields whenever it has read the length of a piece. */
  encode(text: string, addSpecialTokens: boolean): Generator<void, number[]> {
    return paced(this.#encode(text, addSpecialTokens));
  }

  *#encode(text: string, addSpecialTokens: boolean): Cost<number[]> {
    const ids: number[] = [];
    for (const section of this.#sections(text)) {
      if (section.id === undefined) yield* this.#tokenize(section, ids);
      else ids.push(section.id);
      yield 1;
    }
    return framed(this.frames.single, ids, addSpecialTokens);
  }

  /** Halves of characters become U+FFFD, as in UTF-8. */
  *#sections(text: string): Generator<Section> {
    for (const section of this.#raw.split(text.toWellFormed())) {
      if (section.id !== undefined) yield section;
      else
        for (const inner of this.#normalized.split(this.#normalize(section.text)))
          yield { ...inner, start: section.start + inner.start };
    }
  }

  *#tokenize({ text, start }: Section, ids: number[]): Cost<void> {
    let words: readonly string[] = [text];
    for (const preTokenize of this.#preTokenizers) {
      const cut: string[] = [];
      for (const word of words) {
        // Not spread: a text may have more words than a call has room for arguments.
        for (const piece of preTokenize(word, start === 0)) if (piece !== '') cut.push(piece);
        yield word.length;
      }
      words = cut;
    }
    for (const word of words) {
      for (const id of yield* this.#model.tokenize(word)) ids.push(id);
      yield word.length;
    }
  }
}

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

const given = v.object({
  unk_token: v.string(),
  continuing_subword_prefix: v.string(),
  max_input_chars_per_word: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/** WordPiece: the longest token that a word begins with, again and again. @throws ModelFileCorruptError */
function readWordPieces(model: unknown, vocab: TokenIds): SubwordModel {
  const parsed = v.safeParse(given, model);
  if (!parsed.success) throw corruptTokenizer('its WordPiece model lacks an option');
  const {
    unk_token: unknown,
    continuing_subword_prefix: prefix,
    max_input_chars_per_word: maxLength,
  } = parsed.output;
  const unknownId = vocab.get(unknown);
  if (unknownId === undefined) throw corruptTokenizer(`its vocabulary lacks the unknown token ${unknown}`);
  // No token is longer, so no longer one is looked for.
  let longest = 0;
  for (const token of vocab.keys()) longest = Math.max(longest, token.length);

  const piecesOf = (word: string): readonly number[] => {
    const ids: number[] = [];
    for (let start = 0; start < word.length;) {
      const found = longestAt(word, start);
      if (!found) return [unknownId];
      ids.push(found.id);
      start = found.end;
    }
    return ids;
  };
  const longestAt = (
    word: string,
    start: number,
  ): { readonly id: number; readonly end: number } | undefined => {
    for (let end = Math.min(word.length, start + longest); end > start; end--) {
      const id = vocab.get((start > 0 ? prefix : '') + word.slice(start, end));
      if (id !== undefined) return { id, end };
    }
    return undefined;
  };
  return {
    *tokenize(word) {
      yield word.length;
      return isLongerThan(word, maxLength) ? [unknownId] : piecesOf(word);
    },
  };
}

/** In characters. */
function isLongerThan(word: string, maxLength: number): boolean {
  return word.length > maxLength && Array.from(word).length > maxLength;
}
