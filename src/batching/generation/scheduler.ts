import type { SampledToken } from '../sampling/sampling.ts';
import { Admission } from './admission.ts';
import type { FailedEvent, Progress, StepReason } from './events.ts';
import type { KvCacheLimits, KvShape } from './kv-memory.ts';
import { KvPlanner, type KvUsage } from './kv-planner.ts';
import type { DecodeStep, Step, StepOutput } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import type { GenerationRequest } from './request.ts';
import type { RequestId } from '../base/ids.ts';
import { SchedulerState } from './scheduler-state.ts';
import type { Sequence, SequenceLimits } from './sequence.ts';
import { StepPlanner, type Flight, type StepLimits } from './step-planner.ts';

export interface SchedulerOptions extends SequenceLimits, StepLimits {
  readonly policy: BatchingPolicy;
  readonly kvCacheLimits: KvCacheLimits;
}

/**
 * Decides which sequences run in the next step. Synchronous and total: `schedule` and `update` alternate, and `end` may
 * follow `update`. `addAll`, `abort` and `configure` may come at any time, also while a step runs.
 */
export class Scheduler {
  readonly #state: SchedulerState;
  readonly #kv: KvPlanner;
  readonly #admission: Admission;
  readonly #planner: StepPlanner;
  /** Whether the last step began a batch that was still partial when its wait was over. */
  #isTimedOut = false;

  constructor({ policy, kvCacheLimits, contextLength, eosTokenIds, ...stepLimits }: SchedulerOptions) {
    this.#state = new SchedulerState(policy, { contextLength, eosTokenIds });
    this.#kv = new KvPlanner(this.#state, kvCacheLimits);
    this.#admission = new Admission(this.#state, this.#kv);
    this.#planner = new StepPlanner(this.#state, this.#kv, this.#admission, stepLimits);
  }

  get policy(): BatchingPolicy {
    return this.#state.policy;
  }

  get numWaiting(): number {
    return this.#admission.waiting.length;
  }

  get numRunning(): number {
    return this.#state.numRunning;
  }

  get kvUsage(): KvUsage {
    return this.#kv.usage;
  }

