import type { TokenConstraint } from '../../batching/generation/request.ts';
import { allowToken, emptyMask, type TokenMask } from '../../batching/sampling/token-mask.ts';

/** Follows one text of a choice, which is drawn before the first token is. */
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
    const mask = emptyMask(this.#vocabSize);
    const [next] = this.#drawn;
    if (next !== undefined) allowToken(mask, next);
    return mask;
  }

  get #drawn(): readonly number[] {
    return (this.#rest ??= this.#draw());
  }
}
