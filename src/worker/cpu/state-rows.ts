import type { Heads } from '../models/model-config.ts';
import type { RowCopy } from '../runtime/model-backend.ts';
import type { Block, CpuMemory } from './cpu-memory.ts';

/** Where the keys and values of a row lie in a layer: [K/V heads, capacity, head size] each. Addresses in bytes. */
export interface KvPlace {
  readonly keys: number;
  readonly values: number;
  /** From one head to the next, in float32 values. */
  readonly headStride: number;
}

/** Of the keys of a layer, or of its values. */
type LayerHeads = Pick<Heads, 'numKvHeads' | 'headSize'>;

/** The keys and values of some rows. In each layer, those of a row lie together: its keys, then its values. */
export class StateRows {
  readonly #memory: CpuMemory;
  readonly #layers: readonly LayerHeads[];
  #blocks: Block[] = [];
  #numRows = 0;
  #capacity = 0;

  constructor(memory: CpuMemory, layers: readonly LayerHeads[]) {
    this.#memory = memory;
    this.#layers = layers;
  }

  placeOf(layer: number, row: number): KvPlace {
    const { headSize, numKvHeads } = this.#headsOf(layer);
    const rowBytes = this.#rowBytes(layer);
    const keys = (this.#blocks[layer]?.address ?? 0) + row * rowBytes;
    const headStride = this.#capacity * headSize;
    return { keys, values: keys + 4 * numKvHeads * headStride, headStride };
  }

  /** Keeps the entries that fit. One layer moves after the other, so the memory holds one of them twice at most. */
  resize(numRows: number, capacity: number): void {
    if (numRows === this.#numRows && capacity === this.#capacity) return;
    const numKept = Math.min(numRows, this.#numRows);
    for (const [layer, { numKvHeads, headSize }] of this.#layers.entries()) {
      const old = this.#blocks[layer];
      const stripBytes = 4 * headSize * capacity;
      const oldStripBytes = 4 * headSize * this.#capacity;
      const block = this.#memory.allocate(2 * numRows * numKvHeads * stripBytes);
      this.#blocks[layer] = block;
      if (!old) continue;
      // Keys and values of all heads of all rows are strips of the same length.
      this.#moveStrips(old.address, block.address, 2 * numKept * numKvHeads, oldStripBytes, stripBytes);
      this.#memory.free(old);
    }
    this.#numRows = numRows;
    this.#capacity = capacity;
  }

  /** Copies rows to others of the same capacity, or to other rows of these. */
  copyTo(target: StateRows, copies: readonly RowCopy[]): void {
    const { bytes } = this.#memory;
    for (const layer of this.#layers.keys()) {
      const rowBytes = this.#rowBytes(layer);
      for (const [from, to] of copies) {
        const { keys } = this.placeOf(layer, from);
        bytes.copyWithin(target.placeOf(layer, to).keys, keys, keys + rowBytes);
      }
    }
  }

  #moveStrips(from: number, to: number, numStrips: number, fromBytes: number, toBytes: number): void {
    const { bytes } = this.#memory;
    const length = Math.min(fromBytes, toBytes);
    for (let strip = 0; strip < numStrips; strip++) {
      const start = from + strip * fromBytes;
      bytes.copyWithin(to + strip * toBytes, start, start + length);
    }
  }

  #rowBytes(layer: number): number {
    const { numKvHeads, headSize } = this.#headsOf(layer);
    return 2 * 4 * numKvHeads * headSize * this.#capacity;
  }

  #headsOf(layer: number): LayerHeads {
    const heads = this.#layers[layer];
    if (!heads) throw new RangeError(`There is no layer ${layer}`);
    return heads;
  }
}
