import type { Block, CpuMemory } from '../memory/cpu-memory.ts';

/** Logits of the last pass: rows of the vocabulary. */
export class LogitRows {
  readonly #memory: CpuMemory;
  readonly #vocabSize: number;
  #block: Block | undefined;
  #maxRows = 0;

  constructor(memory: CpuMemory, vocabSize: number) {
    this.#memory = memory;
    this.#vocabSize = vocabSize;
  }

  reserve(numRows: number): void {
    if (numRows <= this.#maxRows) return;
    this.#block = this.#memory.replace(this.#block, 4 * numRows * this.#vocabSize);
    this.#maxRows = numRows;
  }

  address(row: number): number {
    return (this.#block?.address ?? 0) + 4 * row * this.#vocabSize;
  }

  /** Valid until the memory grows. */
  row(index: number): Float32Array {
    return this.#memory.floatsAt(this.address(index), this.#vocabSize);
  }
}
