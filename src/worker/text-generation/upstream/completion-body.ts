import { httpNameOf, OPTION_NAMES, optionOf, type OptionName } from '../../../batching/generation/options.ts';
import type { ResolvedOptions } from '../generation-options.ts';

/** The server that the body is for. */
export interface UpstreamDialect {
  /** As the server calls it. */
  readonly modelId: string;
  /** Whether it has vLLM's extras: token ids in the answer, and more ways to sample. */
  readonly isVllm: boolean;
}

/** A request in the words of `POST /v1/completions`. */
export function completionBody(
  prompt: string,
  options: ResolvedOptions,
  { modelId, isVllm }: UpstreamDialect,
): object {
  const { ending, sampling, promptLogprobs, ...others } = options;
  // In a stream one number counts for the prompt and the text, and the prompt's logprobs come only with an echo.
  const wanted = [sampling.logprobs, promptLogprobs].filter((number) => number !== undefined);
  const logprobs = wanted.length > 0 ? Math.max(...wanted) : undefined;
  return {
    model: modelId,
    prompt,
    stream: true,
    // A vLLM tells with its first chunk how long the prompt is.
    stream_options: { include_usage: true, ...(isVllm && { continuous_usage_stats: true }) },
    ...inHttpNames({ ...others, ...ending, ...sampling, logprobs, echo: isEchoed(options) }, isVllm),
    ...(logprobs !== undefined && { return_tokens_as_token_ids: true }),
    ...(isVllm && { return_token_ids: true }),
  };
}

/**
 * Leaves out what is off. Options that OpenAI's API lacks go out where they are not at their default, as other servers may refuse
 * them; a vLLM also gets those that its model may have a default for.
 */
function inHttpNames(values: Readonly<Partial<Record<OptionName, unknown>>>, isVllm: boolean): object {
  return Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const option = optionOf(name);
      const value = values[name];
      const isStated = option.openAi !== undefined || (isVllm && option.generationConfig !== undefined);
      return isOff(value) || (value === option.default && !isStated) ? [] : [[httpNameOf(option), value]];
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
