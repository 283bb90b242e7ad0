import { AddedTokenSplitter, type Section } from './added-tokens.ts';
import { readBytePairs } from './byte-pairs.ts';
import { normalizeBy, readNormalizers, type Normalize } from './normalizers.ts';
import { readPreTokenizers, type PreTokenize } from './pre-tokenizers.ts';
import { framed, readFrames, type Frames } from './special-tokens.ts';
import type { SubwordModel } from './subword-model.ts';
import type { TokenTable } from './token-table.ts';
import { fieldsOf } from './tokenizer-parts.ts';
import { readWordPieces } from './word-pieces.ts';

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
