import { BackPressureError } from '../errors.ts';
import { DrainRate } from '../drain-rate.ts';
import type { TokenLogprobs } from './logprobs.ts';
import type { DecodeStep, PrefillStep, Step, StepOutput, StepRow } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import { RequestQueue } from './request-queue.ts';
import type { GenerationRequest, RequestId } from './request.ts';
import { RunningSequences } from './running-sequences.ts';
import { Sequence, type SequenceLimits } from './sequence.ts';

export interface SchedulerOptions extends SequenceLimits {
  readonly policy: BatchingPolicy;
}

/** What a step brought one sequence. */
export interface Progress {
  readonly sequence: Sequence;
  /** Whether the step held the first chunk of its prompt. */
  readonly isStart: boolean;
  /** The token sampled, or why the sequence failed; undefined after a prompt chunk that is not the last. */
  readonly sampled: number | Error | undefined;
  /** Of the token sampled, where they were asked for. */
  readonly logprobs: TokenLogprobs | undefined;
}

/**
 * Decides which sequences run in the next step. Synchronous and total: `schedule` and `update` alternate, `add`,
 * `abort` and `configure` may come at any time, also while a step runs.
 */
export class Scheduler {
  readonly #limits: SequenceLimits;
  #policy: BatchingPolicy;
  readonly #waiting = new RequestQueue<Sequence>();
  readonly #running: RunningSequences;
  readonly #drainRate = new DrainRate();
  /** Since the last decode step, or since nothing was there to decode. */
  #numPrefilledTokens = 0;

  constructor({ policy, ...limits }: SchedulerOptions) {
    this.#limits = limits;
    this.#policy = policy;
    this.#running = new RunningSequences(policy.maxBatchSize);
  }

  get policy(): BatchingPolicy {
    return this.#policy;
  }

  get numWaiting(): number {
    return this.#waiting.length;
  }

  get numRunning(): number {
    return this.#running.size;
  }

  get numSlotsInUse(): number {
    return this.#running.numSlotsInUse;
  }

