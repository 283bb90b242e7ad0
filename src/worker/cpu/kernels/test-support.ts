import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';

import { compileKernels, instantiateKernels, type KernelVariant } from './compile-kernels.ts';
import type { Kernels } from './kernels.ts';
import { readKernels, RESERVED_BYTES } from './load-kernels.ts';

export const VARIANTS = ['simd', 'relaxed-simd'] as const satisfies readonly KernelVariant[];

/** Compiled once for all benches. */
const MODULES = new Map<KernelVariant, Promise<WebAssembly.Module>>();

function moduleOf(variant: KernelVariant): Promise<WebAssembly.Module> {
  const compiled =
    MODULES.get(variant) ?? readKernels(variant).then((bytes) => compileKernels(bytes, { isShared: false }));
  MODULES.set(variant, compiled);
  return compiled;
}

/** The byte around the places of a bench. */
const GUARD = 0x7f;
const GUARD_BYTES = 64;

/** Kernels over a memory of their own, whose places are used up one after the other. */
export class KernelBench {
  readonly kernels: Kernels;
  readonly #bytes: Uint8Array;
  readonly #ends: number[] = [];
  #top = RESERVED_BYTES;

  private constructor(kernels: Kernels, memory: WebAssembly.Memory) {
    this.kernels = kernels;
    this.#bytes = new Uint8Array(memory.buffer).fill(GUARD, RESERVED_BYTES);
  }

  /** @throws Error after the test where a kernel wrote behind a place. */
  static async of(variant: KernelVariant): Promise<KernelBench> {
    const memory = new WebAssembly.Memory({ initial: 16, maximum: 16 });
    const bench = new KernelBench(await instantiateKernels(await moduleOf(variant), memory), memory);
    onTestFinished(() => bench.#requireGuards());
    return bench;
  }

  put(values: ArrayBufferView): number {
    const address = this.room(values.byteLength);
    this.#bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), address);
    return address;
  }

  /** Bytes that hold no numbers yet. */
  room(length: number): number {
    const address = this.#top;
    this.#ends.push(address + length);
    this.#top = 16 * Math.ceil((address + length + GUARD_BYTES) / 16);
    return address;
  }

  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.#bytes.slice(address, address + 4 * length).buffer);
  }

  #requireGuards(): void {
    for (const end of this.#ends)
      if (this.#bytes.subarray(end, end + GUARD_BYTES).some((byte) => byte !== GUARD))
        throw new Error(`A kernel wrote behind the place that ends at ${end}`);
  }
}

/** -size to size, evenly, the same in each run. */
export function randoms(length: number, size = 1, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (size * state) / 2 ** 31;
  });
}

export function randomBytes(length: number, seed = 1): Uint8Array {
  return Uint8Array.from(randoms(length, 128, seed), (value) => Math.floor(value) + 128);
}

/** Equal where all bits are. */
export function digest(values: Float32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** The largest difference of two lists. NaN where one has NaN. */
export function distance(values: ArrayLike<number>, expected: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((values[i] ?? NaN) - (expected[i] ?? NaN));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
