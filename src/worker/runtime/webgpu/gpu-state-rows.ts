import type { LayerState } from '../../models/program/layer-state.ts';
import type { RowCopy } from '../model-backend.ts';
import { stripBytes, stripsOf, type StateRows, type Strips } from '../state-rows.ts';
import { TENSOR_USAGE } from '../gpu-sampler/gpu-flags.ts';

/** The keys of a layer, its values, or its state of a fixed size, in one buffer. */
interface Part extends Strips {
  readonly layer: number;
}

/** The state of rows, in GPU buffers. A buffer of keys or values is [rows, K/V heads, capacity, head size]. */
export class GpuStateRows implements StateRows {
  readonly #device: GPUDevice;
  readonly #parts: readonly Part[];
  /** By part; none where it has no bytes, which WebGPU refuses. */
  readonly #buffers: (GPUBuffer | undefined)[] = [];
  #numRows = 0;
  #capacity = 0;
  /** WebGPU refuses a copy within one buffer, so a moved row goes through this one. */
  #transit: GPUBuffer | undefined;

  constructor(device: GPUDevice, states: readonly LayerState[], bytesPerValue: number) {
    this.#device = device;
    this.#parts = states.flatMap((state, layer) =>
      stripsOf(state, bytesPerValue).map((strips) => ({ ...strips, layer })),
    );
  }

  get numRows(): number {
    return this.#numRows;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** The keys and the values, or the state of a fixed size. */
  buffersOf(layer: number): readonly GPUBuffer[] {
    return this.#buffers.flatMap((buffer, index) =>
      buffer && this.#parts[index]?.layer === layer ? [buffer] : [],
    );
  }

  /** @returns Whether there are new buffers. */
  resize(numRows: number, capacity: number): boolean {
    const [oldRows, oldCapacity] = [this.#numRows, this.#capacity];
    if (numRows === oldRows && capacity === oldCapacity) return false;
    const numKept = Math.min(numRows, oldRows);
    // One buffer after the other, so that at most one is in memory twice.
    for (const [index, part] of this.#parts.entries()) {
      const old = this.#buffers[index];
      const [oldStrip, newStrip] = [stripBytes(part, oldCapacity), stripBytes(part, capacity)];
      if (old && numRows === oldRows && oldStrip === newStrip) continue;
      const size = numRows * part.numStrips * newStrip;
      const renewed = size > 0 ? this.#createBuffer(size) : undefined;
      if (old && renewed) this.#copyStrips(old, renewed, numKept * part.numStrips, oldStrip, newStrip);
      old?.destroy();
      this.#buffers[index] = renewed;
    }
    this.#numRows = numRows;
    this.#capacity = capacity;
    this.#transit?.destroy();
    this.#transit = undefined;
    return true;
  }

  copyTo(target: GpuStateRows, copies: readonly RowCopy[]): void {
    const encoder = this.#device.createCommandEncoder();
    for (const [index, part] of this.#parts.entries()) {
      const [source, copied] = [this.#buffers[index], target.#buffers[index]];
      if (!source || !copied) continue;
      const rowBytes = this.#rowBytes(part);
      for (const [row, copy] of copies) {
        if (source === copied) {
          const transit = (this.#transit ??= this.#createTransit());
          encoder.copyBufferToBuffer(source, row * rowBytes, transit, 0, rowBytes);
          encoder.copyBufferToBuffer(transit, 0, copied, copy * rowBytes, rowBytes);
        } else encoder.copyBufferToBuffer(source, row * rowBytes, copied, copy * rowBytes, rowBytes);
      }
    }
    this.#device.queue.submit([encoder.finish()]);
  }

  clear(rows: readonly number[]): void {
    const fixed = this.#parts.flatMap((part, index) => (part.fixed > 0 ? [{ part, index }] : []));
    if (fixed.length === 0 || rows.length === 0) return;
    const encoder = this.#device.createCommandEncoder();
    for (const { part, index } of fixed) {
      const buffer = this.#buffers[index];
      const rowBytes = this.#rowBytes(part);
      if (buffer) for (const row of rows) encoder.clearBuffer(buffer, row * rowBytes, rowBytes);
    }
    this.#device.queue.submit([encoder.finish()]);
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer?.destroy();
    this.#transit?.destroy();
  }

  #rowBytes(part: Part): number {
    return part.numStrips * stripBytes(part, this.#capacity);
  }

  #createTransit(): GPUBuffer {
    return this.#createBuffer(Math.max(...this.#parts.map((part) => this.#rowBytes(part))));
  }

  #createBuffer(size: number): GPUBuffer {
    return this.#device.createBuffer({ size, usage: TENSOR_USAGE });
  }

  /** With another capacity the heads of a row move, so each head is copied by itself. */
  #copyStrips(
    source: GPUBuffer,
    target: GPUBuffer,
    numStrips: number,
    oldStrip: number,
    newStrip: number,
  ): void {
    const encoder = this.#device.createCommandEncoder();
    if (oldStrip === newStrip) encoder.copyBufferToBuffer(source, 0, target, 0, numStrips * newStrip);
    else
      for (let strip = 0; strip < numStrips; strip++) {
        const length = Math.min(oldStrip, newStrip);
        encoder.copyBufferToBuffer(source, strip * oldStrip, target, strip * newStrip, length);
      }
    this.#device.queue.submit([encoder.finish()]);
  }
}
