import type { GenerationChoice } from '../../../src/protocol/generation.ts';
import type { GenerationRequest } from './generation-request.ts';
import type { NamedToken } from './token-texts.ts';

/** How an endpoint writes generated text. */
export interface AnswerFormat {
  /** Begins the id of each answer. */
  readonly idPrefix: string;
  /** The field `object` of an answer. */
  readonly object: string;
  /** The field `object` of a stream's chunks. */
  readonly chunkObject: string;
  /** The fields that a stream sends for a choice before its first token, if any. */
  readonly opening?: object;
  /** The fields with a choice's text. */
  textOf(choice: GenerationChoice, asked: GenerationRequest): object;
  /** The fields with a part of a choice's text, in a stream. */
  pieceOf(text: string): object;
  /** @param startOffset Length of the tokens of the choice before these. */
  logprobsOf(tokens: readonly NamedToken[], startOffset: number): object;
}
