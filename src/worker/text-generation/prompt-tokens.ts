import { InvalidOptionError } from '../../batching/base/errors.ts';
import type { GenerationTool } from '../../batching/options/tools.ts';
import { integerIn, isWholeText } from '../../batching/base/validate.ts';
import type { JsonRecord } from '../../batching/base/validate-compound.ts';
import type { LoadedModel } from '../runtime/loaded-model.ts';
import { isChat, lengthOfChat, textOfContent, type ChatMessage } from '../../protocol/chat.ts';
import { MAX_PROMPT_LENGTH } from '../../protocol/wire.ts';
import { answerSyntaxOf, type AnswerSyntax } from './answers/answer-syntax.ts';
import { toolSyntaxOf } from './answers/tool-syntax.ts';
import { haveCalls, readMessages } from '../../protocol/read-messages.ts';
import { noCalls, noChatTemplate, noTools } from '../models/model-errors.ts';
import {
  emptyPrompt,
  promptTooLong,
  promptTooLongToRead,
} from '../../protocol/errors/deployment-messages.ts';
import type { ChatTemplate, RenderOptions } from '../models/tokenizer/chat-template.ts';

/** Most texts have about four characters per token. Longer texts are first encoded in part, to reject them early. */
const MAX_MEAN_TOKEN_LENGTH = 8;

export interface Prompt {
  /** Begins the result's text. Empty for a chat, whose rendered text has special tokens. */
  readonly text: string;
  readonly tokenIds: readonly number[];
  /** How the answer to a chat is written, where it isn't text alone. */
  readonly syntax?: AnswerSyntax | undefined;
}

export interface PromptLimits {
  /** In tokens. */
  readonly maxLength: number;
  /** For a chat. */
  readonly chatTemplateArguments: JsonRecord;
  /** Whether the answer continues the last message of a chat. */
  readonly continueFinalMessage: boolean;
  /** For a chat. Empty where none may be called. */
  readonly tools: readonly GenerationTool[];
}

/**
 * Reads a prompt that is a text, a list of token ids or a chat. Yields between pieces of a long one.
 *
 * @param written The prompt, where it is a chat that is written already.
 * @throws InvalidOptionError, EmptyPromptError, PromptTooLongError, NoChatTemplateError, ToolsUnsupportedError,
 *   ChatTemplateError.
 */
export function* readPrompt(
  prompt: unknown,
  model: LoadedModel,
  limits: PromptLimits,
  written?: WrittenChat,
): Generator<void, Prompt> {
  const { maxLength } = limits;
  if (typeof prompt === 'string')
    return { text: prompt, tokenIds: yield* tokenize(prompt, model, maxLength) };
  if (isChat(prompt)) {
    const { rendered, syntax } = written ?? writeChat(prompt, model, limits);
    return { text: '', tokenIds: yield* tokenize(rendered, model, maxLength, false), syntax };
  }
  if (!Array.isArray(prompt))
    throw InvalidOptionError.of('prompt', 'a string, a list of token ids or a list of messages', prompt);
  // The length comes first, so that a list that is too long is not searched.
  checkLength(prompt, model, maxLength);
  const isTokenId = integerIn({ from: 0, to: model.modelInfo.vocabSize - 1 });
  const tokenIds = prompt.map((tokenId, index) => isTokenId(`prompt[${index}]`, tokenId));
  const stream = model.tokenizer.createTextStream(true);
  return { text: tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end(), tokenIds };
}

/** A chat as the model's template writes it. */
export interface WrittenChat {
  readonly rendered: string;
  /** How the answer is written; undefined for text alone. */
  readonly syntax: AnswerSyntax | undefined;
}

/** @throws InvalidOptionError, PromptTooLongError, NoChatTemplateError, ToolsUnsupportedError, ChatTemplateError. */
export function writeChat(
  prompt: readonly unknown[],
  model: LoadedModel,
  { maxLength, chatTemplateArguments: variables, continueFinalMessage, tools }: PromptLimits,
): WrittenChat {
  const messages = readMessages(prompt);
  const { chatTemplate } = model.tokenizer;
  if (!chatTemplate) throw noChatTemplate(model.modelInfo.id);
  const template = chatTemplate.sourceFor(tools.length > 0);
  const isToken = (text: string): boolean => model.tokenizer.encode(text, false).length === 1;
  if ((tools.length > 0 || haveCalls(messages)) && !toolSyntaxOf(template, isToken))
    throw tools.length > 0 ? noTools(model.modelInfo.id) : noCalls(model.modelInfo.id);
  // Rendering blocks the worker too, so reject long chats before it. A message has at least one token.
  const numCharacters = lengthOfChat(messages);
  checkTextLength(numCharacters);
  refuseLong(Math.max(messages.length, minTokensOf(numCharacters, model)), model, maxLength);
  const write = (given: readonly GenerationTool[]): string => {
    const options = { variables, tools: given };
    return continueFinalMessage
      ? renderOpen(chatTemplate, messages, options)
      : chatTemplate.render(messages, options);
  };
  const rendered = write(tools);
  // Templates may take tools under names of their own, as SmolLM3's does: the model would never see these.
  if (tools.length > 0 && rendered === write([])) throw noTools(model.modelInfo.id);
  const continued = continueFinalMessage ? textOfContent(messages.at(-1)?.content) : undefined;
  const mayCall = tools.length > 0;
  return { rendered, syntax: answerSyntaxOf({ template, rendered, continued, mayCall, isToken }) };
}

