import type { LayerState } from '../models/program/layer-state.ts';
import type { RowCopy } from '../runtime/model-backend.ts';
import { stripBytes, stripsOf, type StateRows, type Strips } from '../runtime/state-rows.ts';
import type { Block, CpuMemory } from './cpu-memory.ts';

/** Where the keys and values of a row lie in a layer: [K/V heads, capacity, head size] each. Addresses in bytes. */
export interface KvPlace {
  readonly keys: number;
  readonly values: number;
  /** From one head to the next, in float32 values. */
  readonly headStride: number;
}

/** In each layer that keeps something, what a row keeps lies together: its keys, then its values, or its state of a fixed size. */
export class CpuStateRows implements StateRows {
  readonly #memory: CpuMemory;
  readonly #layers: readonly Strips[];
  #blocks: Block[] = [];
  #numRows = 0;
  #capacity = 0;

  constructor(memory: CpuMemory, states: readonly LayerState[]) {
    this.#memory = memory;
    this.#layers = states.flatMap((state) => joined(stripsOf(state, Float32Array.BYTES_PER_ELEMENT)));
  }

  /** @param layer Among those that keep something. */
  placeOf(layer: number, row: number): KvPlace {
    const strips = this.#stripsOf(layer);
    const keys = this.#addressOf(layer, row);
    const headBytes = stripBytes(strips, this.#capacity);
    return {
      keys,
      values: keys + (strips.numStrips / 2) * headBytes,
      headStride: headBytes / Float32Array.BYTES_PER_ELEMENT,
    };
  }

  /** One layer moves after the other, so the memory holds one of them twice at most. */
  resize(numRows: number, capacity: number): void {
    if (numRows === this.#numRows && capacity === this.#capacity) return;
    const numKept = Math.min(numRows, this.#numRows);
    for (const [layer, strips] of this.#layers.entries()) {
      const old = this.#blocks[layer];
      const bytes = stripBytes(strips, capacity);
      const block = this.#memory.allocate(numRows * strips.numStrips * bytes);
      this.#blocks[layer] = block;
      if (!old) continue;
      const oldBytes = stripBytes(strips, this.#capacity);
      this.#moveStrips(old.address, block.address, numKept * strips.numStrips, oldBytes, bytes);
      this.#memory.free(old);
    }
    this.#numRows = numRows;
    this.#capacity = capacity;
  }

  copyTo(target: CpuStateRows, copies: readonly RowCopy[]): void {
    const { bytes } = this.#memory;
    for (const layer of this.#layers.keys()) {
      const rowBytes = this.#rowBytes(layer);
      for (const [from, to] of copies) {
        const start = this.#addressOf(layer, from);
        bytes.copyWithin(target.#addressOf(layer, to), start, start + rowBytes);
      }
    }
  }

  clear(rows: readonly number[]): void {
    for (const [layer, { fixed }] of this.#layers.entries()) {
      if (fixed === 0) continue;
      for (const row of rows) {
        const start = this.#addressOf(layer, row);
        this.#memory.bytes.fill(0, start, start + this.#rowBytes(layer));
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

  #addressOf(layer: number, row: number): number {
    return (this.#blocks[layer]?.address ?? 0) + row * this.#rowBytes(layer);
  }

  #rowBytes(layer: number): number {
    const strips = this.#stripsOf(layer);
    return strips.numStrips * stripBytes(strips, this.#capacity);
  }

  #stripsOf(layer: number): Strips {
    const strips = this.#layers[layer];
    if (!strips) throw new RangeError(`There is no layer ${layer}`);
    return strips;
  }
}

/** Keys and values of a layer are strips of the same length. */
function joined(parts: readonly Strips[]): readonly Strips[] {
  const [strips] = parts;
  return strips ? [{ ...strips, numStrips: parts.length * strips.numStrips }] : [];
}
