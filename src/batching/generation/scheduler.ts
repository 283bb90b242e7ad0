import { BackPressureError, InvalidOptionError, KvBudgetError, StopConditionError } from '../errors.ts';
import { DrainRate, retryAfterMsOf } from '../drain-rate.ts';
import { KvMemory, type KvCacheLimits, type KvNeed } from './kv-memory.ts';
import type { StepReason } from './events.ts';
import type { KvSlot } from './kv-slots.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../sampling/logprobs.ts';
import type { DecodeStep, PrefillStep, SlotTransfer, Step, StepOutput, StepRow } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import { longestOf, numSharedTokens, PrefixCache, type CachedPrefix } from './prefix-cache.ts';
import { RequestQueue, type TurnOwner } from './request-queue.ts';
import type { GenerationRequest, RequestId } from './request.ts';
import { RunningSequences } from './running-sequences.ts';
import { finalLengthOf, Sequence, type SequenceLimits } from './sequence.ts';

export interface SchedulerOptions extends SequenceLimits {
  readonly policy: BatchingPolicy;
  readonly kvCacheLimits: KvCacheLimits;
  /** Prompts that one prefill step may compute together. */
  readonly maxPrefillRows: number;
  /** Prompt tokens that one step may score. */
  readonly maxScoredTokens: number;
}

/** Memory of the K/V cache, in bytes. */
export interface KvUsage {
  /** By the tokens of what runs. */
  readonly usedBytes: number;
  readonly reservedBytes: number;
}

export interface UnfitRequest {
  readonly id: RequestId;
  readonly error: KvBudgetError;
}

/** Tokens of a prefix that are worth a copy: fewer are computed in the same pass as the others at hardly any cost. */
const FEWEST_REUSED_TOKENS = 32;

/** What a step brought one sequence. */
export interface Progress {
  readonly sequence: Sequence;
  /** Whether the step held the first chunk of its prompt. */
  readonly isStart: boolean;
  /** The token sampled, or why the sequence failed; undefined after a prompt chunk that is not the last. */
  readonly sampled: number | Error | undefined;
  /** Of the token sampled, where they were asked for. */
  readonly logprobs: TokenLogprobs | undefined;
  /** Of its whole prompt, where the step has scored the last of it. */
  readonly promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
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
  /** What runs, each from its admission to its end. */
  readonly #sequenceRate = new DrainRate();
  /** Steps, each from `schedule` to `update`. */
  readonly #stepRate = new DrainRate();
  readonly #memory: KvMemory;
  readonly #prefixes = new PrefixCache();
  readonly #maxPrefillRows: number;
  readonly #maxScoredTokens: number;
  /** Since the last decode step, or since nothing was there to decode. */
  #numPrefilledTokens = 0;
  /** The last step began a batch that was still partial when its wait was over. */
  #isTimedOut = false;

