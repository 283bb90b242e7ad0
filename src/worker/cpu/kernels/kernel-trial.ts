import { quantizedRowBytes, type Kernels } from './kernels.ts';

const OUTPUTS = 128;
const INPUTS = 512;
/** One row has a tile of its own, and four. */
const ROWS = 5;

/** Inputs of one block of 4 bits, so that all its sums are whole in fp32. */
const BLOCK = 32;

/** The largest integer of a quantized row: a row with it keeps its integers as they are. */
const LARGEST = 8191;

/** Products of random integers whose sums are known. */
export class KernelTrial {
  /** Pages of memory that a trial takes. */
  static readonly NUM_PAGES = 4;

  readonly #kernels: Kernels;
  readonly #memory: WebAssembly.Memory;
  readonly #places = placesOf({
    codes: OUTPUTS * INPUTS,
    ones: 4 * OUTPUTS,
    sums: 4 * OUTPUTS,
    zeroPoints: OUTPUTS,
    x: 4 * ROWS * INPUTS,
    quantized: ROWS * quantizedRowBytes(INPUTS),
    out: 4 * ROWS * OUTPUTS,
  });

  constructor(kernels: Kernels, memory: WebAssembly.Memory) {
    this.#kernels = kernels;
    this.#memory = memory;
    const { codes, ones, sums, zeroPoints, x } = this.#places;
    const random = randomIntegers();
    this.#view(Int8Array, codes, OUTPUTS * INPUTS).forEach((_, i, all) => (all[i] = random() - 128));
    this.#view(Uint8Array, zeroPoints, OUTPUTS).forEach((_, i, all) => (all[i] = random()));
    this.#view(Float32Array, ones, OUTPUTS).fill(1);
    const rows = this.#view(Float32Array, x, ROWS * INPUTS);
    // Each fourth is as far from 0 as it may be.
    for (let i = 0; i < rows.length; i++)
      rows[i] = i % 4 === 0 ? (random() < 128 ? LARGEST : -LARGEST) : (random() - 128) * 63;
    kernels.sumCodes(codes, sums, OUTPUTS, INPUTS);
    kernels.quantizeForInt8(x, INPUTS, this.#places.quantized, ROWS, INPUTS, 1, 0);
  }

  /** Five rows together and one alone, with int8 weights. */
  run(): void {
    const { codes, ones, sums, quantized, out } = this.#places;
    this.#kernels.multiplyInt8(quantized, codes, ones, sums, 0, out, OUTPUTS, ROWS, INPUTS, 0, OUTPUTS);
  }

  /** Whether all sums are right, of int8 and of 4 bits. */
  isRight(): boolean {
    const { codes, ones, zeroPoints, x, quantized, out } = this.#places;
    this.run();
    const int8 = this.#view(Int8Array, codes, OUTPUTS * INPUTS);
    if (!this.#isOut(INPUTS, (output, i) => int8[output * INPUTS + i] ?? 0)) return false;
    this.#kernels.quantizeForInt4(x, INPUTS, quantized, ROWS, BLOCK);
    this.#kernels.multiplyInt4(quantized, codes, ones, zeroPoints, 0, out, OUTPUTS, ROWS, BLOCK, 0, OUTPUTS);
    const pairs = this.#view(Uint8Array, codes, (OUTPUTS * BLOCK) / 2);
    const zeros = this.#view(Uint8Array, zeroPoints, OUTPUTS);
    const isRight = this.#isOut(BLOCK, (output, i) => {
      const pair = pairs[(output * BLOCK + i) >> 1] ?? 0;
      return ((i & 1 ? pair >> 4 : pair) & 15) - ((zeros[output] ?? 0) & 15);
    });
    this.#kernels.quantizeForInt8(x, INPUTS, quantized, ROWS, INPUTS, 1, 0);
    return isRight;
  }

  #isOut(inputs: number, codeOf: (output: number, input: number) => number): boolean {
    const { x, out } = this.#places;
    const rows = this.#view(Float32Array, x, ROWS * INPUTS);
    const results = this.#view(Float32Array, out, ROWS * OUTPUTS);
    for (let row = 0; row < ROWS; row++)
      for (let output = 0; output < OUTPUTS; output++) {
        let sum = 0;
        for (let i = 0; i < inputs; i++) sum += (rows[row * INPUTS + i] ?? 0) * codeOf(output, i);
        if (results[row * OUTPUTS + output] !== Math.fround(sum)) return false;
      }
    return true;
  }

  #view<View>(
    Type: new (buffer: ArrayBufferLike, address: number, length: number) => View,
    address: number,
    length: number,
  ): View {
    return new Type(this.#memory.buffer, address, length);
  }
}

/** Addresses one behind the other, of this many bytes each. Products read none of the constants at the start of the memory. */
function placesOf<Name extends string>(bytes: Record<Name, number>): Readonly<Record<Name, number>> {
  const places = { ...bytes };
  let at = 64;
  for (const name in bytes) {
    places[name] = at;
    at += 64 * Math.ceil((bytes[name] + 32) / 64);
  }
  return places;
}

/** 0 to 255, the same on each machine. */
function randomIntegers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state >>> 24;
  };
}
