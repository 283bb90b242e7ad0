import type { ModelConfig } from '../../models/model-config.ts';
import type { KvShape } from '../../../batching/generation/kv-memory.ts';
import type { ForwardTarget } from '../model-backend.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';

/** K and V of each layer in turn, as `GRAPH_IO.past.all` names them: each [rows, K/V heads, capacity, head size]. */
interface RowBuffers {
  numRows: number;
  buffers: readonly GPUBuffer[];
}

/**
 * K/V of all layers in GPU buffers: the slots, whose first n rows are one decode batch, and staging rows in which prompts
 * are prefilled, since attention over a past takes several tokens only for a single row.
 */
export class GpuKvCache {
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly bytesPerElement: number;
  #capacity = 0;
  readonly #rows: Readonly<Record<ForwardTarget, RowBuffers>> = {
    slots: { numRows: 0, buffers: [] },
    staging: { numRows: 0, buffers: [] },
  };
  /** A copy within one buffer is refused by WebGPU, so a moved row goes through this one. */
  #transit: GPUBuffer | undefined;

  constructor(device: GPUDevice, config: ModelConfig, bytesPerElement: number) {
    this.#device = device;
    this.#config = config;
    this.bytesPerElement = bytesPerElement;
  }

  get numSlots(): number {
    return this.#rows.slots.numRows;
  }

  get capacity(): number {
    return this.#capacity;
  }

  buffers(target: ForwardTarget): readonly GPUBuffer[] {
    return this.#rows[target].buffers;
  }

  /** Keeps what is cached as far as it fits. Returns whether buffers changed. */
  resize({ numSlots, numStagingRows, capacity }: KvShape): boolean {
    const oldCapacity = this.#capacity;
    this.#capacity = capacity;
    const hasNewSlots = this.#resizeRows(this.#rows.slots, numSlots, oldCapacity);
    const hasNewStaging = this.#resizeRows(this.#rows.staging, numStagingRows, oldCapacity);
    if (capacity !== oldCapacity) {
      this.#transit?.destroy();
      this.#transit = this.#createRows(1);
    }
    return hasNewSlots || hasNewStaging;
  }

  /** Staging row i goes to `slots[i]`. */
  copyStagingTo(slots: readonly number[]): void {
    const rowBytes = this.#rowBytes;
    this.#forEachPair('staging', 'slots', (encoder, source, target) => {
      for (const [row, slot] of slots.entries()) {
        encoder.copyBufferToBuffer(source, row * rowBytes, target, slot * rowBytes, rowBytes);
      }
    });
  }

  /** The slot goes to the first staging row. */
  copyToStaging(slot: number): void {
    const rowBytes = this.#rowBytes;
    this.#forEachPair('slots', 'staging', (encoder, source, target) => {
      encoder.copyBufferToBuffer(source, slot * rowBytes, target, 0, rowBytes);
    });
  }

  copySlot(from: number, to: number): void {
    const rowBytes = this.#rowBytes;
    const transit = this.#transit;
    if (!transit) return;
    this.#forEachPair('slots', 'slots', (encoder, slots) => {
      encoder.copyBufferToBuffer(slots, from * rowBytes, transit, 0, rowBytes);
      encoder.copyBufferToBuffer(transit, 0, slots, to * rowBytes, rowBytes);
    });
  }

  destroy(): void {
    for (const buffer of [...this.buffers('slots'), ...this.buffers('staging')]) buffer.destroy();
    this.#transit?.destroy();
  }

  get #rowBytes(): number {
    return this.#config.numKvHeads * this.#stripBytes(this.#capacity);
  }

  /** One head's entries of one row. */
  #stripBytes(capacity: number): number {
    return capacity * this.#config.headSize * this.bytesPerElement;
  }

  /** One buffer after the other, so that no more than one is in memory twice. */
  #resizeRows(rows: RowBuffers, numRows: number, oldCapacity: number): boolean {
    if (numRows === rows.numRows && this.#capacity === oldCapacity) return false;
    const numKept = Math.min(numRows, rows.numRows);
    rows.buffers = Array.from({ length: 2 * this.#config.numLayers }, (_, index) => {
      const old = rows.buffers[index];
      const renewed = this.#createRows(numRows);
      if (old) this.#copyStrips(old, renewed, numKept, oldCapacity);
      old?.destroy();
      return renewed;
    });
    rows.numRows = numRows;
    return true;
  }

  #createRows(numRows: number): GPUBuffer {
    // A buffer without bytes is refused.
    const size = Math.max(1, numRows) * this.#rowBytes;
    return this.#device.createBuffer({ size, usage: TENSOR_USAGE });
  }

  /** With another capacity the heads of a row lie elsewhere, so each head's strip is copied by itself. */
  #copyStrips(source: GPUBuffer, target: GPUBuffer, numRows: number, oldCapacity: number): void {
    const oldStrip = this.#stripBytes(oldCapacity);
    const newStrip = this.#stripBytes(this.#capacity);
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

  #forEachPair(
    from: ForwardTarget,
    to: ForwardTarget,
    copy: (encoder: GPUCommandEncoder, source: GPUBuffer, target: GPUBuffer) => void,
  ): void {
    const targets = this.buffers(to);
    const encoder = this.#device.createCommandEncoder();
    for (const [index, source] of this.buffers(from).entries()) {
      const target = targets[index];
      if (target) copy(encoder, source, target);
    }
    this.#device.queue.submit([encoder.finish()]);
  }
}