  /** When to look again although nothing happened: the end of an idle engine's batch wait. */
  get wakeAtMs(): number | undefined {
    const { oldest } = this.#waiting;
    if (!this.#isIdle || !oldest) return undefined;
    return oldest.arrivedAtMs + this.#policy.batchWaitTimeoutMs;
  }

  has(id: RequestId): boolean {
    return this.#waiting.has(id) || this.#running.get(id) !== undefined;
  }

  /** Governs the next decision; what runs keeps running. */
  configure(policy: BatchingPolicy): void {
    this.#policy = policy;
    this.#running.resize(policy.maxBatchSize);
  }

  /** `nowMs` never runs backwards: the queue is kept in order of arrival. */
  add(request: GenerationRequest, nowMs: number): void {
    this.addAll([request], nowMs);
  }

  /** All or none of some requests of one client. */
  addAll(requests: readonly GenerationRequest[], nowMs: number): void {
    const [first] = requests;
    if (!first) return;
    const limit = this.#waiting.limitFor(first.clientId, this.#policy.maxQueuedRequests, requests.length);
    if (limit) throw BackPressureError.of({ ...limit, retryAfterMs: this.#drainRate.retryAfterMs });
    for (const request of requests) this.#waiting.add(new Sequence(request, nowMs));
  }

  /** Ends a waiting or running sequence at once; a step in flight drops its row in `update`. */
  abort(id: RequestId): boolean {
    const running = this.#running.get(id);
    if (!running) return this.#waiting.remove(id) !== undefined;
    this.#running.remove(running);
    return true;
  }

  /** The ids of all that were there, the running ones first. */
  abortAll(): readonly RequestId[] {
    const ids = [...this.#running.ids, ...this.#waiting.ids];
    for (const id of ids) this.abort(id);
    return ids;
  }

  /** Undefined when there is nothing to do, or nothing yet: see `wakeAtMs`. */
  schedule(nowMs: number): Step | undefined {
    return this.#schedulePrefill(nowMs) ?? this.#scheduleDecode();
  }

  /**
   * The decode step that can follow this one before its tokens are known; undefined where they, or what waits, might
   * change the rows. A row may still end by a token that cannot be foreseen: what the step behind samples for it is
   * left out in `update`.
   */
  scheduleBehind(step: Step, nowMs: number): DecodeStep | undefined {
    if (step.kind !== 'decode' || this.#running.size !== step.rows.length) return undefined;
    if (this.numWaiting > 0 && this.#numPlaces(nowMs) > 0) return undefined;
    const goesOn = (row: StepRow): boolean => {
      const sequence = this.#running.get(row.requestId);
      return sequence?.numComputedTokens === row.startPosition && !sequence.isLastToken(this.#limits);
    };
    if (!step.rows.every(goesOn)) return undefined;
    this.#numPrefilledTokens = 0;
    const rows = step.rows.map((row) => ({ ...row, tokenIds: [], startPosition: row.startPosition + 1 }));
    return { kind: 'decode', isBehind: true, moves: [], rows };
  }

  /** Takes in what the step yielded; rows that were aborted meanwhile are left out. */
  update(step: Step, output: StepOutput, nowMs: number): readonly Progress[] {
    const progress: Progress[] = [];
    for (const [index, row] of rowsOf(step).entries()) {
      const sequence = this.#running.get(row.requestId);
      // Gone, or another one of the same id.
      if (sequence?.numComputedTokens !== row.startPosition) continue;
      const sampled = output.tokenIds[index];
      sequence.numComputedTokens += step.kind === 'decode' ? 1 : row.tokenIds.length;
      if (sampled instanceof Error) sequence.finish('error');
      else if (sampled !== undefined) sequence.append(sampled, nowMs, this.#limits);
      if (sequence.status === 'finished') this.#running.remove(sequence);
      const logprobs = output.logprobs?.[index];
      progress.push({ sequence, isStart: row.startPosition === 0, sampled, logprobs });
    }
    return progress;
  }

  get #isIdle(): boolean {
    return this.#running.size === 0;
  }

  #schedulePrefill(nowMs: number): PrefillStep | undefined {
    if (this.#running.decoding.length === 0) this.#numPrefilledTokens = 0;
    const budget = this.#policy.maxBatchedTokens - this.#numPrefilledTokens;
    if (budget <= 0) return undefined;
    const sequence = this.#running.prefilling[0] ?? this.#admit(nowMs);
    if (!sequence) return undefined;
    if (sequence.numComputedTokens === 0) sequence.start(nowMs);
    this.#running.lowerReservation(sequence);
    const row = rowOf(sequence, budget);
    this.#numPrefilledTokens += row.tokenIds.length;
    const isLastChunk = row.startPosition + row.tokenIds.length === sequence.numPrefillTokens;
    return { kind: 'prefill', row, isLastChunk };
  }

  #scheduleDecode(): DecodeStep | undefined {
    const { decoding } = this.#running;
    if (decoding.length === 0) return undefined;
    this.#numPrefilledTokens = 0;
    const moves = this.#running.closeHoles();
    const rows = decoding.toSorted((a, b) => a.slot - b.slot).map((sequence) => rowOf(sequence, 1));
    return { kind: 'decode', isBehind: false, moves, rows };
  }

  /** Lets in as many as the policy has places for; returns the first. */
  #admit(nowMs: number): Sequence | undefined {
    let first: Sequence | undefined;
    for (let places = this.#numPlaces(nowMs); places > 0; places -= 1) {
      const sequence = this.#waiting.take();
      if (!sequence) break;
      this.#running.admit(sequence);
      this.#drainRate.recordAdmission(nowMs, this.numWaiting);
      first ??= sequence;
    }
    return first;
  }

  /** `continuous` admits one by one, so that each choice is made as late as possible; a `static` batch is cut at once. */
  #numPlaces(nowMs: number): number {
    const { policy, maxBatchSize } = this.#policy;
    switch (policy) {
      case 'off':
        return this.#isIdle ? 1 : 0;
      case 'static':
        return this.#isIdle && this.#isBatchDue(nowMs) ? maxBatchSize : 0;
      case 'continuous':
        return this.#running.canAdmit && (!this.#isIdle || this.#isBatchDue(nowMs)) ? 1 : 0;
    }
  }

  #isBatchDue(nowMs: number): boolean {
    return this.numWaiting >= this.#policy.maxBatchSize || nowMs >= (this.wakeAtMs ?? Infinity);
  }
}

/** The rows of a step, whatever its kind. */
export function rowsOf(step: Step): readonly StepRow[] {
  return step.kind === 'prefill' ? [step.row] : step.rows;
}

function rowOf(sequence: Sequence, budget: number): StepRow {
  return {
    requestId: sequence.id,
    slot: sequence.slot,
    tokenIds: sequence.nextTokenIds(budget),
    startPosition: sequence.numComputedTokens,
    sampling: sequence.request.sampling,
    tokenCounts: sequence.tokenCounts,
  };
}
