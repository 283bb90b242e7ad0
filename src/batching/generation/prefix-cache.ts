import type { KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';

/** A slot whose first K/V entries can be reused. */
export interface CachedPrefix {
  readonly slot: KvSlot;
  /** Leading tokens that the slot and the prompt have in common. */
  readonly length: number;
}

interface FreedRow {
  tokenIds: readonly number[];
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

  keep(slot: KvSlot, tokenIds: readonly number[]): void {
    if (tokenIds.length === 0) return;
    this.#numUses += 1;
    this.#rows.set(slot, { tokenIds, lastUse: this.#numUses });
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Forgets what does not fit into this shape. */
  truncate({ numSlots, capacity }: KvShape): void {
    for (const [slot, row] of this.#rows) {
      if (slot >= numSlots) this.#rows.delete(slot);
      else if (row.tokenIds.length > capacity) row.tokenIds = row.tokenIds.slice(0, capacity);
    }
  }

  /** Slots, each with the tokens whose K/V it holds. */
  get rows(): readonly (readonly [KvSlot, readonly number[]])[] {
    return [...this.#rows].map(([slot, { tokenIds }]) => [slot, tokenIds]);
  }

  /**
   * A sequence of these tokens copies its beginning from the row. A row that the sequence holds all of is the first to be
   * overwritten once it is copied: otherwise a chat's next turn would cost another chat its row.
   */
  takeOver(slot: KvSlot, tokenIds: readonly number[]): void {
    const row = this.#rows.get(slot);
    if (!row) return;
    this.#numUses += 1;
    row.lastUse = isPrefixOf(row.tokenIds, tokenIds) ? 0 : this.#numUses;
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
    this.#rows.set(victim, row);
    return victim;
  }
}

/** The row that shares the most leading tokens; undefined if none shares any. */
export function longestOf(
  rows: readonly (readonly [KvSlot, readonly number[]])[],
  tokenIds: readonly number[],
): CachedPrefix | undefined {
  let longest: CachedPrefix | undefined;
  for (const [slot, held] of rows) {
    const length = numSharedTokens(held, tokenIds);
    if (length > (longest?.length ?? 0)) longest = { slot, length };
  }
  return longest;
}

function isPrefixOf(prefix: readonly number[], tokenIds: readonly number[]): boolean {
  return prefix.length <= tokenIds.length && numSharedTokens(prefix, tokenIds) === prefix.length;
}

/** Leading tokens that two sequences have in common. */
export function numSharedTokens(a: readonly number[], b: readonly number[]): number {
  const end = Math.min(a.length, b.length);
  for (let index = 0; index < end; index++) if (a[index] !== b[index]) return index;
  return end;
}
