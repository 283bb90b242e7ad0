/** Index of one sequence's reserved row in the batch dimension of the K/V tensors. */
export type KvSlot = number & { readonly __brand: 'KvSlot' };

/** Hands out slots, the lowest free one first. Ask `canAllocate`, then `allocate`. */
export class KvSlotPool {
  #capacity: number;
  /** May exceed `#capacity` for a while: shrinking never takes a slot in use away. */
  readonly #inUse = new Set<KvSlot>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get numInUse(): number {
    return this.#inUse.size;
  }

  get canAllocate(): boolean {
    return this.#inUse.size < this.#capacity;
  }

  /** One more than the highest slot in use. */
  get numRows(): number {
    return Math.max(-1, ...this.#inUse) + 1;
  }

  /** The free slots among the first `numSlots`. */
  freeWithin(numSlots: number): readonly KvSlot[] {
    return Array.from({ length: numSlots }, (_, index) => kvSlot(index)).filter(
      (slot) => !this.#inUse.has(slot),
    );
  }

  allocate(): KvSlot {
    let index = 0;
    while (this.#inUse.has(kvSlot(index))) index += 1;
    this.#inUse.add(kvSlot(index));
    return kvSlot(index);
  }

  free(slot: KvSlot): void {
    this.#inUse.delete(slot);
  }

  /** Trades a slot for the lowest free one, or keeps it if none is lower. */
  relocate(slot: KvSlot): KvSlot {
    this.free(slot);
    return this.allocate();
  }

  resize(capacity: number): void {
    this.#capacity = capacity;
  }
}

function kvSlot(index: number): KvSlot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where slots are made
  return index as KvSlot;
}
