import { checkLogits, logprobsOf, type TokenLogprobs } from '../../batching/sampling/logprobs.ts';
import { yieldToHost } from '../../platform/yield-to-host.ts';

/** Scoring a long prompt over a large vocabulary takes longer, so it lets messages in between. */
const MAX_BUSY_MS = 4;

/**
 * The logprobs of known tokens, each with the likeliest tokens in its place.
 *
 * @param logits float32 [tokens, vocabulary]: row i predicts token i.
 * @returns A `RangeError` where a logit is NaN or +Infinity, or all of a row are -Infinity.
 */
export async function scoreTokens(
  logits: Float32Array,
  tokenIds: readonly number[],
  numLogprobs: number,
): Promise<readonly TokenLogprobs[] | RangeError> {
  const vocabSize = logits.length / tokenIds.length;
  const scratch = new Int32Array(vocabSize);
  const scores: TokenLogprobs[] = [];
  let yieldedAtMs = performance.now();
  for (const [index, tokenId] of tokenIds.entries()) {
    const row = logits.subarray(index * vocabSize, (index + 1) * vocabSize);
    const fault = checkLogits(row);
    if (fault) return fault;
    scores.push(logprobsOf(row, tokenId, numLogprobs, scratch));
    if (performance.now() - yieldedAtMs < MAX_BUSY_MS) continue;
    await yieldToHost();
    yieldedAtMs = performance.now();
  }
  return scores;
}
