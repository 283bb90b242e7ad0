import type { Gpt2Config } from '../model/gpt2-config.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';

/** One layer's K and V, each [rows, heads, capacity, headSize]. */
export interface LayerBuffers {
  readonly key: GPUBuffer;
  readonly value: GPUBuffer;
}

/**
 * K/V of all layers in GPU buffers: the slots, whose first n rows are one decode batch, and one staging row in which a
 * prompt is prefilled, since attention over a past takes several tokens only for a single row.
 */
export class GpuKvCache {
  readonly #device: GPUDevice;
  readonly #config: Gpt2Config;
  readonly #bytesPerElement: number;
  #numSlots = 0;
  #capacity = 0;
  #slots: LayerBuffers[] = [];
  #staging: LayerBuffers[] = [];
  /** A copy within one buffer is refused by WebGPU, so a moved row goes through this one. */
  #transit: GPUBuffer | undefined;

  constructor(device: GPUDevice, config: Gpt2Config, bytesPerElement: number) {
    this.#device = device;
    this.#config = config;
    this.#bytesPerElement = bytesPerElement;
  }

  get numSlots(): number {
    return this.#numSlots;
  }

  get capacity(): number {
    return this.#capacity;
  }

  layers(target: 'staging' | 'slots'): readonly LayerBuffers[] {
    return target === 'staging' ? this.#staging : this.#slots;
  }

  /** Grows to at least `numSlots` rows of `capacity` tokens, keeping what is cached. Returns whether buffers changed. */
  reserve(numSlots: number, capacity: number): boolean {
    if (numSlots <= this.#numSlots && capacity <= this.#capacity) return false;
    const old = {
      slots: this.#slots,
      staging: this.#staging,
      transit: this.#transit,
      numSlots: this.#numSlots,
    };
    const oldCapacity = this.#capacity;
    this.#numSlots = Math.max(numSlots, this.#numSlots);
    this.#capacity = Math.max(capacity, this.#capacity);
    this.#slots = this.#createLayers(this.#numSlots);
    this.#staging = this.#createLayers(1);
    this.#transit = this.#createRows(1);
    const encoder = this.#device.createCommandEncoder();
    this.#copyStrips(encoder, old.slots, this.#slots, old.numSlots, oldCapacity);
    this.#copyStrips(encoder, old.staging, this.#staging, 1, oldCapacity);
    this.#device.queue.submit([encoder.finish()]);
    destroyLayers([...old.slots, ...old.staging]);
    old.transit?.destroy();
    return true;
  }

  copyStagingTo(slot: number): void {
    const rowBytes = this.#rowBytes;
    this.#forEachPair(this.#staging, this.#slots, (encoder, staging, slots) => {
      encoder.copyBufferToBuffer(staging, 0, slots, slot * rowBytes, rowBytes);
    });
  }

  moveSlot(from: number, to: number): void {
    const rowBytes = this.#rowBytes;
    const transit = this.#transit;
    if (!transit) return;
    this.#forEachPair(this.#slots, this.#slots, (encoder, slots) => {
      encoder.copyBufferToBuffer(slots, from * rowBytes, transit, 0, rowBytes);
      encoder.copyBufferToBuffer(transit, 0, slots, to * rowBytes, rowBytes);
    });
  }

  destroy(): void {
    destroyLayers([...this.#slots, ...this.#staging]);
    this.#transit?.destroy();
  }

  get #rowBytes(): number {
    return this.#config.numHeads * this.#stripBytes(this.#capacity);
  }

  /** One head's entries of one row. */
  #stripBytes(capacity: number): number {
    return capacity * this.#config.headSize * this.#bytesPerElement;
  }

  #createLayers(numRows: number): LayerBuffers[] {
    return Array.from({ length: this.#config.numLayers }, () => ({
      key: this.#createRows(numRows),
      value: this.#createRows(numRows),
    }));
  }

  #createRows(numRows: number): GPUBuffer {
    return this.#device.createBuffer({ size: numRows * this.#rowBytes, usage: TENSOR_USAGE });
  }

  /** A larger capacity spreads the heads of a row apart, so each head's strip is copied by itself. */
  #copyStrips(
    encoder: GPUCommandEncoder,
    from: readonly LayerBuffers[],
    to: readonly LayerBuffers[],
    numRows: number,
    fromCapacity: number,
  ): void {
    const fromStrip = this.#stripBytes(fromCapacity);
    const toStrip = this.#stripBytes(this.#capacity);
    for (const [source, target] of buffersOf(from, to)) {
      for (let strip = 0; strip < numRows * this.#config.numHeads; strip++) {
        encoder.copyBufferToBuffer(source, strip * fromStrip, target, strip * toStrip, fromStrip);
      }
    }
  }

  #forEachPair(
    from: readonly LayerBuffers[],
    to: readonly LayerBuffers[],
    copy: (encoder: GPUCommandEncoder, source: GPUBuffer, target: GPUBuffer) => void,
  ): void {
    const encoder = this.#device.createCommandEncoder();
    for (const [source, target] of buffersOf(from, to)) copy(encoder, source, target);
    this.#device.queue.submit([encoder.finish()]);
  }
}

function* buffersOf(
  from: readonly LayerBuffers[],
  to: readonly LayerBuffers[],
): Generator<readonly [GPUBuffer, GPUBuffer]> {
  for (const [layer, source] of from.entries()) {
    const target = to[layer];
    if (!target) continue;
    yield [source.key, target.key];
    yield [source.value, target.value];
  }
}

function destroyLayers(layers: readonly LayerBuffers[]): void {
  for (const { key, value } of layers) {
    key.destroy();
    value.destroy();
  }
}
