import type { ModelConfig } from '../../models/model-config.ts';
import type { ForwardInput, RowCopy } from '../model-backend.ts';

type KvConfig = Pick<ModelConfig, 'numLayers' | 'numHeads' | 'numKvHeads' | 'headSize'>;

/**
 * The K/V cache of some rows on the CPU. Keys are stored transposed, as `PlainAttention` reads them:
 * [rows, K/V heads, head size, capacity]. Values are [rows, K/V heads, capacity, head size].
 */
export class KvRows {
  readonly #config: KvConfig;
  /** K and V of each layer in turn. */
  #arrays: readonly Float32Array[];
  #capacity = 0;

  constructor(config: KvConfig) {
    this.#config = config;
    this.#arrays = Array.from({ length: 2 * config.numLayers }, () => new Float32Array());
  }

  /** Keeps the entries that fit. */
  resize(numRows: number, capacity: number): void {
    const { numKvHeads, headSize } = this.#config;
    const oldCapacity = this.#capacity;
    this.#capacity = capacity;
    const length = numRows * this.#rowLength;
    if (this.#arrays[0]?.length === length && capacity === oldCapacity) return;
    const numHeads = numRows * numKvHeads;
    this.#arrays = this.#arrays.map((old, i) =>
      isKeyArray(i)
        ? resizeStrips(old, numHeads * headSize, oldCapacity, capacity)
        : resizeStrips(old, numHeads, oldCapacity * headSize, capacity * headSize),
    );
  }

  /**
   * K and V of each layer in turn, for the first rows.
   *
   * @param capacity Entries per row. If the cache has more, the arrays have the right size but hold no usable entries.
   */
  inputs(numRows: number, capacity = this.#capacity) {
    const { numKvHeads, headSize } = this.#config;
    const length = numRows * numKvHeads * capacity * headSize;
    return this.#arrays.map((array, i) => ({
      data: array.subarray(0, length),
      dims: [numRows, numKvHeads, ...(isKeyArray(i) ? [headSize, capacity] : [capacity, headSize])],
    }));
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
    const [keys, values] = this.#arrays.slice(2 * layer);
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
  copyTo(target: KvRows, rows: readonly RowCopy[]): void {
    const length = this.#rowLength;
    for (const [i, source] of this.#arrays.entries()) {
      for (const [row, copy] of rows) {
        target.#arrays[i]?.set(source.subarray(row * length, (row + 1) * length), copy * length);
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

/** Resizes consecutive strips: cuts each one, or pads it with zeros. */
function resizeStrips(
  old: Float32Array,
  numStrips: number,
  oldLength: number,
  newLength: number,
): Float32Array {
  const resized = new Float32Array(numStrips * newLength);
  const numKept = Math.min(oldLength, newLength);
  const numOld = oldLength > 0 ? Math.min(numStrips, old.length / oldLength) : 0;
  for (let strip = 0; strip < numOld; strip++) {
    resized.set(old.subarray(strip * oldLength, strip * oldLength + numKept), strip * newLength);
  }
  return resized;
}
