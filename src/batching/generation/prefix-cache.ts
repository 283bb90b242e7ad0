import type { HashedTokens } from './hashed-tokens.ts';
import type { KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';

/** A slot whose first K/V entries can be reused. */
export interface CachedPrefix {
  readonly slot: KvSlot;
  /** Leading tokens that the slot and the prompt have in common. */
  readonly length: number;
  /** The snapshot of fixed state to go on from; left out if the slot's own state stands there. */
  readonly snapshot?: number;
}

/** A row and the sequence whose first tokens have their K/V in it. */
export interface HeldRow {
  readonly slot: KvSlot;
  readonly tokens: HashedTokens;
  readonly numComputedTokens: number;
  /** Tokens that its fixed state has read: more than have their K/V if some are unknown, or were cut off. */
  readonly numStartedTokens: number;
}

interface FreedRow extends HeldRow {
  slot: KvSlot;
  numComputedTokens: number;
  /** The value of `#numUses` at its last use; 0 if a later sequence has all of it too. */
  lastUse: number;
}

/**
 * The prefixes in the K/V rows of free slots, left by sequences that have ended. The least recently used goes first. Slots
 * in use are not in it: their sequences know what they hold.
 */
export class PrefixCache {
  readonly #rows = new Map<KvSlot, FreedRow>();
  #numUses = 0;

  keep(row: HeldRow): void {
    if (row.numComputedTokens === 0) return;
    this.#numUses += 1;
    this.#rows.set(row.slot, { ...row, lastUse: this.#numUses });
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Forgets what does not fit into this shape. */
  truncate({ numSlots, capacity }: Pick<KvShape, 'numSlots' | 'capacity'>): void {
    for (const [slot, row] of this.#rows) {
      if (slot >= numSlots) this.#rows.delete(slot);
      else row.numComputedTokens = Math.min(row.numComputedTokens, capacity);
    }
  }

  get rows(): Iterable<HeldRow> {
    return this.#rows.values();
  }

  /**
   * A sequence of these tokens copies its beginning from the row. If the sequence contains all tokens of the row, the copied
   * row is overwritten first. Otherwise the next message of a chat would evict the row of another chat.
   */
  takeOver(slot: KvSlot, tokens: HashedTokens): void {
    const row = this.#rows.get(slot);
    if (!row) return;
    this.#numUses += 1;
    row.lastUse = numSharedTokens(row, tokens) === row.numComputedTokens ? 0 : this.#numUses;
  }

  /**
   * The slot is about to be overwritten. Returns where to copy its row, in place of the least recently used one; undefined
   * if the slot holds nothing, the least recently used row, or one that a later sequence has too.
   *
   * @param free Slots that are not in use.
   */
  rescue(slot: KvSlot, free: readonly KvSlot[]): KvSlot | undefined {
    const row = this.#rows.get(slot);
    this.#rows.delete(slot);
    if (!row || row.lastUse === 0) return undefined;
    const lastUseOf = (other: KvSlot): number => this.#rows.get(other)?.lastUse ?? -1;
    const [victim] = free.filter((other) => other !== slot).toSorted((a, b) => lastUseOf(a) - lastUseOf(b));
    if (victim === undefined || lastUseOf(victim) > row.lastUse) return undefined;
    row.slot = victim;
    this.#rows.set(victim, row);
    return victim;
  }
}

/**
 * The row that offers the most leading tokens, the first of equal ones; undefined if none offers any.
 *
 * @param offerOf What a row offers that shares this many tokens: all of them where left out.
 */
export function longestOf<Row extends Pick<HeldRow, 'slot' | 'tokens' | 'numComputedTokens'>>(
  tokens: HashedTokens,
  rows: Iterable<Row>,
  offerOf: (row: Row, length: number) => Omit<CachedPrefix, 'slot'> | undefined = (_, length) => ({ length }),
): CachedPrefix | undefined {
  let longest: CachedPrefix | undefined;
  for (const row of rows) {
    const length = numSharedTokens(row, tokens, longest?.length);
    const offer = length > (longest?.length ?? 0) ? offerOf(row, length) : undefined;
    if (offer && offer.length > (longest?.length ?? 0)) longest = { slot: row.slot, ...offer };
  }
  return longest;
}

/** Number of leading tokens in common. 0 if there are at most `least`, which hashes show without comparing all tokens. */
function numSharedTokens(
  { tokens, numComputedTokens }: Pick<HeldRow, 'tokens' | 'numComputedTokens'>,
  wanted: HashedTokens,
  least = 0,
): number {
  const end = Math.min(numComputedTokens, wanted.length);
  return end > least && tokens.mayShare(wanted, least + 1) ? tokens.numShared(wanted, end) : 0;
}
