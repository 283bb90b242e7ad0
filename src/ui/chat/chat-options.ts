import {
  GENERATION_FIELDS,
  parseGeneration,
  type GenerationErrors,
  type GenerationTexts,
} from '../compose/generation-fields.ts';
import type { GenerationOptions } from '../../client/index.ts';

/** Without those that a chat has no place for: one answer follows a message, and no table is shown beside it. */
export const CHAT_FIELDS = GENERATION_FIELDS.filter(
  ({ name }) => name !== 'n' && name !== 'echo' && name !== 'logprobs',
);

const MAX_NEW_TOKENS = 512;

/** The values in force while the fields are empty, where they aren’t the model’s own. */
export const CHAT_DEFAULTS: GenerationTexts = { maxNewTokens: String(MAX_NEW_TOKENS) };

export function parseChatOptions(texts: GenerationTexts): {
  readonly options: GenerationOptions;
  readonly errors: GenerationErrors;
} {
  const { options, errors } = parseGeneration(texts);
  return { options: { maxNewTokens: MAX_NEW_TOKENS, ...options }, errors };
}

/** A typed seed is the first chat's: with one seed for all, chats that ask the same would answer the same. */
export function optionsFor(options: GenerationOptions, ordinal: number): GenerationOptions {
  return options.seed === undefined ? options : { ...options, seed: options.seed + ordinal - 1 };
}
