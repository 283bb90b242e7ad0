import type { GenerationChunk } from '../../../src/client/index.ts';
import type { GenerationResult } from '../../../src/protocol/generation.ts';

export type Usage = ReturnType<typeof toUsage>;

/** Which usage a stream reports. */
export interface StreamedUsage {
  /** The stream ends with a chunk that has the usage. */
  readonly isIncluded: boolean;
  /** Each chunk has the usage of its choice so far: vLLM's option. */
  readonly isContinuous: boolean;
}

/** The usage of a whole answer. */
export function usageOf(results: readonly GenerationResult[]) {
  const sum = (count: (result: GenerationResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  return {
    ...toUsage(
      sum(({ usage }) => usage.numPromptTokens),
      sum(({ usage }) => usage.numOutputTokens),
    ),
    prompt_tokens_details: { cached_tokens: sum(({ usage }) => usage.numCachedTokens) },
  };
}

export function toUsage(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** The field `usage` of a chunk, if it has one. */
export function usageIn({ isIncluded, isContinuous }: StreamedUsage, usage: Usage): object {
  if (isContinuous) return { usage };
  return isIncluded ? { usage: null } : {};
}

/** An end token counts although no chunk has its id. Without ids, an upstream's chunk counts as one token. */
export function numTokensIn({ tokenIds, text, finishReason }: GenerationChunk): number {
  return tokenIds.length || Number(text !== '' || finishReason === 'stop');
}
