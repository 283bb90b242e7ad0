import type { TokenConstraint } from '../../batching/generation/request.ts';
import { forbidToken, isAllowed, type TokenMask } from '../../batching/sampling/token-mask.ts';
import type { Tokenizer } from '../models/tokenizer/tokenizer.ts';

/** Follows one text of a choice, which is drawn before the first token is. */
export class ChosenText implements TokenConstraint {
  readonly #shape: TokenConstraint;
  readonly #vocabulary: Tokenizer['vocabulary'];
  readonly #draw: () => Uint8Array;
  /** The bytes that are still to come; undefined before the text is drawn. */
  #rest: Uint8Array | undefined;

  /**
   * @param shape Of all texts of the choice.
   * @param draw Returns the bytes of the text that are still to come.
   */
  constructor(shape: TokenConstraint, vocabulary: Tokenizer['vocabulary'], draw: () => Uint8Array) {
    this.#shape = shape;
    this.#vocabulary = vocabulary;
    this.#draw = draw;
  }

  accept(tokenId: number): boolean | Promise<boolean> {
    this.#rest = this.#drawn.subarray(this.#vocabulary.bytesOf(tokenId)?.length);
    return this.#rest.length === 0 || this.#shape.accept(tokenId);
  }

  mask(): TokenMask | undefined {
    const mask = this.#shape.mask?.()?.slice();
    if (!mask) return undefined;
    for (const [word, bits] of mask.entries()) {
      if (bits === 0) continue;
      for (let id = word * 32; id < word * 32 + 32; id += 1)
        if (isAllowed(mask, id) && !this.#isNext(id)) forbidToken(mask, id);
    }
    return mask;
  }

  forced(): readonly number[] {
    return this.#shape.forced?.() ?? [];
  }

  get #drawn(): Uint8Array {
    return (this.#rest ??= this.#draw());
  }

  #isNext(tokenId: number): boolean {
    const bytes = this.#vocabulary.bytesOf(tokenId);
    return bytes !== undefined && bytes.length > 0 && begins(bytes, this.#drawn);
  }
}

export function begins(beginning: ArrayLike<number>, whole: ArrayLike<number>): boolean {
  return Array.from(beginning).every((each, index) => each === whole[index]);
}