  constructor({ policy, kvCacheLimits, maxPrefillRows, maxScoredTokens, ...limits }: SchedulerOptions) {
    this.#limits = limits;
    this.#policy = policy;
    this.#memory = new KvMemory(kvCacheLimits, policy.kvCacheMemoryBytes);
    this.#maxPrefillRows = maxPrefillRows;
    this.#maxScoredTokens = maxScoredTokens;
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

  get kvUsage(): KvUsage {
    return {
      usedBytes:
        this.#memory.bytesPerToken * sumOf(this.#running.all.map((sequence) => sequence.numComputedTokens)),
      reservedBytes: this.#memory.reservedBytes,
    };
  }

  /** Of the step that was scheduled last. */
  get reason(): StepReason {
    const { policy, maxBatchSize } = this.#policy;
    if (this.numRunning >= (policy === 'off' ? 1 : maxBatchSize)) return 'full';
    if (this.#isTimedOut) return 'timeout';
    return this.numWaiting > 0 ? 'deferred' : 'idle';
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

  /** Governs the next decision; what runs keeps running. Returns what waits and can never run now, and why. */
  configure(policy: BatchingPolicy): readonly UnfitRequest[] {
    this.#policy = policy;
    this.#running.resize(policy.maxBatchSize);
    if (!policy.prefixCaching) this.#prefixes.clear();
    this.#memory.limitTo(policy.kvCacheMemoryBytes);
    return this.#waiting.all.flatMap((sequence) => {
      const error = this.#memoryErrorFor(sequence.finalLengthIn(this.#limits));
      return error ? [{ id: sequence.id, error }] : [];
    });
  }

  /** `nowMs` never runs backwards: the queue is kept in order of arrival. */
  add(request: GenerationRequest, nowMs: number): void {
    this.addAll([request], nowMs);
  }

  /**
   * All or none of some requests of one turn.
   *
   * @param wasAccepted Whether an engine that was lost had accepted them: then no limit of the queue keeps them out.
   */
  addAll(requests: readonly GenerationRequest[], nowMs: number, wasAccepted = false): void {
    const [first] = requests;
    if (!first) return;
    for (const request of requests) {
      const error = this.#memoryErrorFor(finalLengthOf(request, this.#limits.contextLength));
      if (error) throw error;
    }
    if (!wasAccepted) this.#checkRoom(first, requests.length, nowMs);
    for (const request of requests) this.#waiting.add(new Sequence(request, nowMs));
  }

  /** Ends a waiting or running sequence at once; a step in flight drops its row in `update`. */
  abort(id: RequestId): boolean {
    const running = this.#running.get(id);
    if (!running) return this.#waiting.remove(id) !== undefined;
    this.#remove(running);
    return true;
  }

  /** The ids of all that were there, the running ones first. */
  abortAll(): readonly RequestId[] {
    const ids = [...this.#running.ids, ...this.#waiting.all.map(({ id }) => id)];
    for (const id of ids) this.abort(id);
    return ids;
  }

  /** Undefined when there is nothing to do, or nothing yet: see `wakeAtMs`. */
  schedule(nowMs: number): Step | undefined {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = this.#policy;
    if (this.#isIdle && this.numWaiting === 0) return undefined;
    const isHeld = policy !== 'off' && batchWaitTimeoutMs > 0 && this.numWaiting < maxBatchSize;
    this.#isTimedOut = this.#isIdle && isHeld;
    this.#memory.beginStep(this.#need());
    this.#prefixes.truncate(this.#memory.shape);
    const step = this.#schedulePrefill(nowMs) ?? this.#scheduleDecode(nowMs);
    if (step) this.#stepRate.start(step, nowMs);
    return step;
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
    const need = this.#need({ length: 2 + Math.max(...step.rows.map(({ startPosition }) => startPosition)) });
    this.#makeRoom(need);
    this.#isTimedOut = false;
    const kvShape = this.#memory.reserve(need);
    const behind: DecodeStep = { kind: 'decode', isBehind: true, kvShape, transfers: [], rows };
    this.#stepRate.start(behind, nowMs);
    return behind;
  }

  /** Takes in what the step yielded; rows that were aborted meanwhile are left out. */
  update(step: Step, output: StepOutput, nowMs: number): readonly Progress[] {
    const progress: Progress[] = [];
    this.#stepRate.end(step, nowMs);
    // What it was to copy may not be where it was to go.
    if (output.tokenIds.some((entry) => entry instanceof Error)) this.#prefixes.clear();
    for (const [index, row] of step.rows.entries()) {
      const sequence = this.#running.get(row.requestId);
      // Gone, or another one of the same id.
      if (sequence?.numComputedTokens !== row.startPosition) continue;
      const entry = errorOf(output.promptLogprobs) ?? output.tokenIds[index];
      const isStart = row.startPosition === sequence.numReusedTokens;
      sequence.numComputedTokens += step.kind === 'decode' ? 1 : row.tokenIds.length;
      if (step.kind === 'prefill') sequence.isInSlot = step.isLastChunk && !(entry instanceof Error);
      const promptLogprobs = scoredBy(row, sequence, output);
      const sampled = this.#take(sequence, entry, nowMs);
      if (sampled instanceof Error) sequence.finish('error');
      else if (sampled === undefined && sequence.isPromptAll) sequence.endAfterPrompt(nowMs);
      // Gone where its `stopsAfter`, the caller's own code, has aborted it.
      if (this.#running.get(sequence.id) !== sequence) continue;
      if (sequence.status === 'finished') this.#finish(sequence, nowMs);
      const logprobs = output.logprobs?.[index];
      progress.push({ sequence, isStart, sampled, logprobs, promptLogprobs });
    }
    return progress;
  }

  /** Returns the token that was sampled for the sequence, or why it fails. */
  #take(sequence: Sequence, entry: number | Error | undefined, nowMs: number): Progress['sampled'] {
    if (typeof entry !== 'number') return entry;
    try {
      sequence.append(entry, nowMs, this.#limits);
      return entry;
    } catch (cause) {
      return StopConditionError.because(cause);
    }
  }

  get #isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** How long until so many places in the queue are likely to be free, in whole ms, at least 1. */
  #retryAfterMs(nowMs: number, numPlaces: number): number {
    return retryAfterMsOf(this.#remainingMs(nowMs, numPlaces));
  }

  #remainingMs(nowMs: number, numPlaces: number): number {
    const { policy, maxBatchSize } = this.#policy;
    const { size } = this.#running;
    const { next } = this.#waiting;
    const { oldest } = this.#waiting;
    const isFull = !oldest || this.numWaiting >= maxBatchSize;
    const ripeMs = isFull ? 0 : oldest.arrivedAtMs + this.#policy.batchWaitTimeoutMs - nowMs;
    if (this.#isIdle) return policy === 'off' ? 0 : ripeMs;
    // One after the other, or a batch when all that runs has ended.
    if (policy === 'off') return this.#sequenceRate.remainingMs(nowMs, size * numPlaces);
    if (policy === 'static') {
      const numEnds = size * Math.ceil(numPlaces / maxBatchSize);
      return Math.max(ripeMs, this.#sequenceRate.remainingMs(nowMs, numEnds));
    }
    // With a slot and memory to spare the next step admits, or the one after it where this one has no prefill budget left.
    if (next && this.#running.canAdmit && this.#memory.canHold(this.#need({ next })))
      return this.#stepRate.remainingMs(nowMs, numPlaces + 1);
    return this.#sequenceRate.remainingMs(nowMs, numPlaces + Math.max(0, size - maxBatchSize));
  }

  #schedulePrefill(nowMs: number): PrefillStep | undefined {
    if (this.#running.decoding.length === 0) this.#numPrefilledTokens = 0;
    const budget = this.#policy.maxBatchedTokens - this.#numPrefilledTokens;
    if (budget <= 0) return undefined;
    const sequence = this.#nextToPrefill(nowMs);
    return sequence && this.#prefill(sequence, budget, nowMs);
  }

  /**
   * The next whose prompt has to be computed. What can take its K/V over waits for the decode step, which copies it, and
   * fails with it.
   */
  #nextToPrefill(nowMs: number): Sequence | undefined {
    const { prefilling } = this.#running;
    // Nobody else may use its staging row before it is whole.
    const begun = prefilling.find(({ numComputedTokens }) => numComputedTokens > 0);
    if (begun) return begun;
    const findNext = (): Sequence | undefined => prefilling.find((sequence) => !this.#canJoin(sequence));
    const next = findNext();
    if (next) return next;
    // Making room for another sequence may have cost the prefix that one of these was to take over.
    return this.#admit(nowMs) ? this.#nextToPrefill(nowMs) : undefined;
  }

  #prefill(first: Sequence, policyBudget: number, nowMs: number): PrefillStep {
    const isScored = first.request.numPromptLogprobs !== undefined;
    const budget = isScored ? Math.min(policyBudget, this.#maxScoredTokens) : policyBudget;
    const reused = first.numComputedTokens === 0 ? this.#findReusable(first) : undefined;
    if (reused) {
      first.reuse(reused.length);
      this.#prefixes.touch(reused.slot);
    }
    const isWhole = first.numComputedTokens === 0 && first.numPrefillTokens <= budget;
    const sequences = isWhole ? [first, ...this.#findMates(first, budget, nowMs)] : [first];
    for (const sequence of sequences) {
      if (sequence.numComputedTokens === sequence.numReusedTokens) sequence.start(nowMs);
      this.#running.lowerReservation(sequence);
    }
    const rows = sequences.map((sequence) => rowOf(sequence, budget, this.#limits));
    const numTokens = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
    this.#numPrefilledTokens += rows.length * numTokens;
    const isLastChunk = sequences.every(
      ({ numPrefillTokens, numComputedTokens, request: { maxNewTokens } }) =>
        maxNewTokens > 0 && numPrefillTokens <= numComputedTokens + numTokens,
    );
    const need = this.#need({
      length: first.numComputedTokens + numTokens,
      numStagingRows: sequences.length,
    });
    // A shared prefill copies from no slot, so its staging rows may take the place of spare slots.
    if (sequences.length > 1) this.#makeRoom(need);
    const kvShape = this.#memory.reserve(need);
    const transfers = isLastChunk ? rows.flatMap(({ slot }) => this.#rescue(slot)) : [];
    return { kind: 'prefill', kvShape, transfers, rows, isLastChunk, reusedSlot: reused?.slot };
  }

  /** Whole prompts that are computed beside the first in one pass, padded to one length. */
  #findMates(first: Sequence, budget: number, nowMs: number): readonly Sequence[] {
    const group = [first];
    const others = this.#running.prefilling.filter((other) => other !== first);
    for (const other of others) if (this.#fitsBeside(group, other, budget)) group.push(other);
    for (let next = this.#waiting.next; next; next = this.#waiting.next) {
      if (this.#numPlaces(nowMs) === 0 || !this.#fitsBeside(group, next, budget) || !this.#admit(nowMs))
        break;
      group.push(next);
    }
    return group.slice(1);
  }

  #fitsBeside(group: readonly Sequence[], next: Sequence, budget: number): boolean {
    if (group.length >= this.#maxPrefillRows || this.#findReusable(next)) return false;
    if (group.some(({ isPrefilledAlone }) => isPrefilledAlone) || next.isPrefilledAlone) return false;
    // One that can take over the K/V of another is better off behind it.
    if (
      group.some((other) =>
        this.#isWorthReusing(next, numSharedTokens(other.prefillTokenIds, next.prefillTokenIds)),
      )
    )
      return false;
    const lengths = [...group, next].map(({ numPrefillTokens }) => numPrefillTokens);
    const numPadded = lengths.length * Math.max(...lengths);
    const need = this.#need({ next, length: Math.max(...lengths), numStagingRows: lengths.length });
    return numPadded <= budget && numPadded <= 2 * sumOf(lengths) && this.#memory.canHold(need);
  }

  #scheduleDecode(nowMs: number): DecodeStep | undefined {
    const joins = this.#joinBatch(nowMs);
    const { decoding } = this.#running;
    if (decoding.length === 0) return undefined;
    this.#numPrefilledTokens = 0;
    const moves = this.#running.closeHoles();
    const origins = new Set(moves.map(({ from }) => from));
    const transfers = [...joins, ...moves.flatMap((move) => [...this.#rescue(move.to, origins), move])];
    const rows = decoding
      .toSorted((a, b) => a.slot - b.slot)
      .map((sequence) => rowOf(sequence, 1, this.#limits));
    const kvShape = this.#memory.reserve(this.#need());
    return { kind: 'decode', isBehind: false, kvShape, transfers, rows };
  }

  /** Those of which all but the last token is in some slot take it over and decode with the others. */
  #joinBatch(nowMs: number): readonly SlotTransfer[] {
    const transfers: SlotTransfer[] = [];
    for (const sequence of this.#running.prefilling) transfers.push(...this.#tryJoin(sequence, nowMs));
    for (let next = this.#waiting.next; next && this.#numPlaces(nowMs) > 0; next = this.#waiting.next) {
      // Nothing may be given back for it here: the copies that were decided on come from spare slots.
      const isRoom = this.#memory.hasRoomFor(this.#need({ next }));
      if (!isRoom || !this.#canJoin(next) || !this.#admit(nowMs)) break;
      transfers.push(...this.#tryJoin(next, nowMs));
    }
    return transfers;
  }

  #tryJoin(sequence: Sequence, nowMs: number): readonly SlotTransfer[] {
    const reused = this.#findReusable(sequence);
    if (!reused || reused.length < sequence.numPrefillTokens - 1) return [];
    sequence.start(nowMs);
    this.#running.lowerReservation(sequence);
    const { slot } = sequence;
    sequence.reuse(reused.length);
    sequence.isInSlot = true;
    this.#prefixes.touch(reused.slot);
    const rescue = this.#rescue(slot);
    return slot === reused.slot ? rescue : [...rescue, { kind: 'copy', from: reused.slot, to: slot }];
  }

  #canJoin(sequence: Sequence): boolean {
    return this.#findReusable(sequence)?.length === sequence.numPrefillTokens - 1;
  }

  /** The row with the longest prefix of what is still to be computed in whole, where that is worth a copy. */
  #findReusable(sequence: Sequence): CachedPrefix | undefined {
    if (sequence.numComputedTokens > 0 || sequence.isPrefilledAlone) return undefined;
    const { prefillTokenIds } = sequence;
    const live = this.#running.decoding.map(
      ({ slot, computedTokenIds }) => [slot, computedTokenIds] as const,
    );
    const found = longestOf([...this.#prefixes.rows, ...live], prefillTokenIds);
    if (!found || !this.#isWorthReusing(sequence, found.length)) return undefined;
    // The last token is always computed: the next one is sampled from its logits.
    return { slot: found.slot, length: Math.min(found.length, prefillTokenIds.length - 1) };
  }

  #isWorthReusing({ numPrefillTokens }: Sequence, numShared: number): boolean {
    const isAllButLast = numPrefillTokens > 1 && numShared >= numPrefillTokens - 1;
    return this.#policy.prefixCaching && (isAllButLast || numShared >= FEWEST_REUSED_TOKENS);
  }

  /** The slot is about to be overwritten: what it holds takes the place of what was used least recently. */
  #rescue(slot: KvSlot, except?: ReadonlySet<KvSlot>): readonly SlotTransfer[] {
    const free = this.#running.freeSlotsWithin(this.#memory.shape.numSlots);
    const to = this.#prefixes.rescue(
      slot,
      free.filter((other) => !except?.has(other)),
    );
    return to === undefined ? [] : [{ kind: 'copy', from: slot, to }];
  }

  #finish(sequence: Sequence, nowMs: number): void {
    this.#sequenceRate.end(sequence, nowMs);
    this.#remove(sequence);
  }

  #remove(sequence: Sequence): void {
    this.#sequenceRate.forget(sequence);
    const { slot, isInSlot, finishReason } = sequence;
    this.#running.remove(sequence);
    if (isInSlot && finishReason !== 'error' && this.#policy.prefixCaching)
      this.#prefixes.keep(slot, sequence.computedTokenIds);
  }

  #checkRoom(owner: TurnOwner, numRequests: number, nowMs: number): void {
    const { maxQueuedRequests } = this.#policy;
    if (numRequests > maxQueuedRequests) throw InvalidOptionError.ofCrowd(numRequests, maxQueuedRequests);
    const limit = this.#waiting.limitFor(owner, maxQueuedRequests, numRequests);
    if (!limit) return;
    const { numMissing, ...details } = limit;
    throw BackPressureError.of({ ...details, retryAfterMs: this.#retryAfterMs(nowMs, numMissing) });
  }

  /** Why a sequence that may grow to this length can never run. */
  #memoryErrorFor(finalLength: number): KvBudgetError | undefined {
    if (this.#memory.canEverHold(finalLength)) return undefined;
    return KvBudgetError.of(finalLength, this.#memory.bytesForOne(finalLength), this.#memory.maxBytes);
  }

  /** As `KvMemory.makeRoom`. Prefixes in what is given back are lost. */
  #makeRoom(need: KvNeed): boolean {
    const isRoom = this.#memory.makeRoom(need);
    this.#prefixes.truncate(this.#memory.shape);
    return isRoom;
  }

  /** What runs, `next` with it. */
  #need({ next, length = 0, numStagingRows = 1 }: NeedOptions = {}): KvNeed {
    const { numRows, size, all } = this.#running;
    const finals = [...all, ...(next ? [next] : [])].map((sequence) => sequence.finalLengthIn(this.#limits));
    return {
      numRows: next ? Math.max(numRows, size + 1) : numRows,
      numStagingRows,
      length: Math.max(length, ...all.map(({ numComputedTokens }) => numComputedTokens + 1)),
      finalLength: Math.max(0, ...finals),
    };
  }

  /** Lets in as many as the policy has places for; returns the first. */
  #admit(nowMs: number): Sequence | undefined {
    let first: Sequence | undefined;
    for (let places = this.#numPlaces(nowMs); places > 0; places -= 1) {
      const sequence = this.#waiting.next;
      if (!sequence || !this.#makeRoom(this.#need({ next: sequence }))) break;
      this.#waiting.take();
      this.#running.admit(sequence);
      this.#sequenceRate.start(sequence, nowMs);
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

interface NeedOptions {
  /** A sequence to be admitted. */
  readonly next?: Sequence;
  /** Tokens of the longest row of this step. */
  readonly length?: number;
  readonly numStagingRows?: number;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function rowOf(sequence: Sequence, budget: number, limits: SequenceLimits): StepRow {
  const tokenIds = sequence.nextTokenIds(budget);
  const scoring = sequence.scoringOf(tokenIds.length);
  const ban = sequence.banIn(limits);
  return {
    requestId: sequence.id,
    slot: sequence.slot,
    tokenIds,
    startPosition: sequence.numComputedTokens,
    sampling: sequence.request.sampling,
    tokenCounts: sequence.tokenCounts,
    ...(ban && { ban }),
    ...(scoring && { scoring }),
  };
}

function errorOf(promptLogprobs: StepOutput['promptLogprobs']): Error | undefined {
  return promptLogprobs instanceof Error ? promptLogprobs : undefined;
}

/** The logprobs of the whole prompt, where this step has completed them. */
function scoredBy(
  { scoring }: StepRow,
  sequence: Sequence,
  { promptLogprobs }: StepOutput,
): readonly PromptTokenLogprobs[] | undefined {
  if (!scoring || !promptLogprobs || promptLogprobs instanceof Error) return undefined;
  return sequence.score(promptLogprobs);
}
