import type { GrammarMatcher } from '@mlc-ai/web-xgrammar';

import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { prefixOf, type ResponseFormat } from '../../../batching/generation/response-format.ts';
import type { TokenConstraint } from '../../../batching/generation/request.ts';
import { allowToken, emptyMask, isAllowed, type TokenMask } from '../../../batching/sampling/token-mask.ts';
import { disposeWith } from './dispose-with.ts';
import { at } from '../../../batching/sampling/top-k.ts';
import type { EmptyMatcher, ShapeCompiler } from './shape-compiler.ts';
import { StringCounter } from './string-lengths.ts';

const encoder = new TextEncoder();

/** Follows one text through a grammar. */
export class ShapeMatcher implements TokenConstraint {
  readonly #compiler: ShapeCompiler;
  readonly #matcher: GrammarMatcher;
  /** Undefined for a shape whose strings may have any length. */
  readonly #counter: StringCounter | undefined;
  /** Choices have no sets of characters, in which the library's masks have parts of characters that it refuses afterwards. */
  readonly #isChoice: boolean;
  #mask: TokenMask = new Uint32Array();
  #forced: readonly number[] = [];

  /**
   * @param format What the matcher is of.
   * @param prior Tokens that it has accepted already.
   * @throws ResponseFormatUnsupportedError if the shape has no text with this beginning.
   */
  static async create(
    compiler: ShapeCompiler,
    matcher: EmptyMatcher,
    format: ResponseFormat,
    prior: readonly number[] = [],
  ): Promise<ShapeMatcher> {
    const shape = new ShapeMatcher(compiler, matcher, format.type === 'choice');
    await shape.#look();
    const prefix = format.type.startsWith('json') ? withOurSpaces(prefixOf(format)) : prefixOf(format);
    if (prefix !== '') await shape.#begin(prefix);
    for (const tokenId of prior) await shape.accept(tokenId);
    return shape;
  }

  private constructor(compiler: ShapeCompiler, { matcher, lengths }: EmptyMatcher, isChoice: boolean) {
    const { characters, model } = compiler;
    if (lengths.length > 0) this.#counter = new StringCounter(lengths, characters, model.config.vocabSize);
    this.#isChoice = isChoice;
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
    const bytes = this.#counter && this.#compiler.model.tokenizer.vocabulary.bytesOf(tokenId);
    const isForced = tokenId === this.#forced[0];
    const fits = isForced || !bytes || (this.#counter?.fits(bytes) ?? true);
    if (!fits || !this.#matcher.acceptToken(tokenId))
      throw new Error(`token ${tokenId} does not fit the shape`);
    if (bytes) this.#counter?.add(bytes);
    this.#forced = isForced ? this.#forced.slice(1) : [];
    return this.#look();
  }

  /** Strings are counted character by character. @throws ResponseFormatUnsupportedError if the shape has no text with this beginning. */
  async #begin(prefix: string): Promise<void> {
    for (const part of this.#counter ? prefix : [prefix]) {
      const bytes = encoder.encode(part);
      // oxlint-disable-next-line no-underscore-dangle -- so the library names what takes a text, beside tokens
      if (this.#counter?.fits(bytes) === false || !this.#matcher._acceptString(part))
        throw ResponseFormatUnsupportedError.of(
          'responseFormat.prefix',
          'begins no text of this shape',
          'begin as the shape does, or leave the prefix out',
        );
      this.#counter?.add(bytes);
      this.#forced = [];
      await this.#look();
    }
  }

  /** Finds the tokens that may come next. Returns whether only the end may. */
  async #look(): Promise<boolean> {
    const { model, wholeTokens, endTokens } = this.#compiler;
    if (this.#forced.length === 0) this.#forced = this.#findForced();
    const [forced] = this.#forced;
    if (forced !== undefined) {
      this.#mask = emptyMask(model.config.vocabSize);
      allowToken(this.#mask, forced);
      return false;
    }
    const allowed = new Uint32Array((await this.#matcher.getNextTokenBitmask()).buffer);
    this.#counter?.restrict(allowed);
    const mask = allowed.subarray(0, wholeTokens.length);
    let [ends, others] = [0, 0];
    for (let index = 0; index < mask.length; index += 1) {
      const word = this.#isChoice ? at(mask, index) : at(mask, index) & at(wholeTokens, index);
      mask[index] = word;
      ends |= word & at(endTokens, index);
      others |= word & ~at(endTokens, index);
    }
    this.#mask = mask;
    if (ends === 0 && others === 0 && model.config.eosTokenIds.length > 0)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat',
        "can't be written with the tokens of this model's vocabulary",
        'use other characters',
      );
    return others === 0;
  }

  /**
   * The tokens of the only text that can follow, as the tokenizer spells it; without the last, which might be spelled together with
   * what comes after it. A text always has the same ones, whether they are sampled one by one or computed together.
   */
  #findForced(): readonly number[] {
    const jump = this.#matcher.findJumpForwardString();
    // Where choices part inside a character, the library's text has a wrong one in its place.
    const text = this.#isChoice ? jump.replace(/[^\0-\x7f]$/u, '') : jump;
    if (/^[\0-\x7f]?$/.test(text)) return [];
    const { tokenizer } = this.#compiler.model;
    const tokenIds = tokenizer.encode(text, false);
    const bytes = tokenIds.flatMap((tokenId) => [...(tokenizer.vocabulary.bytesOf(tokenId) ?? [])]);
    // Some tokenizers put a space before each text.
    const isExact = String(bytes) === String([...encoder.encode(text)]);
    if (!isExact || !this.#fits(tokenIds)) return [];
    // In the middle of a character, no other token fits.
    const isCut = !isAllowed(this.#compiler.wholeTokens, tokenIds.at(-1) ?? 0);
    return tokenIds.slice(0, isCut ? undefined : -1);
  }

  #fits(tokenIds: readonly number[]): boolean {
    const misfit = tokenIds.findIndex((tokenId) => !this.#matcher.acceptToken(tokenId));
    const numAccepted = misfit < 0 ? tokenIds.length : misfit;
    if (numAccepted > 0) this.#matcher.rollBack(numAccepted);
    return misfit < 0;
  }
}

/** Strings, separators and other white space of JSON that may be cut off. */
const JSON_PARTS = /"(?:[^"\\]|\\[^])*"?|[,:]\s*|\s+/g;

/** The beginning of a JSON text with white space where the grammar has it. */
function withOurSpaces(json: string): string {
  return json.replaceAll(JSON_PARTS, (part, offset) => {
    if (part.startsWith('"')) return part;
    const [separator = ''] = part.trim();
    const isCut = offset + part.length === json.length && part === separator;
    return separator === '' || isCut ? separator : `${separator} `;
  });
}
