import type { FinishedEvent, RequestEvent, StartedEvent, TokenEvent } from './events.ts';
import type { SampledToken } from '../sampling/sampling.ts';
import type { Progress } from './scheduler.ts';
import type { Sequence } from './sequence.ts';

/** What a step brought its sequences, told per request: started, token, finished or failed. */
export function requestEventsOf(progress: readonly Progress[], nowMs: number): readonly RequestEvent[] {
  return progress.flatMap(({ sequence, isStart, sampled, logprobs, promptLogprobs }) => {
    const { id: requestId } = sequence;
    const events: RequestEvent[] = isStart ? [startedEvent(sequence)] : [];
    if (sampled instanceof Error) {
      events.push({ type: 'failed', requestId, finishReason: 'error', error: sampled });
      return events;
    }
    if (promptLogprobs) events.push({ type: 'prompt-scored', requestId, logprobs: promptLogprobs });
    if (sampled !== undefined && !sequence.isAtEndToken)
      events.push(tokenEvent(sequence, { tokenId: sampled, logprobs }));
    events.push(...endEvents(sequence, nowMs));
    return events;
  });
}

function startedEvent({ id, queueWaitMs, numPrefillTokens, numReusedTokens }: Sequence): StartedEvent {
  return { type: 'started', requestId: id, queueWaitMs, numPrefillTokens, numReusedTokens };
}

function endEvents(sequence: Sequence, nowMs: number): readonly FinishedEvent[] {
  const { finishReason } = sequence;
  return finishReason === 'stop' || finishReason === 'length'
    ? [finishedEvent(sequence, finishReason, nowMs)]
    : [];
}

function tokenEvent(
  { id: requestId, numSampledTokens, ttftMs, itlMs }: Sequence,
  { tokenId, logprobs }: SampledToken,
): TokenEvent {
  const latency = numSampledTokens === 1 ? { ttftMs } : { itlMs };
  return { type: 'token', requestId, tokenId, ...(logprobs && { logprobs }), ...latency };
}

function finishedEvent(
  sequence: Sequence,
  finishReason: FinishedEvent['finishReason'],
  nowMs: number,
): FinishedEvent {
  const { id: requestId, outputTokenIds: tokenIds, numPromptTokens, numOutputTokens } = sequence;
  const { queueWaitMs, ttftMs, numSampledTokens } = sequence;
  const e2eMs = nowMs - sequence.arrivedAtMs;
  const tpotMs = numSampledTokens > 1 ? (e2eMs - ttftMs) / (numSampledTokens - 1) : 0;
  const timings = { queueWaitMs, ttftMs, e2eMs, tpotMs };
  return { type: 'finished', requestId, finishReason, tokenIds, numPromptTokens, numOutputTokens, timings };
}
