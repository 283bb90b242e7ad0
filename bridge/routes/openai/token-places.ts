import { lengthOf, PART_OF_CHARACTER, type NamedToken } from '../../../src/protocol/openai/logprobs.ts';
import type { TokenTexts } from './token-texts.ts';

/**
 * Where the tokens of a choice begin in its text, in code points as Python counts them. A token that goes on with a character begins where
 * the character does.
 */
export class TokenPlaces {
  readonly #texts: Pick<TokenTexts, 'decode'>;
  /** Whether the next token begins a whole text, before which some tokenizers add a space. */
  #isFirst: boolean;
  /** The length of the text before `#parts`. */
  #start = 0;
  /** Tokens whose last character is incomplete. */
  #parts: readonly number[] = [];
  /** The number of their characters that are complete. */
  #numComplete = 0;

  /** @param isEchoed Whether the text begins with the prompt. */
  constructor(texts: Pick<TokenTexts, 'decode'>, isEchoed: boolean) {
    this.#texts = texts;
    this.#isFirst = isEchoed;
  }

  /** The places of the next tokens. @param modelId The model that they belong to. */
  async take(tokens: readonly NamedToken[], modelId: string): Promise<readonly number[]> {
    const places: number[] = [];
    for (const { tokenId, text } of tokens) {
      places.push(this.#start + this.#numComplete);
      // Special tokens are no part of the text.
      if (text !== '') await this.#add(tokenId, text, modelId);
    }
    return places;
  }

  async #add(tokenId: number, text: string, modelId: string): Promise<void> {
    const parts = [...this.#parts, tokenId];
    const isKnown = parts.length === 1 && !(this.#isFirst && text.startsWith(' '));
    const decoded = isKnown ? text : await this.#texts.decode(parts, modelId);
    this.#isFirst = false;
    const length = lengthOf(decoded);
    const isOpen = decoded.endsWith(PART_OF_CHARACTER);
    this.#parts = isOpen ? parts : [];
    this.#numComplete = isOpen ? length - 1 : 0;
    if (!isOpen) this.#start += length;
  }
}
