import { KvBudgetError } from '../base/errors.ts';
import { kvBudgetExceeded } from './generation-errors.ts';
import { KvMemory, type KvCacheLimits, type KvNeed, type KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';
import type { SlotTransfer } from './model-runner.ts';
import { longestOf, PrefixCache, type CachedPrefix, type HeldRow } from './prefix-cache.ts';
import type { GenerationRequest } from './request.ts';
import type { SchedulerState } from './scheduler-state.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';
import { Snapshots } from './snapshots.ts';

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

/** Templates end a prompt with a few tokens that the chat's next turn may not have, like the empty thinking of Qwen3.5. */
const PROMPT_END_TOKENS = 16;

/** Plans the K/V cache: its size, the prefixes that a sequence can take over, and the rows to save from being overwritten. */
export class KvPlanner {
  readonly #state: SchedulerState;
  readonly #memory: KvMemory;
  readonly #prefixes = new PrefixCache();
  readonly #snapshots = new Snapshots();
  readonly #hasFixedState: boolean;

  constructor(state: SchedulerState, limits: KvCacheLimits) {
    this.#state = state;
    this.#memory = new KvMemory(limits, state.policy.kvCacheMemoryBytes);
    this.#hasFixedState = limits.bytesPerRow > 0;
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
    if (!prefixCaching) this.forgetPrefixes();
    this.#memory.limitTo(kvCacheMemoryBytes);
  }

  /** Why the request can never run; undefined if it can. */
  errorFor(request: GenerationRequest): KvBudgetError | undefined {
    const finalLength = finalLengthOf(request, this.#state.limits.contextLength);
    if (this.#memory.canEverHold(finalLength)) return undefined;
    return kvBudgetExceeded(finalLength, this.#memory.bytesForOne(finalLength), this.#memory.maxBytes);
  }

  /** Call it once before each step. */
  beginStep(): void {
    this.#memory.beginStep(this.#need({}));
    this.#forgetLost();
  }

  /** Gives back memory beyond the limits while nothing runs. Returns the new shape; undefined if it stays. */
  trimIdle(): KvShape | undefined {
    const { shape } = this.#memory;
    this.#memory.trim(this.#need({ numStagingRows: 0 }));
    if (this.#memory.shape === shape) return undefined;
    this.#forgetLost();
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

  /** See `KvMemory.makeRoom`. Prefixes in the rows that are given back are lost, and so are snapshots. */
  makeRoom(demand: KvDemand): boolean {
    const isRoom = this.#memory.makeRoom(this.#need(demand));
    this.#forgetLost();
    return isRoom;
  }

  /** See `KvMemory.reserve`. */
  reserve(demand: KvDemand = {}): KvShape {
    return this.#memory.reserve(this.#need(demand));
  }

  /** The row to copy if the sequence can skip its prefill: it holds all of the sequence but the last token. */
  findJoinable(sequence: Sequence): CachedPrefix | undefined {
    const found = this.findReusable(sequence);
    const isWhole = found?.length === sequence.numPrefillTokens - 1 && found.snapshot === undefined;
    return isWhole ? found : undefined;
  }

  /** The row with the longest prefix of the sequence, if that is worth a copy. */
  findReusable(sequence: Sequence): CachedPrefix | undefined {
    if (sequence.numComputedTokens > 0 || sequence.maxReusedTokens === 0) return undefined;
    const { tokens, maxReusedTokens } = sequence;
    const found = longestOf(tokens, [...this.#prefixes.rows, ...this.#state.decoding], (row, length) =>
      this.#hasFixedState ? this.#stateAt(row, Math.min(length, maxReusedTokens)) : { length },
    );
    if (!found || !this.#isWorthReusing(sequence, found.length)) return undefined;
    return { ...found, length: Math.min(found.length, maxReusedTokens) };
  }

  /** The state to go on from for a sequence that begins with this many of the row's tokens: the row's own, or the longest snapshot. */
  #stateAt({ tokens, numStartedTokens }: HeldRow, length: number): Omit<CachedPrefix, 'slot'> | undefined {
    return length === numStartedTokens ? { length } : this.#snapshots.longest(tokens, length);
  }

  /**
   * Up to where the sequence is prefilled before a snapshot is taken; undefined if none is worth it. Places are where other texts
   * branch off, and shortly before the end of the prompt, from where the chat goes on.
   *
   * @param waiting Others that may share its beginning, beside those that run and the prefixes.
   */
  snapshotCutOf(sequence: Sequence, waiting: readonly Sequence[]): number | undefined {
    const { tokens, numComputedTokens, numReusedTokens, numPrefillTokens, isBackground } = sequence;
    // The first prefill of all finds no memory yet: it is reserved before it is asked for.
    if (!this.#hasFixedState || this.reserve().numSnapshots === 0) return undefined;
    const others = [...this.#prefixes.rows, ...this.#state.running, ...waiting];
    const branches = others
      .map((other) => (other === sequence ? 0 : other.tokens.numShared(tokens)))
      .filter((length) => length >= numReusedTokens + FEWEST_REUSED_TOKENS);
    const lengths = isBackground ? branches : [...branches, numPrefillTokens - PROMPT_END_TOKENS];
    // The rows of a job branch off at the same token.
    const cuts = [...new Set(lengths)].filter((length) => {
      if (length <= numComputedTokens || length >= numPrefillTokens) return false;
      const known = this.#snapshots.longest(tokens, length)?.length ?? 0;
      return length >= known + FEWEST_REUSED_TOKENS;
    });
    return cuts.length > 0 ? Math.min(...cuts) : undefined;
  }

  /** A snapshot is taken of the sequence once it has read this many tokens. Returns its place. */
  takeSnapshot({ tokens }: Sequence, length: number): number {
    return this.#snapshots.take(tokens, length, this.#memory.shape.numSnapshots);
  }

  /** Whether the sequence should wait for the K/V of this other one. */
  isWorthWaitingFor(other: Sequence, sequence: Sequence): boolean {
    // A prompt that is prefilled beside others leaves no snapshot.
    return !this.#hasFixedState && this.#isWorthReusing(sequence, other.tokens.numShared(sequence.tokens));
  }

  takeOver(sequence: Sequence, { slot, length, snapshot }: CachedPrefix): void {
    sequence.reuse(length);
    this.#prefixes.takeOver(slot, sequence.tokens);
    if (snapshot !== undefined) this.#snapshots.use(snapshot);
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
    const { isInSlot, finishReason } = sequence;
    if (isInSlot && finishReason !== 'error' && this.#state.policy.prefixCaching)
      this.#prefixes.keep(sequence.leftRow);
  }

  /** A step failed: its copies may not have been made. */
  forgetPrefixes(): void {
    this.#prefixes.clear();
    this.#snapshots.truncate(0);
  }

  #forgetLost(): void {
    this.#prefixes.truncate(this.#memory.shape);
    this.#snapshots.truncate(this.#memory.shape.numSnapshots);
  }

  #isWorthReusing({ numPrefillTokens }: Sequence, numShared: number): boolean {
    const isAllButLast = numPrefillTokens > 1 && numShared >= numPrefillTokens - 1;
    return this.#state.policy.prefixCaching && (isAllButLast || numShared >= FEWEST_REUSED_TOKENS);
  }

  #need({ next, length = 0, numStagingRows = 1 }: KvDemand): KvNeed {
    const { running, numRunning, numRows, limits, policy } = this.#state;
    const finals = [...running, ...(next ? [next] : [])].map(({ request }) =>
      finalLengthOf(request, limits.contextLength),
    );
    return {
      numRows: next ? Math.max(numRows, numRunning + 1) : numRows,
      numStagingRows,
      length: Math.max(length, ...running.map(({ numComputedTokens }) => numComputedTokens + 1)),
      finalLength: Math.max(0, ...finals),
      maySnapshot: policy.prefixCaching,
    };
  }
}
