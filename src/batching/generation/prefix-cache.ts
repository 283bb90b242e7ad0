import type { KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';

/** A slot whose first K/V entries are those of these tokens. */
export interface CachedPrefix {
  readonly slot: KvSlot;
  /** Leading tokens that it has in common with what was asked for. */
  readonly length: number;
}

interface FreedRow {
  tokenIds: readonly number[];
  /** Of `#numUses`. */
  lastUse: number;
}

/**
 * What the K/V rows of free slots still hold of sequences that have ended, least recently used first to go. Slots in
 * use are not in it: what they hold is known from their sequences.
 */
export class PrefixCache {
  readonly #rows = new Map<KvSlot, FreedRow>();
  #numUses = 0;

  /** The row stays as its sequence has left it. */
  keep(slot: KvSlot, tokenIds: readonly number[]): void {
    if (tokenIds.length === 0) return;
    this.#numUses += 1;
    this.#rows.set(slot, { tokenIds, lastUse: this.#numUses });
  }

  clear(): void {
    this.#rows.clear();
  }

  /** What does not fit into this shape is gone. */
  truncate({ numSlots, capacity }: KvShape): void {
    for (const [slot, row] of this.#rows) {
      if (slot >= numSlots) this.#rows.delete(slot);
      else if (row.tokenIds.length > capacity) row.tokenIds = row.tokenIds.slice(0, capacity);
    }
  }

  /** Slots with the tokens whose K/V they hold. */
  get rows(): readonly (readonly [KvSlot, readonly number[]])[] {
    return [...this.#rows].map(([slot, { tokenIds }]) => [slot, tokenIds]);
  }

  /** The row served a request. */
  touch(slot: KvSlot): void {
    const row = this.#rows.get(slot);
    if (!row) return;
    this.#numUses += 1;
    row.lastUse = this.#numUses;
  }

  /**
   * The slot is about to be overwritten: where to copy its row so that the least recently used one is lost instead.
   * Undefined where it holds nothing or is that one itself.
   *
   * @param free Slots that nobody uses.
   */
  rescue(slot: KvSlot, free: readonly KvSlot[]): KvSlot | undefined {
    const row = this.#rows.get(slot);
    this.#rows.delete(slot);
    if (!row) return undefined;
    const lastUseOf = (other: KvSlot): number => this.#rows.get(other)?.lastUse ?? 0;
    const [victim] = free.filter((other) => other !== slot).toSorted((a, b) => lastUseOf(a) - lastUseOf(b));
    if (victim === undefined || lastUseOf(victim) > row.lastUse) return undefined;
    this.#rows.set(victim, row);
    return victim;
  }
}

/** Of rows and what they hold, the one that shares most leading tokens; undefined where none shares any. */
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

/** Leading tokens that two sequences have in common. */
export function numSharedTokens(a: readonly number[], b: readonly number[]): number {
  const end = Math.min(a.length, b.length);
  for (let index = 0; index < end; index++) if (a[index] !== b[index]) return index;
  return end;
}
