import type { CompiledGrammar, GrammarCompiler, GrammarMatcher } from '@mlc-ai/web-xgrammar';

import type { ResponseFormat } from '../../../batching/generation/response-format.ts';
import { allowToken, emptyMask, type TokenMask } from '../../../batching/sampling/token-mask.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { spellBytes } from '../../models/tokenizer/token-decoder.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import { disposeWith } from './dispose-with.ts';
import { loadGrammarLibrary, type GrammarLibrary } from './grammar-library.ts';
import { ShapeGrammars } from './shape-grammar.ts';
import { markOf, NUM_MARKS, TokenCharacters, type StringLength } from './string-lengths.ts';

/** The tokenizer and the sizes that shapes depend on. */
export type ShapedModel = Pick<LoadedModel, 'config' | 'tokenizer'>;

/** Compiled shapes that are kept for the next request. */
const MAX_COMPILED = 32;

/** Tokens that are spelled without letting the worker do other things. */
const TOKENS_PER_PIECE = 4096;

/** A matcher that has accepted nothing yet. */
export interface EmptyMatcher {
  readonly matcher: GrammarMatcher;
  readonly lengths: readonly StringLength[];
}

interface Compiled {
  readonly grammar: CompiledGrammar;
  /** Of its strings, by their marks. */
  readonly lengths: readonly StringLength[];
}

interface CompiledShape {
  readonly compiled: Promise<Compiled>;
  /** Requests whose matchers are being made of it. */
  numUsers: number;
}

/**
 * Compiles shapes for one vocabulary, each once. Running texts wait for one call of the library at most, since each is a task of its
 * own.
 */
export class ShapeCompiler {
  readonly model: ShapedModel;
  readonly library: GrammarLibrary;
  readonly characters: TokenCharacters;
  /** The tokens of whole characters, but U+2028 and U+2029, which end a line in JavaScript. */
  readonly wholeTokens: TokenMask;
  readonly endTokens: TokenMask;
  readonly #compiler: GrammarCompiler;
  readonly #grammars: ShapeGrammars;
  /** By their JSON. Least recently used first. */
  readonly #compiled = new Map<string, CompiledShape>();

  static async create(model: ShapedModel): Promise<ShapeCompiler> {
    const library = await loadGrammarLibrary();
    const { GrammarCompiler: Compiler, TokenizerInfo } = library.library;
    const { vocabSize, eosTokenIds } = model.config;
    const { spellings, ...vocabulary } = await inPieces(spellVocabulary(model));
    const size = vocabSize + NUM_MARKS;
    const info = await inOwnTask(() =>
      TokenizerInfo.createTokenizerInfo(spellings, 'byte_level', false, size, [...eosTokenIds]),
    );
    const compiler = await Compiler.createGrammarCompiler(info, false);
    info.dispose();
    return new ShapeCompiler(model, library, compiler, vocabulary);
  }

  private constructor(
    model: ShapedModel,
    library: GrammarLibrary,
    compiler: GrammarCompiler,
    { characters, wholeTokens }: Omit<Vocabulary, 'spellings'>,
  ) {
    this.characters = characters;
    this.wholeTokens = wholeTokens;
    this.endTokens = emptyMask(model.config.vocabSize);
    for (const tokenId of model.config.eosTokenIds) allowToken(this.endTokens, tokenId);
    this.model = model;
    this.library = library;
    this.#compiler = compiler;
    this.#grammars = new ShapeGrammars(library, model.config.vocabSize);
    const compiled = this.#compiled;
    disposeWith(this, () => {
      compiler.dispose();
      for (const shape of compiled.values()) disposeOf(shape);
    });
  }

  /** @throws ResponseFormatUnsupportedError. */
  async createMatchers(format: ResponseFormat, count: number): Promise<readonly EmptyMatcher[]> {
    const key = JSON.stringify({ ...format, prefix: undefined });
    const shape = this.#compiled.get(key) ?? { compiled: this.#compile(format), numUsers: 0 };
    this.#compiled.delete(key);
    this.#compiled.set(key, shape);
    shape.numUsers += 1;
    try {
      const { grammar, lengths } = await shape.compiled;
      const { GrammarMatcher: Matcher } = this.library.library;
      return await Promise.all(
        Array.from({ length: count }, async () => ({
          matcher: await Matcher.createGrammarMatcher(grammar),
          lengths,
        })),
      );
    } catch (error) {
      this.#compiled.delete(key);
      throw error;
    } finally {
      shape.numUsers -= 1;
      this.#evict();
    }
  }

  /** A matcher has the library's grammar as long as it needs it. */
  #evict(): void {
    for (const [key, shape] of this.#compiled) {
      if (this.#compiled.size <= MAX_COMPILED) return;
      if (shape.numUsers > 0) continue;
      this.#compiled.delete(key);
      disposeOf(shape);
    }
  }

  async #compile(format: ResponseFormat): Promise<Compiled> {
    const { grammar, lengths } = await inOwnTask(() => this.#grammars.create(format));
    try {
      return { grammar: await inOwnTask(() => this.#compiler.compileGrammar(grammar)), lengths };
    } finally {
      grammar.dispose();
    }
  }
}

function disposeOf({ compiled }: CompiledShape): void {
  compiled.then(
    ({ grammar }) => grammar.dispose(),
    () => {},
  );
}

/** The library's calls block the worker, although they return promises. */
async function inOwnTask<Result>(call: () => Promise<Result>): Promise<Result> {
  return await inPieces(onePiece(call));
}

// oxlint-disable-next-line require-yield -- it is one piece
function* onePiece<Result>(call: () => Result): Generator<void, Result> {
  return call();
}

interface Vocabulary {
  readonly spellings: string[];
  readonly characters: TokenCharacters;
  readonly wholeTokens: TokenMask;
}

/** Tokens as byte-level BPE spells them, those of marks included; '' for one that no text has, which is in no mask. */
function* spellVocabulary({ config, tokenizer }: ShapedModel): Generator<void, Vocabulary> {
  const spellings: string[] = [];
  const characters = new TokenCharacters();
  const wholeTokens = emptyMask(config.vocabSize);
  for (const tokenId of config.eosTokenIds) allowToken(wholeTokens, tokenId);
  const endTokenIds = new Set(config.eosTokenIds);
  for (let id = 0; id < config.vocabSize; id += 1) {
    const bytes = endTokenIds.has(id) ? undefined : tokenizer.vocabulary.bytesOf(id);
    spellings.push(bytes ? spellBytes(bytes) : '');
    if (bytes) characters.add(id, bytes);
    if (bytes && isWhole(bytes)) allowToken(wholeTokens, id);
    if (id % TOKENS_PER_PIECE === TOKENS_PER_PIECE - 1) yield;
  }
  for (let index = 0; index < NUM_MARKS; index += 1) spellings.push(spellBytes(markOf(index)));
  return { spellings, characters, wholeTokens };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function isWhole(bytes: Uint8Array): boolean {
  if (bytes.every((byte) => byte < 0x80)) return true;
  try {
    return !/[\u2028\u2029]/.test(decoder.decode(bytes));
  } catch {
    return false;
  }
}
