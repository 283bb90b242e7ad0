import { Alarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { InvalidOptionError, RequestCancelledError, ModelRunError } from '../base/errors.ts';
import { closedByEngine, engineClosed, stopConditionFailed, modelRunFailed } from './generation-errors.ts';
import {
  stepEventOf,
  type EndedStep,
  type EngineListener,
  type FailedEvent,
  type Progress,
  type ScheduledStep,
} from './events.ts';
import type { KvUsage } from './kv-planner.ts';
import type { ModelRunner, StartedStep, Step, StepOutput } from './model-runner.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from './policy.ts';
import { updatePolicy } from './update-policy.ts';
import { checkRequest, limitOutput, type GenerationRequest } from './request.ts';
import type { RequestId } from '../base/ids.ts';
import { RuntimeLostError } from './runtime-lost-error.ts';
import { Scheduler } from './scheduler.ts';

export interface EngineOptions {
  readonly runner: ModelRunner;
  readonly clock: Clock;
  readonly listener: EngineListener;
  /** Prompt and output tokens together, per sequence. */
  readonly contextLength: number;
  readonly eosTokenIds: readonly number[];
  readonly policy?: BatchingPolicy;
}

type StepInFlight = StartedStep & ScheduledStep;

/** The loop that joins scheduler and model runner. It runs while there is work, and only `RuntimeLostError` ends it for good. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #scheduler: Scheduler;
  /** Rings when an idle engine has held a partial batch for long enough. */
  readonly #alarm: Alarm;
  /** Set while the loop runs or is about to. After `RuntimeLostError` it stays rejected: nothing runs any more. */
  #loop: Promise<void> | undefined;
  /** Undefined while the engine is idle. */
  #lastStepEndedAtMs: number | undefined;
  #numSteps = 0;
  #isClosed = false;

  constructor(options: EngineOptions) {
    const { runner, clock, contextLength, eosTokenIds, policy = DEFAULT_POLICY } = options;
    this.#options = options;
    this.#alarm = new Alarm(clock, () => this.#wake());
    this.#scheduler = new Scheduler({
      contextLength,
      eosTokenIds: new Set(eosTokenIds),
      policy,
      kvCacheLimits: runner.kvCacheLimits,
      maxPrefillRows: runner.maxPrefillRows,
      maxScoredTokens: runner.maxScoredTokens,
      maxGuessedTokens: runner.maxGuessedTokens,
    });
  }

  get policy(): BatchingPolicy {
    return this.#scheduler.policy;
  }

  /** Limit on a request's prompt and output tokens together, now: the smaller of the policy's limit and the model's. */
  get contextLength(): number {
    return Math.min(this.#options.contextLength, this.policy.maxContextLength);
  }

  get numRunning(): number {
    return this.#scheduler.numRunning;
  }

  get numWaiting(): number {
    return this.#scheduler.numWaiting;
  }

  get kvUsage(): KvUsage {
    return this.#scheduler.kvUsage;
  }

  /** Whether the request is waiting or running. */
  has(id: RequestId): boolean {
    return this.#scheduler.has(id);
  }

  /**
   * Accepts all requests, or none. The loop starts in a microtask, so requests submitted in one task can start as one batch.
   *
   * @param wasAccepted Whether a lost engine had accepted them. If so, the policy's limits don't apply.
   * @throws InvalidOptionError, KvBudgetError, BackPressureError, ClosedError.
   */
  submitAll(requests: readonly GenerationRequest[], wasAccepted = false): void {
    if (this.#isClosed) throw engineClosed();
    const ids = new Set<RequestId>();
    const contextLength = wasAccepted ? this.#options.contextLength : this.contextLength;
    for (const request of requests) {
      checkRequest(request, contextLength);
      if (ids.has(request.id) || this.has(request.id))
        throw InvalidOptionError.of('id', 'unique among unfinished requests', request.id);
      ids.add(request.id);
    }
    const limited = requests.map((request) => limitOutput(request, this.contextLength));
    this.#scheduler.addAll(limited, this.#options.clock.now(), wasAccepted);
    // The requests that were sent together with these may be on their way, so the alarm ends the wait.
    if (!this.#loop && this.#scheduler.isGathering) this.#alarm.set(this.#scheduler.wakeAtMs ?? Infinity);
    else this.#wake();
  }

  /** Ends the requests that wait or run, at once and in one event; false if none does. */
  abortAll(ids: readonly RequestId[]): boolean {
    return this.#remove(ids, 'abort', RequestCancelledError.because(undefined));
  }

  /** Like `abortAll`, but the requests end with this error. */
  failAll(ids: readonly RequestId[], error: Error): boolean {
    return this.#remove(ids, 'error', error);
  }

  /**
   * Changes some knobs from the next scheduling decision on. With a lower `kvCacheMemoryBytes`, an idle engine gives memory back,
   * and waiting requests that no longer fit fail with `KvBudgetError`.
   *
   * @throws InvalidOptionError, UnknownOptionError; then nothing is changed.
   */
  configure(knobs: unknown): BatchingPolicy {
    for (const { requestId, error } of this.#scheduler.configure(updatePolicy(this.policy, knobs))) {
      this.failAll([requestId], error);
    }
    this.#wake();
    return this.policy;
  }

  /** Ends every request with `ClosedError`; resolves when the step in flight has ended. @throws RuntimeLostError. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ids = this.#scheduler.abortAll();
    const error = closedByEngine();
    if (ids.length > 0) this.#end(ids, 'abort', error);
    await this.#loop;
  }

  #remove(ids: readonly RequestId[], finishReason: FailedEvent['finishReason'], error: Error): boolean {
    const removed = ids.filter((id) => this.#scheduler.abort(id));
    if (removed.length > 0) this.#end(removed, finishReason, error);
    return removed.length > 0;
  }

  #end(requestIds: readonly RequestId[], finishReason: FailedEvent['finishReason'], error: Error): void {
    const events = requestIds.map((requestId): FailedEvent => ({
      type: 'failed',
      requestId,
      finishReason,
      error,
    }));
    this.#emit(() => this.#options.listener.onEnded(events));
    this.#wake();
  }

  #wake(): void {
    this.#alarm.clear();
    if (this.#loop) return;
    this.#loop = Promise.resolve().then(() => this.#runUntilIdle());
    this.#loop.catch((error: unknown) => {
      if (!(error instanceof RuntimeLostError)) throw error;
      this.#emit(() => this.#options.listener.onRuntimeLost?.(error));
    });
  }

  async #runUntilIdle(): Promise<void> {
    const behind: StepInFlight[] = [];
    let current = this.#startNext();
    while (current) {
      const { promise: accepted, resolve: onAccepted } = Promise.withResolvers<void>();
      await this.#startBehind(current, behind, accepted);
      await this.#complete(current, behind.length === 0, onAccepted);
      current = behind.shift() ?? this.#startNext();
    }
    this.#loop = undefined;
    this.#lastStepEndedAtMs = undefined;
    this.#giveBackMemory();
    this.#alarm.set(this.#scheduler.wakeAtMs ?? Infinity);
  }

  #startNext(): StepInFlight | undefined {
    const nowMs = this.#options.clock.now();
    const step = this.#scheduler.schedule(nowMs);
    return step && this.#start(step, nowMs);
  }

  /** The device computes the next steps while the tokens of this one are read back. */
  async #startBehind(current: StepInFlight, behind: StepInFlight[], accepted: Promise<void>): Promise<void> {
    let last = behind.at(-1) ?? current;
    await last.launched;
    while (this.#options.runner.isPipelined) {
      const nowMs = this.#options.clock.now();
      const step = this.#scheduler.scheduleBehind(
        last.step,
        { numInFlight: 1 + behind.length, accepted },
        nowMs,
      );
      if (!step) return;
      last = this.#start(step, nowMs);
      behind.push(last);
      // It is launched when the tokens of the step before are accepted.
      if (step.masks) return;
      await last.launched;
    }
  }

  #start(step: Step, scheduledAtMs: number): StepInFlight {
    const queueLength = this.numWaiting;
    const { reason } = this.#scheduler;
    const { launched, output } = runStep(this.#options.runner, step, this.#options.clock);
    // When the runtime is lost, the loop does not wait for the steps behind.
    output.catch(() => {});
    return { step, scheduledAtMs, reason, queueLength, launched, output };
  }

  /** @param mayJump Whether no other step is in flight. */
  async #complete(current: StepInFlight, mayJump: boolean, onAccepted: () => void): Promise<void> {
    const output = await current.output;
    const endedAtMs = this.#options.clock.now();
    const progress = this.#scheduler.update(current.step, output, endedAtMs);
    const accepting = progress.flatMap((each) => this.#accept(each, each.sampled, endedAtMs) ?? []);
    // Without constraints there is nothing to wait for.
    if (accepting.length > 0) await Promise.all(accepting);
    for (const each of progress) if (each.further.length > 0) await this.#takeFurther(each, endedAtMs);
    const forcing = mayJump ? progress.filter(({ sequence }) => sequence.request.constraint?.forced) : [];
    for (const each of forcing) await this.#jump(each, endedAtMs);
    onAccepted();
    this.#emitStep(current, { output, progress, endedAtMs });
  }

  /** Asks the constraint of a sequence whether it stops after its new token. Undefined if the answer is there at once. */
  #accept({ sequence }: Progress, tokenId: number | undefined, nowMs: number): Promise<void> | undefined {
    const { finishReason, isAtEndToken, request } = sequence;
    if (tokenId === undefined || isAtEndToken || finishReason === 'abort') return undefined;
    const end = (stops: boolean | undefined): void => {
      if (stops) this.#scheduler.end(sequence, 'stop', nowMs);
    };
    const fail = (cause: unknown): void => {
      this.#scheduler.end(sequence, stopConditionFailed(cause), nowMs);
    };
    try {
      const stops = request.constraint?.accept(tokenId);
      if (stops instanceof Promise) return stops.then(end, fail);
      end(stops);
    } catch (cause) {
      fail(cause);
    }
    return undefined;
  }

  /** Appends the tokens behind right guesses, as if a step had sampled each. */
  async #takeFurther(progress: Progress, nowMs: number): Promise<void> {
    for (const token of progress.further) {
      if (progress.sequence.finishReason) break;
      this.#scheduler.appendFurther(progress, token, nowMs);
      await this.#accept(progress, token.tokenId, nowMs);
    }
  }

  /** Appends the tokens that must follow, as if steps had sampled them. A pass computes them together. */
  async #jump(progress: Progress, nowMs: number): Promise<void> {
    const { sequence } = progress;
    for (const tokenId of this.#scheduler.jumpOf(sequence)) {
      if (sequence.finishReason) break;
      this.#scheduler.appendForced(progress, tokenId, nowMs);
      await this.#accept(progress, tokenId, nowMs);
    }
  }

  #emitStep(scheduled: ScheduledStep, ended: EndedStep): void {
    const startedAtMs = this.#lastStepEndedAtMs ?? scheduled.scheduledAtMs;
    const stepIndex = this.#numSteps;
    this.#lastStepEndedAtMs = ended.endedAtMs;
    this.#numSteps += 1;
    const event = stepEventOf(scheduled, ended, { stepIndex, stepMs: ended.endedAtMs - startedAtMs });
    this.#emit(() => this.#options.listener.onStep(event));
  }

  #giveBackMemory(): void {
    const kvShape = this.#scheduler.trimIdleKvCache();
    if (!kvShape) return;
    try {
      this.#options.runner.resizeKvCache(kvShape);
    } catch {
      // The next step resizes the cache to the same shape, and fails if that cannot be done.
    }
    this.#emit(() => this.#options.listener.onMemoryGivenBack?.());
  }

  #emit(call: () => void): void {
    try {
      call();
    } catch {
      // The listener's own fault must not end the loop.
    }
  }
}

