import { KvSlotPool } from './kv-slots.ts';
import type { SlotTransfer } from './model-runner.ts';
import type { RequestId } from './request.ts';
import type { Sequence } from './sequence.ts';

/**
 * The sequences that hold a slot, in order of admission. A slot is reserved at admission, but holds K/V only once its
 * sequence is prefilled: until then the reservation can change without a copy.
 */
export class RunningSequences {
  readonly #sequences = new Map<RequestId, Sequence>();
  readonly slots: KvSlotPool;

  constructor(maxBatchSize: number) {
    this.slots = new KvSlotPool(maxBatchSize);
  }

  get size(): number {
    return this.#sequences.size;
  }

  get all(): readonly Sequence[] {
    return [...this.#sequences.values()];
  }

  /** The sequences that take part in decode steps. */
  get decoding(): readonly Sequence[] {
    return this.all.filter((sequence) => sequence.isInSlot);
  }

  /** The others. At most one of them has part of its prompt computed. */
  get prefilling(): readonly Sequence[] {
    return this.all.filter((sequence) => !sequence.isInSlot);
  }

  get(id: RequestId): Sequence | undefined {
    return this.#sequences.get(id);
  }

  admit(sequence: Sequence): void {
    sequence.slot = this.slots.allocate();
    this.#sequences.set(sequence.id, sequence);
  }

  remove(sequence: Sequence): void {
    this.#sequences.delete(sequence.id);
    this.slots.free(sequence.slot);
  }

  /** Takes a lower slot if one is free, which saves a move later. */
  lowerReservation(sequence: Sequence): void {
    sequence.slot = this.slots.relocate(sequence.slot);
  }

  /**
   * Makes the decoding rows a dense prefix: the highest ones fill the holes, and reservations go behind them.
   *
   *     slot      0  1  2  3  4           0  1  2  3  4
   *     before    A  -  p  B  C   after   A  C  B  p  -    moves 4 → 1, 3 → 2
   */
  closeHoles(): readonly SlotTransfer[] {
    const { decoding, prefilling } = this;
    for (const { slot } of prefilling) this.slots.free(slot);
    const moves = decoding
      .filter(({ slot }) => slot >= decoding.length)
      .toSorted((a, b) => b.slot - a.slot)
      .map((sequence) => this.#move(sequence));
    for (const sequence of prefilling) sequence.slot = this.slots.allocate();
    return moves;
  }

  #move(sequence: Sequence): SlotTransfer {
    const from = sequence.slot;
    sequence.slot = this.slots.relocate(from);
    return { kind: 'move', from, to: sequence.slot };
  }
}
