import type { ResolvedOptions } from '../deployments/generation-options.ts';

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
 */
export function completionBody(
  prompt: string,
  { maxNewTokens, ending, n, priority, sampling }: ResolvedOptions,
  { modelId, isVllm }: UpstreamDialect,
): object {
  const { temperature, topP, topK, minP, repetitionPenalty, logitBias, numLogprobs, seed } = sampling;
  return {
    model: modelId,
    prompt,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxNewTokens,
    temperature,
    top_p: topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed,
    n,
    ...(ending.stop.length > 0 && { stop: ending.stop }),
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
