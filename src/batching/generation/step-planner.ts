import type { Admission } from './admission.ts';
import { Guesses, MOST_GUESSES } from './guesses.ts';
import type { KvPlanner } from './kv-planner.ts';
import {
  type ModelRunner,
  numStepTokensOf,
  numTokensOf,
  type DecodeStep,
  type PrefillStep,
  type SlotTransfer,
  type Step,
  type StepRow,
} from './model-runner.ts';
import { PrefillPace } from './prefill-pace.ts';
import type { SchedulerState } from './scheduler-state.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';

export type StepLimits = Pick<ModelRunner, 'maxPrefillRows' | 'maxScoredTokens' | 'maxGuessedTokens'>;

/** One token takes a step in any case. Where guesses are checked, a step takes as many as it may check of a sequence. */
const FEWEST_JUMPED_TOKENS = { plain: 2, besideGuesses: MOST_GUESSES + 1 };

/** A sequence that arrives waits for the steps in flight. So a further one is started only where those are over within so many ms. */
const MAX_FLIGHT_MS = 16;
const MAX_IN_FLIGHT = 8;

/** The steps that the device has been given. */
export interface Flight {
  readonly numInFlight: number;
  /** Resolves when the constraints have accepted the tokens of the first of them. */
  readonly accepted: Promise<void>;
}

/** Composes the next step: which rows it has, and what is copied before it. */
export class StepPlanner {
  readonly #state: SchedulerState;
  readonly #kv: KvPlanner;
  readonly #admission: Admission;
  readonly #limits: StepLimits;
  readonly #guesses: Guesses;
  readonly #pace = new PrefillPace();
  /** Since the last decode step. */
  #numPrefilledTokens = 0;

  constructor(state: SchedulerState, kv: KvPlanner, admission: Admission, limits: StepLimits) {
    this.#state = state;
    this.#kv = kv;
    this.#admission = admission;
    this.#limits = limits;
    this.#guesses = new Guesses(limits.maxGuessedTokens);
  }

  /** Call it when a step starts. */
  begin(step: Step, nowMs: number): void {
    this.#pace.start(step, nowMs);
  }

  /** Call it when a step has ended: what steps cost decides what later ones hold. */
  end(step: Step, nowMs: number): void {
    const ms = this.#pace.end(step, nowMs);
    if (step.kind === 'decode') this.#guesses.measure(numStepTokensOf(step), ms);
  }

