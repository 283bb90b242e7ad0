import type { RequestEvent, RequestTimings, StepEvent } from './events.ts';
import type { Step, StepOutput } from './model-runner.ts';
import type { Progress } from './scheduler.ts';
import type { FinishReason } from './request.ts';
import type { Sequence } from './sequence.ts';

export interface ScheduledStep extends Pick<StepEvent, 'reason' | 'queueLength'> {
  readonly step: Step;
  readonly scheduledAtMs: number;
}

export interface EndedStep {
  readonly output: StepOutput;
  readonly progress: readonly Progress[];
  readonly endedAtMs: number;
}

/** Reports a step to the listener. */
export function stepEventOf(
  { step, reason, queueLength }: ScheduledStep,
  { output, progress, endedAtMs }: EndedStep,
  measured: Pick<StepEvent, 'stepIndex' | 'stepMs'>,
): StepEvent {
  const { kind, rows } = step;
  const { runMs, readbackMs } = output;
  return {
    ...measured,
    kind,
    reason,
    batchSize: rows.length,
    isBehind: step.kind === 'decode' && step.isBehind,
    numTokens: kind === 'decode' ? rows.length : rows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    queueLength,
    runMs,
    readbackMs,
    endedAtMs,
    rows,
    requests: progress.flatMap((each) => requestEventsOf(each, endedAtMs)),
  };
}

/** The events of one request in a step: started, prompt-scored, token, then finished or failed. */
function requestEventsOf(progress: Progress, nowMs: number): readonly RequestEvent[] {
  const { sequence, isStart, sampled, forced, promptLogprobs } = progress;
  const { id: requestId, finishReason, error, isAtEndToken } = sequence;
  const events: RequestEvent[] = [];
  // Its end was reported when it was aborted.
  if (finishReason === 'abort') return events;
  if (isStart) events.push(startedEventOf(sequence));
  if (error) {
    events.push({ type: 'failed', requestId, finishReason: 'error', error });
    return events;
  }
  if (promptLogprobs) events.push({ type: 'prompt-scored', requestId, logprobs: promptLogprobs });
  if (sampled !== undefined && (!isAtEndToken || forced.length > 0))
    events.push(tokenEventOf(progress, sampled));
  for (const tokenId of forced) events.push({ type: 'token', requestId, tokenId, itlMs: 0 });
  if (finishReason === 'stop' || finishReason === 'length')
    events.push(finishedEventOf(sequence, finishReason, nowMs));
  return events;
}

function startedEventOf({ id, queueWaitMs, numPrefillTokens, numReusedTokens }: Sequence): RequestEvent {
  return { type: 'started', requestId: id, queueWaitMs, numPrefillTokens, numReusedTokens };
}

function tokenEventOf({ sequence, isFirstToken, itlMs, logprobs }: Progress, tokenId: number): RequestEvent {
  const { id: requestId, ttftMs } = sequence;
  const latency = isFirstToken ? { ttftMs } : { itlMs };
  return { type: 'token', requestId, tokenId, ...(logprobs && { logprobs }), ...latency };
}

function finishedEventOf(sequence: Sequence, finishReason: FinishReason, nowMs: number): RequestEvent {
  const { id: requestId, outputTokenIds: tokenIds, numPromptTokens, numOutputTokens } = sequence;
  const timings = timingsOf(sequence, nowMs);
  return { type: 'finished', requestId, finishReason, tokenIds, numPromptTokens, numOutputTokens, timings };
}

function timingsOf(
  { arrivedAtMs, queueWaitMs, ttftMs, numSampledTokens }: Sequence,
  nowMs: number,
): RequestTimings {
  const e2eMs = nowMs - arrivedAtMs;
  const tpotMs = numSampledTokens > 1 ? (e2eMs - ttftMs) / (numSampledTokens - 1) : 0;
  return { queueWaitMs, ttftMs, e2eMs, tpotMs };
}
