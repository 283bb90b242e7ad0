import type { GenerationChunk } from '../../../src/client/index.ts';
import type { GenerationResult } from '../../../src/protocol/generation.ts';
import type { StreamedUsage } from '../../../src/protocol/openai/generation-request.ts';

export type Usage = ReturnType<typeof toUsage>;

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

/** An end token counts although no chunk has its id. Without ids, a target's chunk counts as one token. */
export function numTokensIn({ tokenIds, text, finishReason }: GenerationChunk): number {
  return tokenIds.length || Number(text !== '' || finishReason === 'stop');
}
