import { KvBudgetError } from '../errors.ts';
import { KvMemory, type KvCacheLimits, type KvNeed, type KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';
import type { SlotTransfer } from './model-runner.ts';
import { longestOf, PrefixCache, type CachedPrefix } from './prefix-cache.ts';
import type { GenerationRequest } from './request.ts';
import type { SchedulerState } from './scheduler-state.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';

/** Memory of the K/V cache, in bytes. */
export interface KvUsage {
  /** Filled by the computed tokens of the running sequences. */
  readonly usedBytes: number;
  readonly reservedBytes: number;
}

/** Demand on the K/V cache beyond the running sequences. */
export interface KvDemand {
  /** A sequence to be admitted. */
  readonly next?: Sequence;
  /** Tokens of the longest row of this step. */
  readonly length?: number;
  readonly numStagingRows?: number;
}

/** Fewer shared tokens are not worth a copy: the prefill step computes them at hardly any extra cost. */
const FEWEST_REUSED_TOKENS = 32;

/** Plans the K/V cache: its size, the prefixes that a sequence can take over, and the rows to save from being overwritten. */
export class KvPlanner {
  readonly #state: SchedulerState;
  readonly #memory: KvMemory;
  readonly #prefixes: PrefixCache;
  readonly #hasFixedState: boolean;

  constructor(state: SchedulerState, limits: KvCacheLimits) {
    this.#state = state;
    this.#memory = new KvMemory(limits, state.policy.kvCacheMemoryBytes);
    this.#hasFixedState = limits.bytesPerRow > 0;
    this.#prefixes = new PrefixCache(this.#hasFixedState);
  }

  get usage(): KvUsage {
    const lengths = this.#state.running.map(({ numComputedTokens }) => numComputedTokens);
    return { usedBytes: this.#memory.bytesOfRows(lengths), reservedBytes: this.#memory.reservedBytes };
  }

  /** Whether tokens of padding behind a row's last one change nothing. */
  get mayPad(): boolean {
    return !this.#hasFixedState;
  }

  /** Call it after each change of the policy. */
  applyPolicy(): void {
    const { prefixCaching, kvCacheMemoryBytes } = this.#state.policy;
    if (!prefixCaching) this.#prefixes.clear();
    this.#memory.limitTo(kvCacheMemoryBytes);
  }

  /** Why the request can never run; undefined if it can. */
  errorFor(request: GenerationRequest): KvBudgetError | undefined {
    const finalLength = finalLengthOf(request, this.#state.limits.contextLength);
    if (this.#memory.canEverHold(finalLength)) return undefined;
    return KvBudgetError.of(finalLength, this.#memory.bytesForOne(finalLength), this.#memory.maxBytes);
  }

  /** Call it once before each step. */
  beginStep(): void {
    this.#memory.beginStep(this.#need({}));
    this.#prefixes.truncate(this.#memory.shape);
  }

  /** Gives back memory beyond the limits while nothing runs. Returns the new shape; undefined if it stays. */
  trimIdle(): KvShape | undefined {
    const { shape } = this.#memory;
    this.#memory.trim(this.#need({ numStagingRows: 0 }));
    if (this.#memory.shape === shape) return undefined;
    this.#prefixes.truncate(this.#memory.shape);
    return this.#memory.shape;
  }

  /** See `KvMemory.canHold`. */
  canHold(demand: KvDemand): boolean {
    return this.#memory.canHold(this.#need(demand));
  }

  /** See `KvMemory.hasRoomFor`. */
  hasRoomFor(demand: KvDemand): boolean {
    return this.#memory.hasRoomFor(this.#need(demand));
  }

  /** See `KvMemory.makeRoom`. Prefixes in the rows that are given back are lost. */
  makeRoom(demand: KvDemand): boolean {
    const isRoom = this.#memory.makeRoom(this.#need(demand));
    this.#prefixes.truncate(this.#memory.shape);
    return isRoom;
  }

  /** See `KvMemory.reserve`. */
  reserve(demand: KvDemand = {}): KvShape {
    return this.#memory.reserve(this.#need(demand));
  }

  /** Whether the sequence can skip its prefill: some row holds all of it but the last token. */
  canJoin(sequence: Sequence): boolean {
    return this.findReusable(sequence)?.length === sequence.numPrefillTokens - 1;
  }

  /** The row with the longest prefix of the sequence, if that is worth a copy. */
  findReusable(sequence: Sequence): CachedPrefix | undefined {
    if (sequence.numComputedTokens > 0 || sequence.maxReusedTokens === 0) return undefined;
    const { tokens, maxReusedTokens } = sequence;
    const found = longestOf(tokens, [...this.#prefixes.rows, ...this.#state.decoding], (row, length) =>
      this.#prefixes.canContinueAt(row, Math.min(length, maxReusedTokens)),
    );
    if (!found || !this.#isWorthReusing(sequence, found.length)) return undefined;
    return { slot: found.slot, length: Math.min(found.length, maxReusedTokens) };
  }

  /** Whether the sequence should wait for the K/V of this other one. */
  isWorthWaitingFor(other: Sequence, sequence: Sequence): boolean {
    const length = other.tokens.numShared(sequence.tokens);
    const prefilled = { numComputedTokens: other.numPrefillTokens };
    return (
      this.#isWorthReusing(sequence, length) &&
      this.#prefixes.canContinueAt(prefilled, Math.min(length, sequence.maxReusedTokens))
    );
  }

  takeOver(sequence: Sequence, { slot, length }: CachedPrefix): void {
    sequence.reuse(length);
    this.#prefixes.takeOver(slot, sequence.tokens);
  }

  /** The slot is about to be overwritten: its prefix replaces the least recently used one. */
  rescue(slot: KvSlot, except?: ReadonlySet<KvSlot>): readonly SlotTransfer[] {
    const free = this.#state.freeWithin(this.#memory.shape.numSlots);
    const to = this.#prefixes.rescue(
      slot,
      free.filter((other) => !except?.has(other)),
    );
    return to === undefined ? [] : [{ kind: 'copy', from: slot, to }];
  }

  /** The sequence has left its slot: what the row holds may serve another request. */
  keep(sequence: Sequence): void {
    const { isInSlot, finishReason, isInFlight } = sequence;
    // The token in flight is dropped. In K/V it is not read, but fixed state has moved on.
    const isIntact = finishReason !== 'error' && !(isInFlight && this.#hasFixedState);
    if (isInSlot && isIntact && this.#state.policy.prefixCaching) this.#prefixes.keep(sequence);
  }

  /** A step failed: its copies may not have been made. */
  forgetPrefixes(): void {
    this.#prefixes.clear();
  }

  #isWorthReusing({ numPrefillTokens }: Sequence, numShared: number): boolean {
    const isAllButLast = numPrefillTokens > 1 && numShared >= numPrefillTokens - 1;
    return this.#state.policy.prefixCaching && (isAllButLast || numShared >= FEWEST_REUSED_TOKENS);
  }

  #need({ next, length = 0, numStagingRows = 1 }: KvDemand): KvNeed {
    const { running, numRunning, numRows, limits } = this.#state;
    const finals = [...running, ...(next ? [next] : [])].map(({ request }) =>
      finalLengthOf(request, limits.contextLength),
    );
    return {
      numRows: next ? Math.max(numRows, numRunning + 1) : numRows,
      numStagingRows,
      length: Math.max(length, ...running.map(({ numComputedTokens }) => numComputedTokens + 1)),
      finalLength: Math.max(0, ...finals),
    };
  }
}