/** @param addSpecialTokens False for a text that already has its special tokens. */
function* tokenize(
  prompt: string,
  model: LoadedModel,
  maxLength: number,
  addSpecialTokens = true,
): Generator<void, readonly number[]> {
  // Tokenizing blocks the worker for every tab, so reject long texts before it, or after a part.
  refuseLong(minTokensOf(prompt.length, model), model, maxLength);
  checkTextLength(prompt.length);
  isWholeText('prompt', prompt);
  refuseLong(yield* minTokensByPart(prompt, model, maxLength), model, maxLength);
  const tokenIds = yield* model.tokenizer.encodeInPieces(prompt, addSpecialTokens);
  checkLength(tokenIds, model, maxLength);
  return tokenIds;
}

function minTokensOf(numCharacters: number, { tokenizer }: LoadedModel): number {
  return Math.ceil(numCharacters / tokenizer.maxTokenLength);
}

/** Number of tokens in a text's first part, without those that cutting may have added. 0 if the text is shorter than a part. */
function* minTokensByPart(
  text: string,
  { tokenizer }: LoadedModel,
  maxLength: number,
): Generator<void, number> {
  const partLength = MAX_MEAN_TOKEN_LENGTH * maxLength;
  if (text.length <= partLength) return 0;
  const { length } = yield* tokenizer.encodeInPieces(text.slice(0, partLength), false);
  return length - tokenizer.maxTokenLength;
}

function checkTextLength(length: number): void {
  if (length > MAX_PROMPT_LENGTH) throw promptTooLongToRead(length, MAX_PROMPT_LENGTH);
}

function refuseLong(minTokens: number, { config }: LoadedModel, maxLength: number): void {
  if (minTokens > maxLength) throw promptTooLong(`at least ${minTokens}`, config.contextLength, maxLength);
}

/** @throws EmptyPromptError, PromptTooLongError. */
export function checkLength(
  { length }: readonly unknown[],
  { config }: LoadedModel,
  maxLength: number,
): void {
  if (length === 0) throw emptyPrompt();
  if (length > maxLength) throw promptTooLong(length, config.contextLength, maxLength);
}

/** @throws InvalidOptionError for tokens of another model that a request was resumed with. */
export function checkVocabulary(tokenIds: readonly number[], vocabSize: number): void {
  const foreign = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (foreign !== undefined) {
    throw InvalidOptionError.of('resumption.tokenIds', `ids of the model's ${vocabSize} tokens`, foreign);
  }
}

/** Marks the end of the last message. A template may trim the space. */
const END_MARK = '<TABSERVE_END_OF_FINAL_MESSAGE> ';

/**
 * Writes a chat up to the end of its last message's content, as transformers does for `continue_final_message`.
 *
 * @throws ChatTemplateError; InvalidOptionError if the template doesn't write that content as it is.
 */
export function renderOpen(
  template: ChatTemplate,
  messages: readonly ChatMessage[],
  options: RenderOptions,
): string {
  const last = messages.at(-1);
  if (!last) throw new Error('A chat has a message.');
  const content = withMark(last.content);
  if (content === undefined || content === null)
    throw InvalidOptionError.of('continueFinalMessage', 'false where the last message has no text', true);
  const marked = [...messages.slice(0, -1), { ...last, content }];
  const rendered = template.render(marked, { ...options, addGenerationPrompt: false });
  const at = rendered.lastIndexOf(END_MARK.trimEnd());
  if (at < 0 || !rendered.includes(lastTextOf(last.content).trim()))
    throw InvalidOptionError.of(
      'continueFinalMessage',
      "false for this model, whose chat template changes the last message's content",
      true,
    );
  const open = rendered.slice(0, at);
  return rendered.startsWith(END_MARK, at) ? open : open.trimEnd();
}

/** transformers continues the last part of a text. */
function withMark(content: ChatMessage['content']): ChatMessage['content'] {
  if (typeof content === 'string') return content + END_MARK;
  return content?.with(-1, { type: 'text', text: lastTextOf(content) + END_MARK });
}

function lastTextOf(content: ChatMessage['content']): string {
  return typeof content === 'string' ? content : (content?.at(-1)?.text ?? '');
}
