import type {
  LanguageModelV4FinishReason,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';

import type { FinishReason, GenerationResponse, GenerationResult } from '../client/index.ts';
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
  const { finishReason, usage, seed, timings } = result;
  const { numPromptTokens, numCachedTokens, numOutputTokens } = usage;
  return {
    finishReason: { unified: UNIFIED[finishReason], raw: finishReason },
    usage: {
      inputTokens: {
        total: numPromptTokens,
        noCache: numPromptTokens - numCachedTokens,
        cacheRead: numCachedTokens,
        cacheWrite: undefined,
      },
      outputTokens: { total: numOutputTokens, text: numOutputTokens, reasoning: undefined },
      raw: { ...usage },
    },
    providerMetadata: { [PROVIDER]: { seed, timings: { ...timings } } },
  };
}

/** @param startedAt When the call was made. */
export function metadataOf(response: GenerationResponse, startedAt: Date): LanguageModelV4ResponseMetadata {
  const { requestId, model } = response;
  return { id: requestId, timestamp: startedAt, ...(model && { modelId: model.id }) };
}