  /** Prompt tokens that may be prefilled before the next decode step. */
  get prefillBudget(): number {
    const { maxBatchedTokens, prefillStallMs } = this.#state.policy;
    const { decoding } = this.#state;
    const isBackground = decoding.every((sequence) => sequence.isBackground);
    // Background sequences may be kept waiting for a prompt of the others.
    if (decoding.length === 0 || (isBackground && this.#admission.isForegroundNext)) return maxBatchedTokens;
    const stepTokens = Math.min(maxBatchedTokens, this.#pace.tokensWithin(prefillStallMs));
    // Nobody reads them as they come, so they start together. Each piece stays short: a prompt of the others may arrive in it.
    return isBackground ? stepTokens : stepTokens - this.#numPrefilledTokens;
  }

  /** Prefilled tokens that rows have waited for since their last decode step. */
  get #numDelaying(): number {
    return this.#state.decoding.length > 0 ? this.#numPrefilledTokens : 0;
  }

  /** See `Scheduler.scheduleBehind`. */
  planBehind(step: Step, { numInFlight, accepted }: Flight, nowMs: number): DecodeStep | undefined {
    const { numRunning, limits } = this.#state;
    if (step.kind !== 'decode' || numRunning !== step.rows.length) return undefined;
    if (numInFlight > 1 && !this.#isSoonOver(numInFlight)) return undefined;
    const { waiting, isUrgent } = this.#admission;
    if (waiting.length > 0 && (isUrgent || this.#admission.numPlaces(nowMs) > 0)) return undefined;
    const goesOn = (row: StepRow): boolean => {
      const sequence = this.#state.get(row.requestId);
      if (sequence?.numComputedTokens !== row.startPosition - (numInFlight - 1)) return false;
      if (sequence.isLastToken(limits, numInFlight)) return false;
      // A mask behind the token in flight isn't known before the token.
      if (numInFlight > 1) return !sequence.request.constraint?.mask;
      // The token in flight is the first of these.
      return !this.#isWorthJumping(sequence.forcedTokenIds.length - 1);
    };
    if (!step.rows.every(goesOn)) return undefined;
    this.#numPrefilledTokens = 0;
    const rows = step.rows.map(({ mask: _before, ...row }) => ({
      ...row,
      tokenIds: [],
      startPosition: row.startPosition + 1,
    }));
    const masks = this.#masksBehind(step, accepted);
    const length = 2 + Math.max(...step.rows.map(({ startPosition }) => startPosition));
    this.#kv.makeRoom({ length });
    const kvShape = this.#kv.reserve({ length });
    return { kind: 'decode', isBehind: true, kvShape, transfers: [], rows, ...(masks && { masks }) };
  }

  #isSoonOver(numInFlight: number): boolean {
    const { decodeMs = Infinity } = this.#pace;
    return numInFlight < MAX_IN_FLIGHT && numInFlight * decodeMs < MAX_FLIGHT_MS;
  }

  /** Known when the constraints have accepted the tokens of the step before. */
  #masksBehind({ rows }: DecodeStep, accepted: Promise<void>): DecodeStep['masks'] {
    const constraints = rows.map(({ requestId }) => this.#state.get(requestId)?.request.constraint);
    if (!constraints.some((constraint) => constraint?.mask)) return undefined;
    return accepted.then(() => constraints.map((constraint) => constraint?.mask?.()));
  }

  /** The forced tokens that the sequence takes without a step for each; none where the steps cost no more. */
  jumpOf(sequence: Sequence): readonly number[] {
    const { decoding, prefilling, limits } = this.#state;
    // The pass takes the staging row, which a prompt may be using.
    if (!sequence.isInSlot || prefilling.some(({ numComputedTokens }) => numComputedTokens > 0)) return [];
    const room = finalLengthOf(sequence.request, limits.contextLength) - sequence.tokens.length - 1;
    const pending = decoding.filter(({ numUncomputedTokens }) => numUncomputedTokens > 1);
    const numPending = pending.reduce((sum, { numUncomputedTokens }) => sum + numUncomputedTokens, 0);
    const budget = this.prefillBudget - numPending - 1;
    const tokenIds = sequence.forcedTokenIds.slice(0, Math.max(0, Math.min(room, budget)));
    return this.#isWorthJumping(tokenIds.length) ? tokenIds : [];
  }

  /** Each row that jumps takes a pass of its own, in which the others wait. */
  #isWorthJumping(numTokens: number): boolean {
    const { policy, numRunning } = this.#state;
    const isGuessing = policy.promptLookup && this.#limits.maxGuessedTokens > 0;
    return numTokens >= Math.max(FEWEST_JUMPED_TOKENS[isGuessing ? 'besideGuesses' : 'plain'], numRunning);
  }

  /** Computes the tokens that a sequence has jumped over, behind its K/V; undefined if none has. */
  planJump(): PrefillStep | undefined {
    const { decoding } = this.#state;
    const sequence = decoding.find(({ numUncomputedTokens }) => numUncomputedTokens > 1);
    if (!sequence) return undefined;
    const { length } = sequence.tokens;
    const row = rowOf(sequence, length);
    this.#numPrefilledTokens = this.#numDelaying + row.tokenIds.length;
    return {
      kind: 'prefill',
      kvShape: this.#kv.reserve({ length }),
      transfers: [],
      rows: [row],
      isLastChunk: true,
      reusedSlot: sequence.slot,
    };
  }

  planPrefill(first: Sequence, nowMs: number): PrefillStep {
    const isScored = first.request.promptLogprobs !== undefined;
    const reused = first.numComputedTokens === 0 ? this.#kv.findReusable(first) : undefined;
    if (reused) this.#kv.takeOver(first, reused);
    const cut = this.#kv.snapshotCutOf(first, this.#admission.waiting.all) ?? Infinity;
    const budget = Math.min(
      this.prefillBudget,
      isScored ? this.#limits.maxScoredTokens : Infinity,
      cut - first.numComputedTokens,
    );
    const isWhole = first.numComputedTokens === 0 && first.numPrefillTokens <= budget;
    const sequences = isWhole ? [first, ...this.#findCompanions(first, budget, nowMs)] : [first];
    for (const sequence of sequences) {
      if (sequence.numComputedTokens === sequence.numReusedTokens) sequence.start(nowMs);
      this.#state.lowerReservation(sequence);
    }
    const rows = sequences.map((sequence) => rowOf(sequence, budget));
    const numTokens = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
    this.#numPrefilledTokens = this.#numDelaying + rows.length * numTokens;
    const isLastChunk = sequences.every(
      ({ numPrefillTokens, numComputedTokens, request: { maxNewTokens } }) =>
        maxNewTokens > 0 && numPrefillTokens <= numComputedTokens + numTokens,
    );
    const length = first.numComputedTokens + numTokens;
    const demand = { length, numStagingRows: sequences.length };
    // A shared prefill copies from no slot, so its staging rows may take the place of spare slots.
    if (sequences.length > 1) this.#kv.makeRoom(demand);
    const kvShape = this.#kv.reserve(demand);
    const transfers = isLastChunk ? rows.flatMap(({ slot }) => this.#kv.rescue(slot)) : [];
    return {
      kind: 'prefill',
      kvShape,
      transfers,
      rows,
      isLastChunk,
      reusedSlot: reused?.slot,
      ...(reused?.snapshot !== undefined && { restoredSnapshot: reused.snapshot }),
      ...(length === cut && { takenSnapshot: this.#kv.takeSnapshot(first, cut) }),
    };
  }

  /** Whole prompts to compute beside the first in one pass, padded to one length. */
  #findCompanions(first: Sequence, budget: number, nowMs: number): readonly Sequence[] {
    const group = [first];
    const others = this.#state.prefilling.filter((other) => other !== first);
    for (const other of others) if (this.#fitsBeside(group, other, budget)) group.push(other);
    const { waiting } = this.#admission;
    for (let next = waiting.next; next; next = waiting.next) {
      if (this.#admission.numPlaces(nowMs) === 0 || !this.#fitsBeside(group, next, budget)) break;
      if (!this.#admission.admit(nowMs)) break;
      group.push(next);
    }
    return group.slice(1);
  }

  #fitsBeside(group: readonly Sequence[], next: Sequence, budget: number): boolean {
    if (group.length >= this.#limits.maxPrefillRows || this.#kv.findReusable(next)) return false;
    if ([...group, next].some(({ isPrefilledAlone }) => isPrefilledAlone)) return false;
    // The others don't wait for a longer step.
    if (group.some(({ isBackground }) => isBackground !== next.isBackground)) return false;
    if (group.some((other) => this.#kv.isWorthWaitingFor(other, next))) return false;
    const lengths = [...group, next].map(({ numPrefillTokens }) => numPrefillTokens);
    const numTokens = lengths.reduce((sum, length) => sum + length, 0);
    const length = Math.max(...lengths);
    const numPadded = lengths.length * length;
    const isDense = numPadded <= budget && numPadded <= (this.#kv.mayPad ? 2 : 1) * numTokens;
    return isDense && this.#kv.canHold({ next, length, numStagingRows: lengths.length });
  }

  planDecode(nowMs: number): DecodeStep | undefined {
    const joins = this.#joinBatch(nowMs);
    const { decoding } = this.#state;
    if (decoding.length === 0) return undefined;
    this.#numPrefilledTokens = 0;
    const moves = this.#state.closeHoles();
    const origins = new Set(moves.map(({ from }) => from));
    const transfers = [...joins, ...moves.flatMap((move) => [...this.#kv.rescue(move.to, origins), move])];
    const { policy, limits } = this.#state;
    const guesses = this.#guesses.choose(policy.promptLookup ? decoding : [], limits.contextLength);
    const rows = decoding
      .toSorted((a, b) => a.slot - b.slot)
      .map((sequence) => ({ ...rowOf(sequence, 1), ...guesses.get(sequence) }));
    const length = Math.max(...rows.map((row) => row.startPosition + numTokensOf(row)));
    return { kind: 'decode', isBehind: false, kvShape: this.#kv.reserve({ length }), transfers, rows };
  }

  /** Sequences whose prefix is in some slot copy it and decode with the others. */
  #joinBatch(nowMs: number): readonly SlotTransfer[] {
    const transfers = this.#state.prefilling.flatMap((sequence) => this.#tryJoin(sequence, nowMs));
    const { waiting } = this.#admission;
    for (let next = waiting.next; next && this.#admission.numPlaces(nowMs) > 0; next = waiting.next) {
      // No row may be freed for it here: the copies decided on come from spare slots.
      if (!this.#kv.hasRoomFor({ next }) || !this.#kv.findJoinable(next) || !this.#admission.admit(nowMs))
        break;
      transfers.push(...this.#tryJoin(next, nowMs));
    }
    return transfers;
  }

  #tryJoin(sequence: Sequence, nowMs: number): readonly SlotTransfer[] {
    const reused = this.#kv.findJoinable(sequence);
    if (!reused) return [];
    sequence.start(nowMs);
    this.#state.lowerReservation(sequence);
    const { slot } = sequence;
    this.#kv.takeOver(sequence, reused);
    this.#state.joinDecoding(sequence);
    const rescue = this.#kv.rescue(slot, new Set([reused.slot]));
    return slot === reused.slot ? rescue : [...rescue, { kind: 'copy', from: reused.slot, to: slot }];
  }
}

function rowOf(sequence: Sequence, budget: number): StepRow {
  const tokenIds = sequence.nextTokenIds(budget);
  const scoring = sequence.scoringOf(tokenIds.length);
  const mask = sequence.request.constraint?.mask?.();
  return {
    requestId: sequence.id,
    slot: sequence.slot,
    tokenIds,
    startPosition: sequence.numComputedTokens,
    sampling: sequence.request.sampling,
    tokenCounts: sequence.tokenCounts,
    ...(mask && { mask }),
    ...(scoring && { scoring }),
  };
}
