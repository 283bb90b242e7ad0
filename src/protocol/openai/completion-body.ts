import {
  chatNameOf,
  OPTION_NAMES,
  optionOf,
  type OptionName,
} from '../../batching/options/generation-options.ts';
import type { ChatMessage } from '../chat.ts';
import type { ResolvedOptions } from '../resolve-options.ts';
import { messageBody, shapeBody, toolsBody } from './answer-body.ts';

/** The server that the body is for. */
export interface Dialect {
  /** The server's name for it. */
  readonly modelId: string;
  /** Whether it has vLLM's extensions of requests: more sampling options, and shapes. Another Tabserve has them. */
  readonly hasExtensions: boolean;
  /** Whether it sends the IDs of tokens, as vLLM does. */
  readonly sendsIds: boolean;
}

/** A prompt for a server: a text or a chat. */
export type ServerPrompt = string | readonly ChatMessage[];

/** A request in the format of OpenAI's API. */
export interface ServerCall {
  readonly path: '/v1/completions' | '/v1/chat/completions';
  readonly body: object;
}

/**
 * @param contextLength The default of a chat's `maxNewTokens`. With this value, the server uses its own limit.
 * @throws ResponseFormatUnsupportedError for a shape that the server would ignore.
 */
export function serverCall(
  prompt: ServerPrompt,
  options: ResolvedOptions,
  dialect: Dialect,
  contextLength: number,
): ServerCall {
  return typeof prompt === 'string'
    ? { path: '/v1/completions', body: completionBody(prompt, options, dialect) }
    : { path: '/v1/chat/completions', body: chatBody(prompt, options, dialect, contextLength) };
}

function completionBody(prompt: string, options: ResolvedOptions, dialect: Dialect): object {
  const { sampling, promptLogprobs } = options;
  // In a stream, one number sets the logprobs of both prompt and text, and the prompt's logprobs come only with an echo.
  const wanted = [sampling.logprobs, promptLogprobs].filter((number) => number !== undefined);
  const logprobs = wanted.length > 0 ? Math.max(...wanted) : undefined;
  return {
    prompt,
    ...sharedBody({ ...valuesOf(options), logprobs, echo: isEchoed(options) }, dialect),
    ...shapeBody(options.responseFormat, { ...dialect, isChat: false }),
  };
}

function chatBody(
  messages: readonly ChatMessage[],
  options: ResolvedOptions,
  dialect: Dialect,
  contextLength: number,
): object {
  const { logprobs, maxNewTokens, ...values } = valuesOf(options);
  return {
    messages: messages.map(messageBody),
    ...(values.continueFinalMessage && { add_generation_prompt: false }),
    ...sharedBody({ ...values, ...(maxNewTokens < contextLength && { maxNewTokens }) }, dialect),
    ...shapeBody(options.responseFormat, { ...dialect, isChat: true }),
    ...toolsBody(options),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs, ...IDS_FOR_TOKENS }),
  };
}

const IDS_FOR_TOKENS = { return_tokens_as_token_ids: true };

function valuesOf({
  ending,
  sampling,
  promptLogprobs: _scored,
  responseFormat: _shape,
  tools: _tools,
  toolChoice: _toolChoice,
  parallelToolCalls: _parallel,
  ...others
}: ResolvedOptions) {
  return { ...others, ...ending, ...sampling };
}

function sharedBody(values: OptionValues, { modelId, hasExtensions, sendsIds }: Dialect): object {
  return {
    model: modelId,
    stream: true,
    // vLLM sends the prompt's length with the first chunk.
    stream_options: { include_usage: true, ...(hasExtensions && { continuous_usage_stats: true }) },
    ...inHttpNames(values, hasExtensions),
    ...(values.logprobs !== undefined && IDS_FOR_TOKENS),
    ...(sendsIds && { return_token_ids: true }),
  };
}

type OptionValues = Readonly<Partial<Record<OptionName, unknown>>>;

/**
 * Leaves out options that are off. Options that OpenAI's API lacks are sent only if they are not at their default, because other
 * servers may reject them. A server with extensions also gets the options that its model may have a default for.
 */
function inHttpNames(values: OptionValues, hasExtensions: boolean): object {
  return Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const option = optionOf(name);
      const value = values[name];
      const isStated =
        option.openAi !== undefined || (hasExtensions && option.generationConfig !== undefined);
      return isOff(value) || (value === option.default && !isStated) ? [] : [[chatNameOf(option), value]];
    }),
  );
}

function isOff(value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === false || isEmpty;
}

/** Whether the answer begins with the prompt. Only then does vLLM generate nothing. */
export function isEchoed({
  maxNewTokens,
  promptLogprobs,
}: Pick<ResolvedOptions, 'maxNewTokens' | 'promptLogprobs'>): boolean {
  return promptLogprobs !== undefined || maxNewTokens === 0;
}
