import { InvalidOptionError } from '../../batching/errors.ts';
import { integerIn } from '../../batching/generation/validate.ts';
import type { LoadedModel } from '../models/load-model.ts';
import { EmptyPromptError, PromptTooLongError } from '../protocol/errors/deployments.ts';

export interface Prompt {
  readonly text: string;
  readonly tokenIds: readonly number[];
}

/**
 * Reads a prompt that is a text or a list of token ids.
 *
 * @param maxLength In tokens.
 * @throws InvalidOptionError, EmptyPromptError, PromptTooLongError.
 */
export function readPrompt(prompt: unknown, model: LoadedModel, maxLength: number): Prompt {
  if (typeof prompt === 'string') return { text: prompt, tokenIds: tokenize(prompt, model, maxLength) };
  if (!Array.isArray(prompt))
    throw InvalidOptionError.of('prompt', 'a string or a list of token ids', prompt);
  // The length is checked first, so that a list that is too long is not searched.
  checkLength(prompt, model, maxLength);
  const isTokenId = integerIn({ from: 0, to: model.modelInfo.vocabSize - 1 });
  const tokenIds = prompt.map((tokenId, index) => isTokenId(`prompt[${index}]`, tokenId));
  const stream = model.tokenizer.createTextStream();
  return { text: tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end(), tokenIds };
}

function tokenize(prompt: string, model: LoadedModel, maxLength: number): readonly number[] {
  // Tokenizing blocks the worker, and with it every tab: refuse what is too long without it.
  const minTokens = Math.ceil(prompt.length / model.tokenizer.maxTokenBytes);
  if (minTokens > maxLength)
    throw PromptTooLongError.of(`at least ${minTokens}`, model.config.contextLength, maxLength);
  const tokenIds = model.tokenizer.encode(prompt);
  checkLength(tokenIds, model, maxLength);
  return tokenIds;
}

function checkLength({ length }: readonly unknown[], { config }: LoadedModel, maxLength: number): void {
  if (length === 0) throw EmptyPromptError.of();
  if (length > maxLength) throw PromptTooLongError.of(length, config.contextLength, maxLength);
}
