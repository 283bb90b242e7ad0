import type { RequestEvent, RequestTimings, StepEvent, TokenEvent } from './events.ts';
import { numStepTokensOf, type Step, type StepOutput, type StepRow } from './model-runner.ts';
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
    numTokens: numStepTokensOf(step),
    numGuessedTokens: countGuesses(rows, () => Infinity),
    numRightGuesses: countGuesses(rows, (row) => output.furtherTokens?.[row]?.length ?? 0),
    queueLength,
    runMs,
    readbackMs,
    endedAtMs,
    rows,
    requests: progress.flatMap((each) => requestEventsOf(each, endedAtMs)),
  };
}

/** Tokens that are guessed and not forced, among the first ones of each row. */
function countGuesses(rows: readonly StepRow[], numFirst: (row: number) => number): number {
  return rows.reduce((sum, { areForced = [] }, row) => {
    return sum + areForced.slice(0, numFirst(row)).filter((isForced) => !isForced).length;
  }, 0);
}

/** The events of one request in a step: started, prompt-scored, token or token-scored, then finished or failed. */
function requestEventsOf(progress: Progress, nowMs: number): readonly RequestEvent[] {
  const { sequence, isStart, tokens, promptLogprobs } = progress;
  const { id: requestId, finishReason, error } = sequence;
  const events: RequestEvent[] = [];
  // Its end was reported when it was aborted.
  if (finishReason === 'abort') return events;
  if (isStart) events.push(startedEventOf(sequence));
  if (error) {
    events.push({ type: 'failed', requestId, finishReason: 'error', error });
    return events;
  }
  if (promptLogprobs) events.push({ type: 'prompt-scored', requestId, logprobs: promptLogprobs });
  for (const [index, { tokenId, logprobs }] of tokens.entries()) {
    if (sequence.request.isScore) {
      if (logprobs) events.push({ type: 'token-scored', requestId, logprobs });
      continue;
    }
    const latency = index === 0 ? latencyOf(progress) : { itlMs: 0 };
    events.push({ type: 'token', requestId, tokenId, ...(logprobs && { logprobs }), ...latency });
  }
  if (finishReason === 'stop' || finishReason === 'length')
    events.push(finishedEventOf(sequence, finishReason, nowMs));
  return events;
}

function startedEventOf({ id, queueWaitMs, numPrefillTokens, numReusedTokens }: Sequence): RequestEvent {
  return { type: 'started', requestId: id, queueWaitMs, numPrefillTokens, numReusedTokens };
}

function latencyOf({ sequence, isFirstToken, itlMs }: Progress): Pick<TokenEvent, 'ttftMs' | 'itlMs'> {
  return isFirstToken ? { ttftMs: sequence.ttftMs } : { itlMs };
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
