import type { GenerationOptions } from '../protocol/protocol.ts';

/**
 * Each option as `POST /v1/completions` calls it, here and at an upstream: OpenAI's name, or vLLM's where OpenAI has none. An
 * option that is missing here does not compile. `timeoutMs` is a header over HTTP.
 */
export const HTTP_OPTION_NAMES = {
  maxNewTokens: 'max_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  minP: 'min_p',
  repetitionPenalty: 'repetition_penalty',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  promptLogprobs: 'prompt_logprobs',
  n: 'n',
  stop: 'stop',
  stopTokenIds: 'stop_token_ids',
  includeStopStrInOutput: 'include_stop_str_in_output',
  minTokens: 'min_tokens',
  ignoreEos: 'ignore_eos',
  seed: 'seed',
  echo: 'echo',
  priority: 'priority',
} as const satisfies Readonly<Record<Exclude<keyof GenerationOptions, 'timeoutMs'>, string>>;
