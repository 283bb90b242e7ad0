import type { GrammarMatcher } from '@mlc-ai/web-xgrammar';

import type { TokenConstraint } from '../../../batching/generation/request.ts';
import {
  allowToken,
  emptyMask,
  forbidToken,
  isAllowed,
  type TokenMask,
} from '../../../batching/sampling/token-mask.ts';
import { disposeWith } from './dispose-with.ts';
import type { ShapeCompiler } from './shape-compiler.ts';

const encoder = new TextEncoder();

/** Follows one text through a grammar. */
export class ShapeMatcher implements TokenConstraint {
  readonly #compiler: ShapeCompiler;
  readonly #matcher: GrammarMatcher;
  #mask: TokenMask = new Uint32Array();
  #forced: readonly number[] = [];

  /** @param prior Tokens that it has accepted already. */
  static async create(
    compiler: ShapeCompiler,
    matcher: GrammarMatcher,
    prior: readonly number[] = [],
  ): Promise<ShapeMatcher> {
    const shape = new ShapeMatcher(compiler, matcher);
    await shape.#look();
    for (const tokenId of prior) await shape.accept(tokenId);
    return shape;
  }

  private constructor(compiler: ShapeCompiler, matcher: GrammarMatcher) {
    this.#compiler = compiler;
    this.#matcher = matcher;
    disposeWith(this, () => matcher.dispose());
  }

  mask(): TokenMask {
    return this.#mask;
  }

  forced(): readonly number[] {
    return this.#forced;
  }

  async accept(tokenId: number): Promise<boolean> {
    if (!this.#matcher.acceptToken(tokenId)) throw new Error(`token ${tokenId} does not fit the shape`);
    this.#forced = tokenId === this.#forced[0] ? this.#forced.slice(1) : [];
    return this.#look();
  }

  /** Finds the tokens that may come next. Returns whether only the end may. */
  async #look(): Promise<boolean> {
    const { model, wholeTokens } = this.#compiler;
    const { config } = model;
    if (this.#forced.length === 0) this.#forced = this.#findForced();
    const [forced] = this.#forced;
    if (forced !== undefined) {
      this.#mask = emptyMask(config.vocabSize);
      allowToken(this.#mask, forced);
      return false;
    }
    const allowed = new Uint32Array((await this.#matcher.getNextTokenBitmask()).buffer);
    this.#mask = allowed.map((word, index) => word & (wholeTokens[index] ?? 0));
    const others = this.#mask.slice();
    for (const tokenId of config.eosTokenIds) forbidToken(others, tokenId);
    const isAtEnd = others.every((word) => word === 0);
    if (isAtEnd && config.eosTokenIds.length > 0 && this.#mask.every((word) => word === 0))
      throw new Error('no token of the vocabulary can follow in the shape');
    return isAtEnd;
  }

  /**
   * The tokens of the only text that can follow, as the tokenizer spells it; without the last, which might be spelled together with
   * what comes after it. A text always has the same ones, whether they are sampled one by one or computed together.
   */
  #findForced(): readonly number[] {
    const text = this.#matcher.findJumpForwardString();
    if (text.length < 2) return [];
    const { tokenizer } = this.#compiler.model;
    const tokenIds = tokenizer.encode(text, false);
    const bytes = tokenIds.flatMap((tokenId) => [...(tokenizer.vocabulary.bytesOf(tokenId) ?? [])]);
    // Some tokenizers put a space before each text.
    const isExact = String(bytes) === String([...encoder.encode(text)]);
    // In the middle of a character, no other token fits.
    const isCut = !isAllowed(this.#compiler.wholeTokens, tokenIds.at(-1) ?? 0);
    return isExact ? tokenIds.slice(0, isCut ? undefined : -1) : [];
  }
}
