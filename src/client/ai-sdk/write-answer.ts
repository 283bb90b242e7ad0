import type {
  JSONObject,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';

import type { FinishReason, GenerationResult, PromptTokenLogprobs, TokenLogprobs } from '../index.ts';
import { PROVIDER } from './read-settings.ts';

const UNIFIED: Readonly<Record<FinishReason, LanguageModelV4FinishReason['unified']>> = {
  stop: 'stop',
  length: 'length',
  abort: 'other',
  error: 'error',
};

/** The end of an answer, in the AI SDK's terms. */
export function endOf(result: GenerationResult): {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly providerMetadata: SharedV4ProviderMetadata;
} {
  const { finishReason, usage } = result;
  const { numPromptTokens, numCachedTokens, numOutputTokens } = usage;
  return {
    finishReason: { unified: UNIFIED[finishReason], raw: finishReason },
    usage: {
      inputTokens: {
        // Every prompt has tokens, so an upstream that reports 0 has not counted them.
        ...(numPromptTokens > 0
          ? { total: numPromptTokens, noCache: numPromptTokens - numCachedTokens, cacheRead: numCachedTokens }
          : { total: undefined, noCache: undefined, cacheRead: undefined }),
        cacheWrite: undefined,
      },
      outputTokens: { total: numOutputTokens, text: numOutputTokens, reasoning: undefined },
      raw: { ...usage },
    },
    providerMetadata: { [PROVIDER]: metadataOf(result) },
  };
}

/** The end of a failed stream. */
export function failedEndOf(code: string | undefined): {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
} {
  return {
    finishReason: { unified: 'error', raw: code },
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
  };
}

function metadataOf({ seed, timings, logprobs, promptLogprobs }: GenerationResult): JSONObject {
  return {
    seed,
    timings: { ...timings },
    ...(logprobs && { logprobs: logprobs.map(toJson) }),
    ...(promptLogprobs && { promptLogprobs: promptLogprobs.map(toJson) }),
  };
}

function toJson({ top, ...token }: TokenLogprobs | PromptTokenLogprobs): JSONObject {
  return { ...token, top: top.map((alternative) => ({ ...alternative })) };
}
