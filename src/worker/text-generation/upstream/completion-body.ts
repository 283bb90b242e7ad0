import { chatNameOf, OPTION_NAMES, optionOf, type OptionName } from '../../../batching/generation/options.ts';
import type { ChatMessage } from '../../../protocol/chat.ts';
import type { ResolvedOptions } from '../generation-options.ts';

/** The server that the body is for. */
export interface UpstreamDialect {
  /** As the server calls it. */
  readonly modelId: string;
  /** Whether it has vLLM's extras: token ids in the answer, and more ways to sample. */
  readonly isVllm: boolean;
}

/** A prompt that an upstream takes: a text or a chat. */
export type UpstreamPrompt = string | readonly ChatMessage[];

/** A request in the words of the upstream's API. */
export interface UpstreamCall {
  readonly path: '/v1/completions' | '/v1/chat/completions';
  readonly body: object;
}

/** @param contextLength In force where a chat has no `maxNewTokens`; the upstream is then left to its own limit. */
export function upstreamCall(
  prompt: UpstreamPrompt,
  options: ResolvedOptions,
  dialect: UpstreamDialect,
  contextLength: number,
): UpstreamCall {
  return typeof prompt === 'string'
    ? { path: '/v1/completions', body: completionBody(prompt, options, dialect) }
    : { path: '/v1/chat/completions', body: chatBody(prompt, options, dialect, contextLength) };
}

function completionBody(prompt: string, options: ResolvedOptions, dialect: UpstreamDialect): object {
  const { sampling, promptLogprobs } = options;
  // In a stream one number counts for the prompt and the text, and the prompt's logprobs come only with an echo.
  const wanted = [sampling.logprobs, promptLogprobs].filter((number) => number !== undefined);
  const logprobs = wanted.length > 0 ? Math.max(...wanted) : undefined;
  return {
    prompt,
    ...sharedBody({ ...valuesOf(options), logprobs, echo: isEchoed(options) }, dialect),
  };
}

function chatBody(
  messages: readonly ChatMessage[],
  options: ResolvedOptions,
  dialect: UpstreamDialect,
  contextLength: number,
): object {
  const { logprobs, maxNewTokens, ...values } = valuesOf(options);
  return {
    messages,
    ...sharedBody({ ...values, ...(maxNewTokens < contextLength && { maxNewTokens }) }, dialect),
    ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs, ...IDS_FOR_TOKENS }),
  };
}

const IDS_FOR_TOKENS = { return_tokens_as_token_ids: true };

function valuesOf({ ending, sampling, promptLogprobs: _scored, ...others }: ResolvedOptions) {
  return { ...others, ...ending, ...sampling };
}

function sharedBody(values: OptionValues, { modelId, isVllm }: UpstreamDialect): object {
  return {
    model: modelId,
    stream: true,
    // A vLLM tells with its first chunk how long the prompt is.
    stream_options: { include_usage: true, ...(isVllm && { continuous_usage_stats: true }) },
    ...inHttpNames(values, isVllm),
    ...(values.logprobs !== undefined && IDS_FOR_TOKENS),
    ...(isVllm && { return_token_ids: true }),
  };
}

type OptionValues = Readonly<Partial<Record<OptionName, unknown>>>;

/**
 * Leaves out what is off. Options that OpenAI's API lacks go out where they are not at their default, as other servers may refuse
 * them; a vLLM also gets those that its model may have a default for.
 */
function inHttpNames(values: OptionValues, isVllm: boolean): object {
  return Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const option = optionOf(name);
      const value = values[name];
      const isStated = option.openAi !== undefined || (isVllm && option.generationConfig !== undefined);
      return isOff(value) || (value === option.default && !isStated) ? [] : [[chatNameOf(option), value]];
    }),
  );
}

function isOff(value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === false || isEmpty;
}

/** Whether the answer begins with the prompt; a vLLM generates nothing only then. */
export function isEchoed({
  maxNewTokens,
  promptLogprobs,
}: Pick<ResolvedOptions, 'maxNewTokens' | 'promptLogprobs'>): boolean {
  return promptLogprobs !== undefined || maxNewTokens === 0;
}