  /** Why the step that was scheduled last holds no more sequences. */
  get reason(): StepReason {
    const { policy, maxBatchSize } = this.policy;
    if (this.numRunning >= (policy === 'off' ? 1 : maxBatchSize)) return 'full';
    if (this.#isTimedOut) return 'timeout';
    return this.numWaiting > 0 ? 'deferred' : 'idle';
  }

  /** When to schedule again although nothing happened: the end of an idle engine's batch wait. */
  get wakeAtMs(): number | undefined {
    return this.#admission.wakeAtMs;
  }

  /** See `Admission.isGathering`. */
  get isGathering(): boolean {
    return this.#admission.isGathering;
  }

  has(id: RequestId): boolean {
    return this.#admission.waiting.has(id) || this.#state.get(id) !== undefined;
  }

  /** Applies from the next decision on; running sequences go on. Returns the waiting requests that can't run any more. */
  configure(policy: BatchingPolicy): readonly Pick<FailedEvent, 'requestId' | 'error'>[] {
    this.#state.policy = policy;
    this.#kv.applyPolicy();
    return this.#admission.waiting.all.flatMap(({ id, request }) => {
      const error = this.#kv.errorFor(request);
      return error ? [{ requestId: id, error }] : [];
    });
  }

  /**
   * Accepts all requests, or none. `nowMs` never runs backwards: the queue is kept in order of arrival.
   *
   * @param wasAccepted Whether a lost engine had accepted them. If so, the queue's limits don't apply.
   * @throws KvBudgetError, BackPressureError, InvalidOptionError.
   */
  addAll(requests: readonly GenerationRequest[], nowMs: number, wasAccepted = false): void {
    this.#admission.addAll(requests, nowMs, wasAccepted);
  }

  /** Ends a waiting or running sequence at once; `update` drops its row of a step in flight. */
  abort(id: RequestId): boolean {
    const running = this.#state.get(id);
    if (!running) return this.#admission.waiting.remove(id) !== undefined;
    running.finish('abort');
    this.#remove(running);
    return true;
  }

  /** The ids of all that were there, the running ones first. */
  abortAll(): readonly RequestId[] {
    const ids = [...this.#state.running, ...this.#admission.waiting.all].map(({ id }) => id);
    for (const id of ids) this.abort(id);
    return ids;
  }

  /** See `KvPlanner.trimIdle`. Call it while no step is in flight. */
  trimIdleKvCache(): KvShape | undefined {
    return this.numRunning === 0 ? this.#kv.trimIdle() : undefined;
  }

  /** Undefined when there is nothing to do, or nothing yet: see `wakeAtMs`. */
  schedule(nowMs: number): Step | undefined {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = this.policy;
    const { isIdle } = this.#admission;
    if (isIdle && this.numWaiting === 0) return undefined;
    const isHeld = policy !== 'off' && batchWaitTimeoutMs > 0 && this.numWaiting < maxBatchSize;
    this.#isTimedOut = isIdle && isHeld;
    this.#admission.makeWay();
    this.#kv.beginStep();
    const step = this.#planner.planJump() ?? this.#planNext(nowMs);
    if (step) this.#begin(step, nowMs);
    return step;
  }

  #planNext(nowMs: number): Step | undefined {
    const next = this.#planner.prefillBudget > 0 ? this.#admission.nextToPrefill(nowMs) : undefined;
    return next ? this.#planner.planPrefill(next, nowMs) : this.#planner.planDecode(nowMs);
  }

  /**
   * The decode step that can follow this one, the last in flight, before its tokens are known. Undefined if the tokens or the waiting
   * requests might change the rows. A row may still end by an unforeseen token: `update` then drops what the later steps sample
   * for it.
   */
  scheduleBehind(step: Step, flight: Flight, nowMs: number): DecodeStep | undefined {
    const behind = this.#planner.planBehind(step, flight, nowMs);
    if (!behind) return undefined;
    this.#isTimedOut = false;
    this.#begin(behind, nowMs);
    return behind;
  }

  /** Updates the sequences of a step with its output; rows that were aborted meanwhile are left out. */
  update(step: Step, output: StepOutput, nowMs: number): readonly Progress[] {
    this.#admission.stepRate.end(step, nowMs);
    this.#planner.end(step, nowMs);
    if (output.samples.some((entry) => entry instanceof Error)) this.#kv.forgetPrefixes();
    const scores = output.promptLogprobs;
    return step.rows.flatMap((row, index) => {
      const sequence = this.#state.get(row.requestId);
      // The sequence of this row has ended; another one may have its id.
      if (sequence?.numComputedTokens !== row.startPosition) return [];
      const isStart = row.startPosition === sequence.numReusedTokens && !sequence.hasBegun;
      sequence.hasBegun = true;
      const entry = scores instanceof Error ? scores : output.samples[index];
      sequence.numComputedTokens += step.kind === 'decode' ? 1 : row.tokenIds.length;
      const isPrefilled = step.kind === 'prefill' && step.isLastChunk && !(entry instanceof Error);
      if (isPrefilled) this.#state.joinDecoding(sequence);
      const isScored = row.scoring && scores && !(scores instanceof Error);
      const promptLogprobs = isScored ? sequence.score(scores) : undefined;
      if (entry instanceof Error) sequence.finish(entry);
      else if (entry) sequence.append(entry.tokenId, nowMs, this.#state.limits);
      else if (sequence.isPromptAll) sequence.endAfterPrompt(nowMs);
      if (sequence.finishReason) this.#release(sequence, nowMs);
      const sample = entry instanceof Error ? undefined : entry;
      const sampled = sample?.tokenId;
      const { itlMs, numSampledTokens } = sequence;
      const isFirstToken = numSampledTokens === 1;
      const tokens = sample && !sequence.isAtEndToken ? [sample] : [];
      const further = (sample && output.furtherTokens?.[index]) ?? [];
      return [{ sequence, isStart, sampled, isFirstToken, itlMs, tokens, further, promptLogprobs }];
    });
  }

  /** The forced tokens that the sequence is to take at once. Call it while no step is in flight. */
  jumpOf(sequence: Sequence): readonly number[] {
    return this.#state.get(sequence.id) === sequence ? this.#planner.jumpOf(sequence) : [];
  }

  /** Adds a forced token to a sequence that `update` has returned, and that has not ended. */
  appendForced(progress: Progress, tokenId: number, nowMs: number): void {
    progress.sequence.appendForced(tokenId, nowMs, this.#state.limits);
    this.#note(progress, { tokenId, logprobs: undefined }, nowMs);
  }

  /** Adds the next of the `further` tokens, likewise. */
  appendFurther(progress: Progress, token: SampledToken, nowMs: number): void {
    progress.sequence.appendFurther(token.tokenId, nowMs, this.#state.limits);
    this.#note(progress, token, nowMs);
  }

  #note({ sequence, tokens }: Progress, token: SampledToken, nowMs: number): void {
    if (!sequence.isAtEndToken) tokens.push(token);
    if (sequence.finishReason) this.#release(sequence, nowMs);
  }

  /** Ends a sequence that `update` has returned. The reason replaces an earlier one, except `abort`. */
  end(sequence: Sequence, reason: 'stop' | Error, nowMs: number): void {
    if (sequence.finishReason === 'abort') return;
    sequence.finish(reason);
    if (this.#state.get(sequence.id) === sequence) this.#release(sequence, nowMs);
  }

  #begin(step: Step, nowMs: number): void {
    this.#admission.stepRate.start(step, nowMs);
    this.#planner.begin(step, nowMs);
    for (const { requestId, startPosition, tokenIds } of step.rows) {
      const sequence = this.#state.get(requestId);
      // A step behind another is given no tokens: it takes one from the device.
      if (sequence) sequence.numStartedTokens = startPosition + Math.max(1, tokenIds.length);
    }
  }

  #release(sequence: Sequence, nowMs: number): void {
    this.#admission.sequenceRate.end(sequence, nowMs);
    this.#remove(sequence);
  }

  #remove(sequence: Sequence): void {
    this.#admission.sequenceRate.forget(sequence);
    this.#state.remove(sequence);
    this.#kv.keep(sequence);
  }
}
