import { kvSlot, type KvSlot } from './kv-slots.ts';
import type { SlotTransfer } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import type { RequestId } from '../base/ids.ts';
import type { Sequence, SequenceLimits } from './sequence.ts';

/**
 * State that the parts of the scheduler share: the policy, and the running sequences in order of admission. Each of these has a
 * slot of its own from its admission on, but the slot holds K/V only once its sequence is prefilled: until then the
 * reservation can change without a copy.
 */
export class SchedulerState {
  /** Replaced as a whole when a knob is turned. */
  policy: BatchingPolicy;
  readonly limits: SequenceLimits;
  readonly #byId = new Map<RequestId, Sequence>();
  // Each is replaced as a whole, so a loop over one may change which sequences are in it.
  #running: readonly Sequence[] = [];
  #decoding: readonly Sequence[] = [];
  #prefilling: readonly Sequence[] = [];

  constructor(policy: BatchingPolicy, limits: SequenceLimits) {
    this.policy = policy;
    this.limits = limits;
  }

  get numRunning(): number {
    return this.#running.length;
  }

  get running(): readonly Sequence[] {
    return this.#running;
  }

  /** The sequences that take part in decode steps. */
  get decoding(): readonly Sequence[] {
    return this.#decoding;
  }

  /** The others. At most one of them has part of its prompt computed. */
  get prefilling(): readonly Sequence[] {
    return this.#prefilling;
  }

  /** One more than the highest slot in use. */
  get numRows(): number {
    return this.#running.reduce((numRows, { slot }) => Math.max(numRows, slot + 1), 0);
  }

  /** The running sequence of this id. */
  get(id: RequestId): Sequence | undefined {
    return this.#byId.get(id);
  }

  admit(sequence: Sequence): void {
    sequence.slot = lowestFree(this.#running);
    this.#byId.set(sequence.id, sequence);
    this.#regroup();
  }

  /** Its slot holds its K/V: it decodes from now on. */
  joinDecoding(sequence: Sequence): void {
    sequence.isInSlot = true;
    this.#regroup();
  }

  remove(sequence: Sequence): void {
    this.#byId.delete(sequence.id);
    this.#regroup();
  }

  /** The free slots among the first `numSlots`. */
  freeWithin(numSlots: number): readonly KvSlot[] {
    const inUse = new Set(this.#running.map(({ slot }) => slot));
    return Array.from({ length: numSlots }, (_, index) => kvSlot(index)).filter((slot) => !inUse.has(slot));
  }

  /** Takes a lower slot if one is free, which saves a move later. */
  lowerReservation(sequence: Sequence): void {
    sequence.slot = lowestFree(this.#running.filter((other) => other !== sequence));
  }

  /**
   * Makes the decoding rows a dense prefix: the highest ones fill the holes, and reservations go behind them.
   *
   *     slot      0  1  2  3  4           0  1  2  3  4
   *     before    A  -  p  B  C   after   A  C  B  p  -    moves 4 → 1, 3 → 2
   */
  closeHoles(): readonly SlotTransfer[] {
    const decoding = this.#decoding;
    const moves = decoding
      .filter(({ slot }) => slot >= decoding.length)
      .toSorted((a, b) => b.slot - a.slot)
      .map((sequence): SlotTransfer => {
        const from = sequence.slot;
        sequence.slot = lowestFree(decoding);
        return { kind: 'move', from, to: sequence.slot };
      });
    for (const [index, sequence] of this.#prefilling.entries())
      sequence.slot = kvSlot(decoding.length + index);
    return moves;
  }

  #regroup(): void {
    this.#running = [...this.#byId.values()];
    this.#decoding = this.#running.filter(({ isInSlot }) => isInSlot);
    this.#prefilling = this.#running.filter(({ isInSlot }) => !isInSlot);
  }
}

/** The lowest slot that none of these has. */
function lowestFree(sequences: readonly Sequence[]): KvSlot {
  const inUse = new Set<number>(sequences.map(({ slot }) => slot));
  let index = 0;
  while (inUse.has(index)) index += 1;
  return kvSlot(index);
}
