import type { Lookahead, TokenConstraint } from '../../batching/generation/request.ts';
import { allowToken, emptyMask, type TokenMask } from '../../batching/sampling/token-mask.ts';

/** Follows one text of a choice, which is known before its first token is needed. So all of it is computed in one pass where that pays. */
export class ChosenText implements TokenConstraint {
  readonly #vocabSize: number;
  readonly #draw: () => readonly number[];
  /** The tokens that are still to come; undefined before the text is drawn. */
  #rest: readonly number[] | undefined;

  /** @param draw Returns the tokens of the text that are still to come. */
  constructor(vocabSize: number, draw: () => readonly number[]) {
    this.#vocabSize = vocabSize;
    this.#draw = draw;
  }

  accept(): boolean {
    this.#rest = this.#drawn.slice(1);
    return this.#rest.length === 0;
  }

  mask(): TokenMask {
    return this.#maskOf(this.#drawn[0]);
  }

  ahead(): Lookahead {
    return this.#aheadOf(this.#drawn);
  }

  #aheadOf([forced, ...rest]: readonly number[]): Lookahead {
    const after = (): Lookahead | undefined => (rest.length > 0 ? this.#aheadOf(rest) : undefined);
    return { mask: this.#maskOf(forced), forced, after };
  }

  #maskOf(tokenId: number | undefined): TokenMask {
    const mask = emptyMask(this.#vocabSize);
    if (tokenId !== undefined) allowToken(mask, tokenId);
    return mask;
  }

  get #drawn(): readonly number[] {
    return (this.#rest ??= this.#draw());
  }
}
