import * as v from 'valibot';
import { InvalidOptionError } from '../../batching/errors.ts';
import { integerIn } from '../../batching/generation/validate.ts';
import type { LoadedModel } from '../models/load-model.ts';
import { isRecord } from '../platform/is-record.ts';
import { chatMessage, type ChatMessage } from '../protocol/chat.ts';
import { EmptyPromptError, PromptTooLongError } from '../protocol/errors/deployments.ts';
import { NoChatTemplateError } from '../protocol/errors/model.ts';

export interface Prompt {
  readonly text: string;
  readonly tokenIds: readonly number[];
}

/**
 * Reads a prompt that is a text, a list of token ids or a chat.
 *
 * @param maxLength In tokens.
 * @throws InvalidOptionError, EmptyPromptError, PromptTooLongError, NoChatTemplateError, ChatTemplateError.
 */
export function readPrompt(prompt: unknown, model: LoadedModel, maxLength: number): Prompt {
  if (typeof prompt === 'string') return { text: prompt, tokenIds: tokenize(prompt, model, maxLength) };
  if (!Array.isArray(prompt))
    throw InvalidOptionError.of('prompt', 'a string, a list of token ids or a list of messages', prompt);
  if (isRecord(prompt[0])) return renderChat(prompt, model, maxLength);
  // The length is checked first, so that a list that is too long is not searched.
  checkLength(prompt, model, maxLength);
  const isTokenId = integerIn({ from: 0, to: model.modelInfo.vocabSize - 1 });
  const tokenIds = prompt.map((tokenId, index) => isTokenId(`prompt[${index}]`, tokenId));
  const stream = model.tokenizer.createTextStream(true);
  return { text: tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end(), tokenIds };
}

function renderChat(messages: readonly unknown[], model: LoadedModel, maxLength: number): Prompt {
  const { chatTemplate } = model.tokenizer;
  if (!chatTemplate) throw NoChatTemplateError.of(model.modelInfo.id);
  const text = chatTemplate.render(messages.map(readMessage));
  return { text, tokenIds: tokenize(text, model, maxLength, false) };
}

function readMessage(message: unknown, index: number): ChatMessage {
  if (v.is(chatMessage, message)) return message;
  throw InvalidOptionError.of(`prompt[${index}]`, 'a message with a role and content', message);
}

/** @param addSpecialTokens False for a text that has its special tokens already. */
function tokenize(
  prompt: string,
  model: LoadedModel,
  maxLength: number,
  addSpecialTokens = true,
): readonly number[] {
  // Tokenizing blocks the worker, and with it every tab: refuse what is too long without it.
  const minTokens = Math.ceil(prompt.length / model.tokenizer.maxTokenLength);
  if (minTokens > maxLength)
    throw PromptTooLongError.of(`at least ${minTokens}`, model.config.contextLength, maxLength);
  const tokenIds = model.tokenizer.encode(prompt, addSpecialTokens);
  checkLength(tokenIds, model, maxLength);
  return tokenIds;
}

function checkLength({ length }: readonly unknown[], { config }: LoadedModel, maxLength: number): void {
  if (length === 0) throw EmptyPromptError.of();
  if (length > maxLength) throw PromptTooLongError.of(length, config.contextLength, maxLength);
}
