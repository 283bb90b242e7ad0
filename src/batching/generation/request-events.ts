import type { RequestEvent, RequestTimings } from './events.ts';
import type { Progress } from './scheduler.ts';
import type { Sequence } from './sequence.ts';

/** What a step brought each request: started, prompt-scored, token, then finished or failed. */
export function requestEventsOf(progress: readonly Progress[], nowMs: number): readonly RequestEvent[] {
  return progress.flatMap(({ sequence, isStart, sampled, logprobs, promptLogprobs }) => {
    const { id: requestId, finishReason, error } = sequence;
    const events: RequestEvent[] = [];
    // Its end was told when it was aborted.
    if (finishReason === 'abort') return events;
    if (isStart) {
      const { queueWaitMs, numPrefillTokens, numReusedTokens } = sequence;
      events.push({ type: 'started', requestId, queueWaitMs, numPrefillTokens, numReusedTokens });
    }
    if (error) {
      events.push({ type: 'failed', requestId, finishReason: 'error', error });
      return events;
    }
    if (promptLogprobs) events.push({ type: 'prompt-scored', requestId, logprobs: promptLogprobs });
    if (sampled !== undefined && !sequence.isAtEndToken) {
      const { numSampledTokens, ttftMs, itlMs } = sequence;
      const latency = numSampledTokens === 1 ? { ttftMs } : { itlMs };
      events.push({ type: 'token', requestId, tokenId: sampled, ...(logprobs && { logprobs }), ...latency });
    }
    if (finishReason === 'stop' || finishReason === 'length') {
      const { outputTokenIds: tokenIds, numPromptTokens, numOutputTokens } = sequence;
      const timings = timingsOf(sequence, nowMs);
      events.push({
        type: 'finished',
        requestId,
        finishReason,
        tokenIds,
        numPromptTokens,
        numOutputTokens,
        timings,
      });
    }
    return events;
  });
}

function timingsOf(
  { arrivedAtMs, queueWaitMs, ttftMs, numSampledTokens }: Sequence,
  nowMs: number,
): RequestTimings {
  const e2eMs = nowMs - arrivedAtMs;
  const tpotMs = numSampledTokens > 1 ? (e2eMs - ttftMs) / (numSampledTokens - 1) : 0;
  return { queueWaitMs, ttftMs, e2eMs, tpotMs };
}