/** Starts a step. A run that fails becomes an output in which every row failed; only `RuntimeLostError` rejects the output. */
function runStep(runner: ModelRunner, step: Step, clock: Clock): StartedStep {
  const { launched, output } = startSafely(runner, step);
  return { launched: launched.catch(() => {}), output: settled(step, output, clock) };
}

function startSafely(runner: ModelRunner, step: Step): StartedStep {
  try {
    return runner.start(step);
  } catch (cause) {
    return { launched: Promise.resolve(), output: Promise.reject(cause) };
  }
}

async function settled(step: Step, running: Promise<StepOutput>, clock: Clock): Promise<StepOutput> {
  const calledAtMs = clock.now();
  try {
    const output = await running;
    return { ...output, samples: checkedSamples(step, output) };
  } catch (cause) {
    if (cause instanceof RuntimeLostError) throw cause;
    const samples = step.rows.map(() => modelRunError(cause));
    return { samples, runMs: clock.now() - calledAtMs, readbackMs: 0 };
  }
}

function checkedSamples(step: Step, { samples }: StepOutput): StepOutput['samples'] {
  const expected = step.kind === 'prefill' && !step.isLastChunk ? 0 : step.rows.length;
  if (samples.length !== expected) {
    throw new RangeError(`Expected ${expected} token ids from the runner, got ${samples.length}`);
  }
  return samples.map((entry) => (entry instanceof Error ? modelRunError(entry) : entry));
}

function modelRunError(cause: unknown): ModelRunError {
  return cause instanceof ModelRunError ? cause : modelRunFailed(cause);
}
