import type { LayerState } from '../../models/program/layer-state.ts';
import type { RowCopy } from '../../runtime/model-backend.ts';
import { stripBytes, stripsOf, type StateRows, type Strips } from '../../runtime/state-rows.ts';
import type { Block, CpuMemory } from './cpu-memory.ts';

/** Where the keys and values of a row lie in a layer: [K/V heads, capacity, head size] each. Addresses in bytes. */
export interface KvPlace {
  readonly keys: number;
  readonly values: number;
  /** From one head to the next, in float32 values. */
  readonly headStride: number;
}

/** A layer's memory for rows of one capacity. */
interface LayerRows {
  readonly block: Block;
  readonly numRows: number;
  readonly capacity: number;
}

/** In each layer that keeps something, what a row keeps lies together: its keys, then its values, or its state of a fixed size. */
export class CpuStateRows implements StateRows {
  readonly #memory: CpuMemory;
  readonly #layers: readonly Strips[];
  readonly #rows: LayerRows[] = [];

  constructor(memory: CpuMemory, states: readonly LayerState[]) {
    this.#memory = memory;
    this.#layers = states.flatMap((state) => joined(stripsOf(state, Float32Array.BYTES_PER_ELEMENT)));
  }

  /** @param layer Among those that keep something. */
  placeOf(layer: number, row: number): KvPlace {
    const strips = this.#stripsOf(layer);
    const keys = this.addressOf(layer, row);
    const headBytes = stripBytes(strips, this.#capacityOf(layer));
    return {
      keys,
      values: keys + (strips.numStrips / 2) * headBytes,
      headStride: headBytes / Float32Array.BYTES_PER_ELEMENT,
    };
  }

  /** The address of all that a row keeps in a layer. */
  addressOf(layer: number, row: number): number {
    return (this.#rows[layer]?.block.address ?? 0) + row * this.#rowBytes(layer);
  }

  /**
   * One layer moves after the other, so the memory holds one of them twice at most.
   *
   * @throws RangeError if the memory is full. Each layer has its old or its new shape then, and the same call goes on from there.
   */
  resize(numRows: number, capacity: number): void {
    for (const [layer, strips] of this.#layers.entries()) {
      const old = this.#rows[layer];
      if (old?.numRows === numRows && old.capacity === capacity) continue;
      const bytes = stripBytes(strips, capacity);
      const block = this.#memory.allocate(numRows * strips.numStrips * bytes);
      this.#rows[layer] = { block, numRows, capacity };
      if (!old) continue;
      const numKept = Math.min(numRows, old.numRows) * strips.numStrips;
      this.#moveStrips(old.block.address, block.address, numKept, stripBytes(strips, old.capacity), bytes);
      this.#memory.free(old.block);
    }
  }

  copyTo(target: CpuStateRows, copies: readonly RowCopy[]): void {
    const { bytes } = this.#memory;
    for (const layer of this.#layers.keys()) {
      const rowBytes = Math.min(this.#rowBytes(layer), target.#rowBytes(layer));
      for (const [from, to] of copies) {
        const start = this.addressOf(layer, from);
        bytes.copyWithin(target.addressOf(layer, to), start, start + rowBytes);
      }
    }
  }

  clear(rows: readonly number[]): void {
    for (const [layer, { fixed }] of this.#layers.entries()) {
      if (fixed === 0) continue;
      for (const row of rows) {
        const start = this.addressOf(layer, row);
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

  #rowBytes(layer: number): number {
    const strips = this.#stripsOf(layer);
    return strips.numStrips * stripBytes(strips, this.#capacityOf(layer));
  }

  #capacityOf(layer: number): number {
    return this.#rows[layer]?.capacity ?? 0;
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
