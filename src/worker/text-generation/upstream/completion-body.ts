import type { ResolvedOptions } from '../generation-options.ts';

type Scored = Pick<ResolvedOptions, 'maxNewTokens' | 'promptLogprobs'>;

/** Of the server that the body is for. */
export interface UpstreamDialect {
  /** As the server calls it. */
  readonly modelId: string;
  /** Whether it has vLLM's extras: token ids in the answer, and more ways to sample. */
  readonly isVllm: boolean;
}

/**
 * A request in the words of `POST /v1/completions`. Sampling options that OpenAI's API lacks go out under vLLM's names: always
 * to a vLLM, which else takes its own defaults, and only where they were changed to any other server, which may refuse them.
 * Prompt logprobs come in a stream with an echo alone.
 */
export function completionBody(
  prompt: string,
  options: ResolvedOptions,
  { modelId, isVllm }: UpstreamDialect,
): object {
  const { maxNewTokens, ending, n, priority, promptLogprobs, sampling } = options;
  const { temperature, topP, topK, minP, repetitionPenalty, logitBias, seed } = sampling;
  // In a stream there is one number for the prompt and the text.
  const numLogprobs = largest(sampling.numLogprobs, promptLogprobs);
  return {
    model: modelId,
    prompt,
    stream: true,
    // A vLLM tells with its first chunk how long the prompt is.
    stream_options: { include_usage: true, ...(isVllm && { continuous_usage_stats: true }) },
    max_tokens: maxNewTokens,
    temperature,
    top_p: topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed,
    n,
    ...(isEchoed(options) && { echo: true }),
    ...(ending.stop.length > 0 && { stop: ending.stop }),
    ...(ending.stopTokenIds.length > 0 && { stop_token_ids: ending.stopTokenIds }),
    ...(ending.includeStopStrInOutput && { include_stop_str_in_output: true }),
    ...(ending.minTokens > 0 && { min_tokens: ending.minTokens }),
    ...(ending.ignoreEos && { ignore_eos: true }),
    ...(Object.keys(logitBias).length > 0 && { logit_bias: logitBias }),
    ...(numLogprobs !== undefined && { logprobs: numLogprobs, return_tokens_as_token_ids: true }),
    ...((isVllm || topK !== 0) && { top_k: topK }),
    ...((isVllm || minP !== 0) && { min_p: minP }),
    ...((isVllm || repetitionPenalty !== 1) && { repetition_penalty: repetitionPenalty }),
    // A vLLM that schedules by arrival refuses any but 0.
    ...(priority !== 0 && { priority }),
    ...(isVllm && { return_token_ids: true }),
  };
}

/** Whether the answer begins with the prompt; a vLLM generates nothing only then. */
export function isEchoed({ maxNewTokens, promptLogprobs }: Scored): boolean {
  return promptLogprobs !== undefined || maxNewTokens === 0;
}

function largest(...values: readonly (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length > 0 ? Math.max(...given) : undefined;
}
