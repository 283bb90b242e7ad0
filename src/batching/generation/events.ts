import type { PromptTokenLogprobs, TokenLogprobs } from '../sampling/logprobs.ts';
import { numStepTokensOf, type Step, type StepOutput, type StepRow } from './model-runner.ts';
import type { SampledToken } from '../sampling/sampling.ts';
import type { Sequence } from './sequence.ts';
import type { RequestId } from '../base/ids.ts';
import type { RuntimeLostError } from './runtime-lost-error.ts';
import type { EndReason, FinishReason } from './request.ts';

/** In ms, on the engine's clock, from when it received the request. The time at a lost engine is not included. */
export interface RequestTimings {
  /** Received -> first scheduled. */
  readonly queueWaitMs: number;
  /** Received -> first token sampled (queue wait and prefill included); `e2eMs` if no token was asked for. */
  readonly ttftMs: number;
  /** Received -> finished. */
  readonly e2eMs: number;
  /** (e2e - TTFT) / (tokens sampled - 1), the end token counted; 0 for a single token. */
  readonly tpotMs: number;
}

/** The first tokens of the prompt were run. */
export interface StartedEvent {
  readonly type: 'started';
  readonly requestId: RequestId;
  readonly queueWaitMs: number;
  /** Tokens of the prompt and resumed tokens. */
  readonly numPrefillTokens: number;
  /** The part of these whose K/V was copied from another sequence's row. */
  readonly numReusedTokens: number;
}

/** The prompt is scored, if the request asked for it: once, before its first token. */
export interface PromptScoredEvent {
  readonly type: 'prompt-scored';
  readonly requestId: RequestId;
  /** One entry per prompt token. */
  readonly logprobs: readonly PromptTokenLogprobs[];
}

/** One output token; never the end token. */
export interface TokenEvent {
  readonly type: 'token';
  readonly requestId: RequestId;
  readonly tokenId: number;
  /** Only if the request asked for them. */
  readonly logprobs?: TokenLogprobs;
  /** Received -> this token, for the first one. */
  readonly ttftMs?: number;
  /** Previous token -> this one, for every other. */
  readonly itlMs?: number;
}

/** One token of a request whose tokens are given. */
export interface TokenScoredEvent {
  readonly type: 'token-scored';
  readonly requestId: RequestId;
  readonly logprobs: TokenLogprobs;
}

export interface FinishedEvent {
  readonly type: 'finished';
  readonly requestId: RequestId;
  readonly finishReason: FinishReason;
  /** All output tokens, with the resumed ones and without the end token. */
  readonly tokenIds: readonly number[];
  readonly numPromptTokens: number;
  /** Counts `tokenIds` and the end token. */
  readonly numOutputTokens: number;
  readonly timings: RequestTimings;
}

export interface FailedEvent {
  readonly type: 'failed';
  readonly requestId: RequestId;
  readonly finishReason: Exclude<EndReason, FinishReason>;
  /**
   * `RequestCancelledError` or `ClosedError` for `abort`; `ModelRunError`, `StopConditionError` or the argument of
   * `failAll` for `error`.
   */
  readonly error: Error;
}

/**
 * Events of an accepted request, in order: started, prompt-scored, token… or token-scored…, then exactly one end. `failed` may come
 * first.
 */
export type RequestEvent =
  | StartedEvent
  | PromptScoredEvent
  | TokenEvent
  | TokenScoredEvent
  | FinishedEvent
  | FailedEvent;

/**
 * Why a step holds no more sequences. The first that applies, in this order:
 *
 * - `full`: the policy allows no more sequences.
 * - `timeout`: the engine was idle, and `batchWaitTimeoutMs` ran out before a batch was full.
 * - `deferred`: there are places, but requests wait for memory, for their prefill, or for a static batch to end.
 * - `idle`: no request waits.
 */
export type StepReason = 'full' | 'deferred' | 'timeout' | 'idle';

/** One forward pass. Durations in ms. */
export interface StepEvent {
  readonly stepIndex: number;
  readonly kind: 'prefill' | 'decode';
  readonly reason: StepReason;
  /** Whether it was launched while the step before it was in flight. */
  readonly isBehind: boolean;
  /** Sequences in the forward pass. */
  readonly batchSize: number;
  /** Tokens fed in, padding not counted: of the prompts (prefill); one for each sequence, and its guesses (decode). */
  readonly numTokens: number;
  /** Tokens of these that were guessed, and the part of the guesses that was right. */
  readonly numGuessedTokens: number;
  readonly numRightGuesses: number;
  /** Requests waiting when the step was scheduled. */
  readonly queueLength: number;
  /**
   * From the end of the previous step, or from scheduling if the engine was idle. It includes scheduling, run, readback,
   * sampling and the listener's work on the previous step.
   */
  readonly stepMs: number;
  readonly runMs: number;
  readonly readbackMs: number;
  /** On the engine's clock. */
  readonly endedAtMs: number;
  /** Which sequence was in which K/V slot; sequences that ended while the step was in flight are included. */
  readonly rows: readonly Pick<StepRow, 'requestId' | 'slot'>[];
  /** The events of the step, in the order of its rows. */
  readonly requests: readonly RequestEvent[];
}

/** Called synchronously. The engine ignores throws. */
export interface EngineListener {
  /** After each step, once. */
  onStep(event: StepEvent): void;
  /** Requests that end outside a step, by `abortAll`, `failAll` or `close`. */
  onEnded(events: readonly FailedEvent[]): void;
  /** The K/V cache of the idle engine is smaller now. */
  onMemoryGivenBack?(): void;
  /** The engine has stopped. Its requests are not ended by this, and can still be aborted. */
  onRuntimeLost?(error: RuntimeLostError): void;
}

/** The result of a step for one sequence. */
export interface Progress {
  readonly sequence: Sequence;
  /** Whether the step held the first chunk of its prompt. */
  readonly isStart: boolean;
  /** The sampled token; undefined after a prompt chunk that is not the last, and for a sequence that failed. */
  readonly sampled: number | undefined;
  /** The token that was sampled at first here: it has a time to first token. */
  readonly isFirstToken: boolean;
  /** Between the last token and the sampled one. */
  readonly itlMs: number;
  /** The output of the step so far, without an end token: the sampled token, then those behind right guesses, or forced ones. */
  readonly tokens: SampledToken[];
  /** The samples behind right guesses. The first ones are output, up to the end of the sequence. */
  readonly further: readonly SampledToken[];
  /** The whole prompt's, if this step has scored the last of it. */
  readonly promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
}

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
