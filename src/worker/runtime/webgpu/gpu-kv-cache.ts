import { BYTES_PER_VALUE, type Precision } from '../../models/checkpoint/packed-weights.ts';
import type { ModelConfig } from '../../models/model-config.ts';
import type { KvShape } from '../../../batching/generation/kv-memory.ts';
import type { ForwardTarget, RowCopy } from '../model-backend.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';

/**
 * K/V of all layers in GPU buffers. The first n slots are one decode batch. Prompts are prefilled in staging rows, since
 * attention over a past takes several tokens for a single row only.
 */
export class GpuKvCache {
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly precision: Precision;
  #shape: KvShape = { numSlots: 0, numStagingRows: 0, capacity: 0 };
  /** K and V of each layer in turn, as `GRAPH_IO.past.all` names them: each [rows, K/V heads, capacity, head size]. */
  readonly #buffers: Record<ForwardTarget, readonly GPUBuffer[]> = { slots: [], staging: [] };
  /** WebGPU refuses a copy within one buffer, so a moved row goes through this one. */
  #transit: GPUBuffer | undefined;

  constructor(device: GPUDevice, config: ModelConfig, precision: Precision) {
    this.#device = device;
    this.#config = config;
    this.precision = precision;
  }

  get bytesPerElement(): number {
    return BYTES_PER_VALUE[this.precision];
  }

  get shape(): KvShape {
    return this.#shape;
  }

  buffers(target: ForwardTarget): readonly GPUBuffer[] {
    return this.#buffers[target];
  }

  /** Keeps what fits. @returns Whether buffers changed. */
  resize(shape: KvShape): boolean {
    const old = this.#shape;
    this.#shape = shape;
    const hasNewSlots = this.#resizeRows('slots', old.numSlots, shape.numSlots, old.capacity);
    const hasNewStaging = this.#resizeRows('staging', old.numStagingRows, shape.numStagingRows, old.capacity);
    if (shape.capacity !== old.capacity) {
      this.#transit?.destroy();
      this.#transit = this.#createRows(1);
    }
    return hasNewSlots || hasNewStaging;
  }

  copyRows(from: ForwardTarget, to: ForwardTarget, rows: readonly RowCopy[]): void {
    const rowBytes = this.#rowBytes;
    const transit = this.#transit;
    const encoder = this.#device.createCommandEncoder();
    for (const [index, source] of this.buffers(from).entries()) {
      const target = this.buffers(to)[index];
      if (!target || !transit) continue;
      for (const [row, copy] of rows) {
        if (source === target) {
          encoder.copyBufferToBuffer(source, row * rowBytes, transit, 0, rowBytes);
          encoder.copyBufferToBuffer(transit, 0, target, copy * rowBytes, rowBytes);
        } else encoder.copyBufferToBuffer(source, row * rowBytes, target, copy * rowBytes, rowBytes);
      }
    }
    this.#device.queue.submit([encoder.finish()]);
  }

  destroy(): void {
    for (const buffer of [...this.buffers('slots'), ...this.buffers('staging')]) buffer.destroy();
    this.#transit?.destroy();
  }

  get #rowBytes(): number {
    return this.#config.numKvHeads * this.#stripBytes(this.#shape.capacity);
  }

  /** Bytes of one head of one row. */
  #stripBytes(capacity: number): number {
    return capacity * this.#config.headSize * this.bytesPerElement;
  }

  /** Resizes one buffer after the other, so that at most one is in memory twice. */
  #resizeRows(target: ForwardTarget, oldRows: number, numRows: number, oldCapacity: number): boolean {
    if (numRows === oldRows && this.#shape.capacity === oldCapacity) return false;
    const oldBuffers = this.#buffers[target];
    this.#buffers[target] = Array.from({ length: 2 * this.#config.numLayers }, (_, index) => {
      const old = oldBuffers[index];
      const renewed = this.#createRows(numRows);
      if (old) this.#copyStrips(old, renewed, Math.min(numRows, oldRows), oldCapacity);
      old?.destroy();
      return renewed;
    });
    return true;
  }

  #createRows(numRows: number): GPUBuffer {
    // WebGPU refuses a buffer without bytes.
    const size = Math.max(1, numRows) * this.#rowBytes;
    return this.#device.createBuffer({ size, usage: TENSOR_USAGE });
  }

  /** With another capacity the heads of a row move, so each head is copied by itself. */
  #copyStrips(source: GPUBuffer, target: GPUBuffer, numRows: number, oldCapacity: number): void {
    const oldStrip = this.#stripBytes(oldCapacity);
    const newStrip = this.#stripBytes(this.#shape.capacity);
    const numStrips = numRows * this.#config.numKvHeads;
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
