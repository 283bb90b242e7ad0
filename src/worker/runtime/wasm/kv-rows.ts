import type { ModelConfig } from '../../models/model-config.ts';
import type { ForwardInput, RowCopy } from '../model-backend.ts';

type KvConfig = Pick<ModelConfig, 'numLayers' | 'numHeads' | 'numKvHeads' | 'headSize'>;

/** Memory for float32 values. */
export interface KvArray {
  /** Valid until the next allocation. */
  readonly floats: Float32Array;
  free(): void;
}

/**
 * The K/V cache of some rows on the CPU. Keys are stored transposed, as `PlainAttention` reads them:
 * [rows, K/V heads, head size, capacity]. Values are [rows, K/V heads, capacity, head size].
 */
export class KvRows<A extends KvArray> {
  readonly #config: KvConfig;
  readonly #allocate: (length: number) => A;
  /** K and V of each layer in turn. */
  readonly #arrays: A[] = [];
  #numRows = 0;
  #capacity = 0;

  constructor(config: KvConfig, allocate: (length: number) => A) {
    this.#config = config;
    this.#allocate = allocate;
  }

  /** Keeps the entries that fit. */
  resize(numRows: number, capacity: number): void {
    const [oldRows, oldCapacity] = [this.#numRows, this.#capacity];
    if (numRows === oldRows && capacity === oldCapacity) return;
    const { numLayers, numKvHeads, headSize } = this.#config;
    const numKept = Math.min(numRows, oldRows) * numKvHeads;
    for (let i = 0; i < 2 * numLayers; i++) {
      const old = this.#arrays[i];
      const array = this.#allocate(numRows * numKvHeads * capacity * headSize);
      const strips = isKeyArray(i) ? { perHead: headSize, entry: 1 } : { perHead: 1, entry: headSize };
      copyStrips(array.floats, old?.floats, {
        numKept: numKept * strips.perHead,
        oldLength: oldCapacity * strips.entry,
        newLength: capacity * strips.entry,
      });
      this.#arrays[i] = array;
      old?.free();
    }
    this.#numRows = numRows;
    this.#capacity = capacity;
  }

  /**
   * K and V of each layer in turn, with the dimensions of the first rows in it.
   *
   * @param capacity Entries per row. If the cache has more, the tensors have the right size, but their values are not usable.
   */
  inputs(numRows: number, capacity = this.#capacity) {
    const { numKvHeads, headSize } = this.#config;
    return this.#arrays.map((array, i) => ({
      array,
      dims: [numRows, numKvHeads, ...(isKeyArray(i) ? [headSize, capacity] : [capacity, headSize])],
    }));
  }

  free(): void {
    for (const array of this.#arrays.splice(0)) array.free();
    this.#numRows = 0;
  }

  /**
   * Appends the keys and values that a pass computed in a layer, without padding.
   *
   * @param qkv [B, S, (heads + 2 * K/V heads) * head size]
   */
  append(
    layer: number,
    qkv: Float32Array,
    { numRows, tokensPerRow, positions, lastIndices }: ForwardInput,
  ): void {
    const [keys, values] = this.#arrays.slice(2 * layer, 2 * layer + 2).map(({ floats }) => floats);
    if (!keys || !values) return;
    const { numHeads, numKvHeads, headSize } = this.#config;
    const [capacity, rowLength] = [this.#capacity, this.#rowLength];
    const width = numKvHeads * headSize;
    for (let row = 0; row < numRows; row++) {
      const firstIndex = positions[row * tokensPerRow] ?? 0;
      const lastIndex = lastIndices[row] ?? 0;
      let keyAt = row * tokensPerRow * (numHeads + 2 * numKvHeads) * headSize + numHeads * headSize;
      for (let index = firstIndex; index <= lastIndex; index++) {
        for (let i = 0; i < width; i++) keys[row * rowLength + i * capacity + index] = qkv[keyAt + i] ?? 0;
        for (let head = 0; head < numKvHeads; head++) {
          const valueAt = keyAt + width + head * headSize;
          const to = row * rowLength + (head * capacity + index) * headSize;
          for (let i = 0; i < headSize; i++) values[to + i] = qkv[valueAt + i] ?? 0;
        }
        keyAt += (numHeads + 2 * numKvHeads) * headSize;
      }
    }
  }

  /** Copies rows to another cache of the same capacity, or to other rows of this one. */
  copyTo(target: KvRows<A>, rows: readonly RowCopy[]): void {
    const length = this.#rowLength;
    for (const [i, { floats: source }] of this.#arrays.entries()) {
      const copies = target.#arrays[i]?.floats;
      for (const [row, copy] of rows) {
        copies?.set(source.subarray(row * length, (row + 1) * length), copy * length);
      }
    }
  }

  get #rowLength(): number {
    return this.#config.numKvHeads * this.#capacity * this.#config.headSize;
  }
}

function isKeyArray(index: number): boolean {
  return index % 2 === 0;
}

interface Strips {
  readonly numKept: number;
  readonly oldLength: number;
  readonly newLength: number;
}

/** Fills an array with the first strips of another, each cut, or padded with zeros. */
function copyStrips(
  array: Float32Array,
  old: Float32Array | undefined,
  { numKept, oldLength, newLength }: Strips,
): void {
  array.fill(0);
  if (!old) return;
  const length = Math.min(oldLength, newLength);
  for (let strip = 0; strip < numKept; strip++) {
    array.set(old.subarray(strip * oldLength, strip * oldLength + length), strip * newLength);
  }
}
