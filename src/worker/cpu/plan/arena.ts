import type { Block, CpuMemory } from '../memory/cpu-memory.ts';
import type { Place } from './buffers.ts';

/** Memory behind the buffers of a plan, for as many tokens as a pass has had at most. */
export class Arena {
  readonly #memory: CpuMemory;
  readonly #widths: readonly number[];
  #block: Block | undefined;
  #numTokens = 0;
  /** Addresses of the buffers. */
  #starts: readonly number[] = [];

  /** @param widths The buffers' float32 values a token. */
  constructor(memory: CpuMemory, widths: readonly number[]) {
    this.#memory = memory;
    this.#widths = widths;
  }

  /** Bytes that a token takes. */
  get tokenBytes(): number {
    return 4 * this.#widths.reduce((sum, width) => sum + width, 0);
  }

  /** Buffers that have to grow lose what they held. */
  reserve(numTokens: number): void {
    if (numTokens <= this.#numTokens) return;
    this.#block = this.#memory.replace(this.#block, numTokens * this.tokenBytes + SLACK_BYTES);
    this.#numTokens = numTokens;
    let { address } = this.#block;
    this.#starts = this.#widths.map((width) => {
      address += 4 * width * numTokens;
      return address - 4 * width * numTokens;
    });
  }

  /** The address of a token's values. */
  at({ buffer, column, stride }: Place, token = 0): number {
    return (this.#starts[buffer] ?? 0) + 4 * (column + token * stride);
  }
}

/** Kernels read up to 16 bytes behind the end of quantized rows. */
const SLACK_BYTES = 64;
