import type { Block, CpuMemory } from '../memory/cpu-memory.ts';
import { attentionScratchBytes } from '../kernels/kernels.ts';

/** Memory for the scores of queries, with as many keys as a row has had at most: for each thread. */
export class AttentionScratch {
  readonly #memory: CpuMemory;
  readonly #numThreads: number;
  #block: Block | undefined;
  #numPositions = 0;

  constructor(memory: CpuMemory, numThreads: number) {
    this.#memory = memory;
    this.#numThreads = numThreads;
  }

  get address(): number {
    return this.#block?.address ?? 0;
  }

  reserve(numPositions: number): void {
    if (numPositions <= this.#numPositions) return;
    this.#block = this.#memory.replace(this.#block, this.#numThreads * attentionScratchBytes(numPositions));
    this.#numPositions = numPositions;
  }
}
