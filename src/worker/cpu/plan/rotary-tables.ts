import { rotaryTables, type Rope } from '../../models/program/rope.ts';
import type { Block, CpuMemory } from '../memory/cpu-memory.ts';

/** Cosines and sines by which heads turn, for as many positions as rows have had at most. */
export class RotaryTables {
  readonly #memory: CpuMemory;
  readonly #rope: Rope;
  #block: Block | undefined;
  #numPositions = 0;

  constructor(memory: CpuMemory, rope: Rope) {
    this.#memory = memory;
    this.#rope = rope;
  }

  get cos(): number {
    return this.#block?.address ?? 0;
  }

  get sin(): number {
    return this.cos + 4 * this.#numPositions * this.#rope.frequencies.length;
  }

  reserve(numPositions: number): void {
    if (numPositions <= this.#numPositions) return;
    const { cos, sin } = rotaryTables(this.#rope, numPositions);
    this.#block = this.#memory.replace(this.#block, cos.byteLength + sin.byteLength);
    this.#numPositions = numPositions;
    this.#memory.floatsAt(this.cos, cos.length).set(cos);
    this.#memory.floatsAt(this.sin, sin.length).set(sin);
  }
}
