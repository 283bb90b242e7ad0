import type { CompiledGrammar, GrammarCompiler } from '@mlc-ai/web-xgrammar';

import type { ResponseFormat } from '../../../batching/generation/response-format.ts';
import { allowToken, emptyMask, type TokenMask } from '../../../batching/sampling/token-mask.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { spellBytes } from '../../models/tokenizer/token-decoder.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import { loadGrammarLibrary, type GrammarLibrary } from './grammar-library.ts';
import { ShapeGrammars } from './shape-grammar.ts';

/** The tokenizer and the sizes that shapes depend on. */
export type ShapedModel = Pick<LoadedModel, 'config' | 'tokenizer'>;

/** Compiled shapes that are kept for the next request. */
const MAX_COMPILED = 32;

/** Tokens that are spelled without letting the worker do other things. */
const TOKENS_PER_PIECE = 4096;

/** Compiles shapes for one vocabulary, each once. */
export class ShapeCompiler {
  readonly model: ShapedModel;
  readonly library: GrammarLibrary;
  /** The tokens of whole characters. The library's masks have parts of characters that it refuses afterwards. */
  readonly wholeTokens: TokenMask;
  readonly #compiler: GrammarCompiler;
  readonly #grammars: ShapeGrammars;
  /** By their JSON. Least recently used first. */
  readonly #compiled = new Map<string, Promise<CompiledGrammar>>();

  static async create(model: ShapedModel): Promise<ShapeCompiler> {
    const library = await loadGrammarLibrary();
    const { GrammarCompiler: Compiler, TokenizerInfo } = library.library;
    const { vocabSize, eosTokenIds } = model.config;
    const { spellings, wholeTokens } = await inPieces(spellVocabulary(model));
    const info = await TokenizerInfo.createTokenizerInfo(spellings, 'byte_level', false, vocabSize, [
      ...eosTokenIds,
    ]);
    const compiler = await Compiler.createGrammarCompiler(info, false);
    return new ShapeCompiler(model, library, compiler, wholeTokens);
  }

  private constructor(
    model: ShapedModel,
    library: GrammarLibrary,
    compiler: GrammarCompiler,
    wholeTokens: TokenMask,
  ) {
    this.wholeTokens = wholeTokens;
    this.model = model;
    this.library = library;
    this.#compiler = compiler;
    this.#grammars = new ShapeGrammars(library, model.config.vocabSize);
  }

  /** @throws ResponseFormatUnsupportedError. */
  async compile(format: ResponseFormat): Promise<CompiledGrammar> {
    const key = JSON.stringify(format);
    const compiled = this.#compiled.get(key) ?? this.#compile(format);
    this.#compiled.delete(key);
    this.#compiled.set(key, compiled);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > MAX_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    try {
      return await compiled;
    } catch (error) {
      this.#compiled.delete(key);
      throw error;
    }
  }

  async #compile(format: ResponseFormat): Promise<CompiledGrammar> {
    const grammar = await this.#grammars.create(format);
    try {
      return await this.#compiler.compileGrammar(grammar);
    } finally {
      grammar.dispose();
    }
  }
}

interface Vocabulary {
  readonly spellings: string[];
  readonly wholeTokens: TokenMask;
}

/** Tokens as byte-level BPE spells them; '' for one that no text has, which is in no mask. */
function* spellVocabulary({ config, tokenizer }: ShapedModel): Generator<void, Vocabulary> {
  const spellings: string[] = [];
  const wholeTokens = emptyMask(config.vocabSize);
  for (const tokenId of config.eosTokenIds) allowToken(wholeTokens, tokenId);
  const endTokenIds = new Set(config.eosTokenIds);
  for (let id = 0; id < config.vocabSize; id += 1) {
    const bytes = endTokenIds.has(id) ? undefined : tokenizer.vocabulary.bytesOf(id);
    spellings.push(bytes ? spellBytes(bytes) : '');
    if (bytes && isWhole(bytes)) allowToken(wholeTokens, id);
    if (id % TOKENS_PER_PIECE === TOKENS_PER_PIECE - 1) yield;
  }
  return { spellings, wholeTokens };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function isWhole(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
