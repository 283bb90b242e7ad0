import type { InferenceSession, Tensor } from 'onnxruntime-web/webgpu';
import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { SlotTransfer, StepRow } from '../../../batching/generation/model-runner.ts';
import type { Model } from '../../models/family.ts';
import { kvBytesPerToken, type ModelConfig } from '../../models/model-config.ts';
import {
  BYTES_PER_VALUE,
  type PackedLayout,
  type Precision,
} from '../../models/checkpoint/packed-weights.ts';
import { GRAPH_IO } from '../../models/graph/model-graph.ts';
import { WEIGHTS_LOCATION } from '../../models/graph/graph-weights.ts';
import { DeviceLostError, GpuError } from '../../protocol/errors/runtime.ts';
import {
  logitTokensOf,
  maxScoredTokensOf,
  type ForwardInput,
  type ForwardTarget,
  type ModelBackend,
  type SampleOutput,
} from '../model-backend.ts';
import type { GpuDevice } from './gpu-device.ts';
import { BUFFER_USAGE, MAP_MODE, TENSOR_USAGE } from './gpu-flags.ts';
import { GpuKvCache } from './gpu-kv-cache.ts';
import { GpuSampler, type SlotInputs } from '../gpu-sampler/gpu-sampler.ts';
import { orHang } from '../or-hang.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort.ts';

interface WebGpuBackendOptions {
  readonly gpu: Pick<GpuDevice, 'device' | 'isSoftwareAdapter'>;
  readonly model: Model;
  readonly packed: PackedLayout;
  /** The packed file, or what reads it. */
  readonly weights: Uint8Array;
}

/** Cached tokens per row grow in powers of two from here: memory follows use, and buffers are seldom made anew. */
const SMALLEST_CAPACITY = 128;

/** onnxruntime-web rounds its copies up to this many bytes. */
const BUFFER_ALIGNMENT = 16;
const BYTES_PER_INT32 = 4;
const BYTES_PER_FLOAT32 = 4;

/** On a software adapter, on a loaded machine, a pipeline takes a minute. */
const PIPELINE_PATIENCE_MS = 300_000;
/** The first session waits for the runtime's own download, 27 MB where no server packs them, over whatever network there is. */
const SESSION_PATIENCE_MS = 1_800_000;

/** Between the rejection of what a device was doing and the news of its loss. */
const LOSS_GRACE_MS = 100;

/** Threads that sample one row. A software adapter runs them one after the other, and pays for each at every barrier. */
const SAMPLER_WORKGROUP_SIZE = { hardware: 256, software: 16 } as const;

/**
 * GPT-2 on onnxruntime-web's native WebGPU backend. Past and present K/V are the same GPU buffers, so the cache is
 * updated in place; inputs and logits live in persistent buffers, so a step creates none. The sampler runs right behind
 * each pass and leaves its tokens in the inputs of the slots.
 */
export class WebGpuBackend implements ModelBackend {
  readonly isPipelined = true;
  /** A pass over a few short prompts is mostly dispatch, so padding costs little. */
  readonly maxPrefillRows = 8;
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly #precision: Precision;
  readonly #cache: GpuKvCache;
  readonly #sampler: GpuSampler;
  readonly #buffers = new Map<string, GPUBuffer>();
  /** K/V feeds and fetches by target and number of rows; emptied when the cache's buffers change. */
  readonly #kvTensors = new Map<string, KvTensors>();
  readonly failure: Promise<Error>;
  #deviceError: Error | undefined;
  #isReleased = false;

  /** @throws StepHangError where a part of it comes to no end. */
  static async create(options: WebGpuBackendOptions): Promise<WebGpuBackend> {
    const ort = await loadOrt('webgpu');
    const { gpu, model, packed, weights } = options;
    const { maxStorageBufferBindingSize: maxBindingBytes } = gpu.device.limits;
    const graph = model.buildGraph({ layout: packed, maxBindingBytes, kvOutputs: 'present' });
    const workgroupSize = SAMPLER_WORKGROUP_SIZE[gpu.isSoftwareAdapter ? 'software' : 'hardware'];
    const sampler = orHang(
      GpuSampler.create(gpu.device, model.config.vocabSize, workgroupSize),
      PIPELINE_PATIENCE_MS,
    );
    // Its end is looked at when the session is there: one that fails before is no unhandled rejection.
    sampler.catch(() => {});
    const creation = ortMutex.run(() =>
      ort.InferenceSession.create(graph, {
        // No preferredOutputLocation: with it, one failed run leaves the session unusable. Outputs are pre-allocated.
        executionProviders: [{ name: 'webgpu', device: gpu.device, validationMode: 'wgpuOnly' }],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
      }),
    );
    const session = await orHang(creation, SESSION_PATIENCE_MS);
    return new WebGpuBackend(ort, session, await sampler, options);
  }

  private constructor(
    ort: OrtModule,
    session: InferenceSession,
    sampler: GpuSampler,
    { gpu, model: { config }, packed }: WebGpuBackendOptions,
  ) {
    const { device } = gpu;
    this.#ort = ort;
    this.#session = session;
    this.#device = device;
    this.#config = config;
    this.#precision = packed.precision;
    this.#cache = new GpuKvCache(device, config, BYTES_PER_VALUE[packed.precision]);
    this.#sampler = sampler;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failure = promise;
    const fail = (error: Error): void => {
      this.#deviceError ??= error;
      resolve(this.#deviceError);
    };
    device.addEventListener('uncapturederror', ({ error }) => fail(GpuError.of(error)));
    void this.#watchForLoss(fail);
  }

  /**
   * WebGPU does not tell how much memory there is: the largest buffer that the adapter offers is the best hint, and the
   * K/V cache gets as much as one of these.
   */
  get kvCacheLimits(): KvCacheLimits {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const { numLayers, contextLength } = this.#config;
    return {
      bytesPerToken: kvBytesPerToken(this.#config, this.#cache.bytesPerElement),
      maxBytes: maxBufferSize,
      maxSlotBytes: 2 * numLayers * Math.min(maxBufferSize, maxStorageBufferBindingSize),
      capacityFor: (length) =>
        Math.min(contextLength, Math.max(SMALLEST_CAPACITY, 2 ** Math.ceil(Math.log2(length)))),
    };
  }

  get maxScoredTokens(): number {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    return maxScoredTokensOf(this.#config.vocabSize, Math.min(maxBufferSize, maxStorageBufferBindingSize));
  }

  resize(shape: KvShape): void {
    if (this.#cache.resize(shape)) this.#kvTensors.clear();
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    this.#throwIfDeviceFailed();
    const { numRows } = input;
    const startedAtMs = performance.now();
    const logitTokens = logitTokensOf(input);
    const kv = this.#kvTensorsFor(input.target, numRows);
    const feeds = { ...kv.feeds, ...this.#inputTensors(input, logitTokens) };
    const fetches = {
      ...kv.fetches,
      [GRAPH_IO.logits]: this.#tensor(this.#logits(logitTokens.length), 'float32', [
        logitTokens.length,
        this.#config.vocabSize,
      ]),
    };
    await this.#explained(ortMutex.run(() => this.#session.run(feeds, fetches)));
    return { runMs: performance.now() - startedAtMs };
  }

  async sample(target: ForwardTarget, rows: readonly StepRow[]): Promise<SampleOutput> {
    const startedAtMs = performance.now();
    const inputs = this.#slotInputs();
    if (target === 'staging') for (const row of rows) this.#placeInSlot(row, inputs);
    const samples = await this.#explained(
      this.#sampler.sample(target, rows, this.#logits(rows.length), inputs),
    );
    this.#throwIfDeviceFailed();
    return { samples, readbackMs: performance.now() - startedAtMs };
  }

  /** Without waiting, the chunks of a long prompt would follow each other in microtasks, and no message be seen between. */
  async finish(): Promise<{ readonly readbackMs: number }> {
    const startedAtMs = performance.now();
    await this.#explained(this.#device.queue.onSubmittedWorkDone());
    this.#throwIfDeviceFailed();
    return { readbackMs: performance.now() - startedAtMs };
  }

  readLogits(numRows: number): Promise<Float32Array> {
    return this.#explained(this.#readLogits(numRows));
  }

  async #readLogits(numRows: number): Promise<Float32Array> {
    const numBytes = numRows * this.#config.vocabSize * BYTES_PER_FLOAT32;
    const readback = this.#buffer('readback', numBytes, BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST);
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#logits(numRows), 0, readback, 0, numBytes);
    this.#device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ, 0, numBytes);
    const values = new Float32Array(readback.getMappedRange(0, numBytes).slice());
    readback.unmap();
    return values;
  }

  copyStagingTo(slots: readonly number[]): void {
    this.#cache.copyStagingTo(slots);
  }

  copyToStaging(slot: number): void {
    this.#cache.copyToStaging(slot);
  }

  transfer({ kind, from, to }: SlotTransfer): void {
    this.#cache.copySlot(from, to);
    if (kind === 'move') this.#sampler.moveSlot(from, to);
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await ortMutex.run(() => this.#session.release());
    this.#cache.destroy();
    this.#sampler.destroy();
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#device.destroy();
  }

  #logits(numRows: number): GPUBuffer {
    return this.#buffer('logits', numRows * this.#config.vocabSize * BYTES_PER_FLOAT32, TENSOR_USAGE);
  }

  #inputTensors(input: ForwardInput, logitTokens: Int32Array): Record<string, Tensor> {
    const { target, numRows, tokensPerRow, lastIndices } = input;
    const { ids } = input;
    const place = (name: string, values: Int32Array | 'sampled', dims: readonly number[]): Tensor => {
      const numValues = dims.reduce((product, dim) => product * dim, 1);
      const buffer = this.#inputBuffer(target, name, numValues);
      if (values !== 'sampled' && ids !== 'sampled') {
        this.#device.queue.writeBuffer(buffer, 0, values.buffer, values.byteOffset, values.byteLength);
      }
      return this.#tensor(buffer, 'int32', dims);
    };
    return {
      [GRAPH_IO.ids]: place(GRAPH_IO.ids, ids, [numRows, tokensPerRow]),
      [GRAPH_IO.positions]: place(GRAPH_IO.positions, input.positions, [numRows, tokensPerRow]),
      [GRAPH_IO.lastIndices]: place(GRAPH_IO.lastIndices, lastIndices, [numRows]),
      [GRAPH_IO.logitTokens]: place(GRAPH_IO.logitTokens, logitTokens, [logitTokens.length]),
      // The only input that attention reads on the CPU.
      [GRAPH_IO.totalLength]: new this.#ort.Tensor('int32', Int32Array.of(Math.max(...lastIndices) + 1), [1]),
    };
  }

  #inputBuffer(target: ForwardTarget, name: string, numValues: number): GPUBuffer {
    // Of the slots there is one for each from the start: what the sampler writes is not lost to a larger buffer.
    const length = target === 'slots' ? this.#cache.numSlots : numValues;
    return this.#buffer(`${target} ${name}`, length * BYTES_PER_INT32, TENSOR_USAGE);
  }

  #slotInputs(): SlotInputs {
    const { numSlots } = this.#cache;
    return {
      ids: this.#inputBuffer('slots', GRAPH_IO.ids, numSlots),
      positions: this.#inputBuffer('slots', GRAPH_IO.positions, numSlots),
      lastIndices: this.#inputBuffer('slots', GRAPH_IO.lastIndices, numSlots),
    };
  }

  /** Makes the last token of a prompt the last of its slot too: the sampler goes on from there. */
  #placeInSlot({ slot, startPosition, tokenIds }: StepRow, { positions, lastIndices }: SlotInputs): void {
    const lastIndex = Int32Array.of(startPosition + tokenIds.length - 1);
    for (const buffer of [positions, lastIndices]) {
      this.#device.queue.writeBuffer(buffer, slot * BYTES_PER_INT32, lastIndex);
    }
  }

  #kvTensorsFor(target: ForwardTarget, numRows: number): KvTensors {
    const key = `${target} ${numRows}`;
    const known = this.#kvTensors.get(key);
    if (known) return known;
    const { numLayers, numKvHeads, headSize } = this.#config;
    const dims = [numRows, numKvHeads, this.#cache.capacity, headSize];
    // A tensor over the first rows of a larger buffer touches those rows only.
    const tensors = this.#cache.buffers(target).map((buffer) => this.#tensor(buffer, this.#precision, dims));
    const named = (names: readonly string[]): Record<string, Tensor> =>
      Object.fromEntries(tensors.map((tensor, i) => [names[i] ?? '', tensor]));
    const kv = {
      feeds: named(GRAPH_IO.past.all(numLayers)),
      fetches: named(GRAPH_IO.present.all(numLayers)),
    };
    this.#kvTensors.set(key, kv);
    return kv;
  }

  /** The persistent buffer of this name, replaced by a larger one where it is too small. */
  #buffer(name: string, numBytes: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const known = this.#buffers.get(name);
    if (known && known.size >= numBytes) return known;
    known?.destroy();
    const size = Math.ceil(numBytes / BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT;
    const buffer = this.#device.createBuffer({ size, usage });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  #tensor(buffer: GPUBuffer, dataType: 'float16' | 'float32' | 'int32', dims: readonly number[]): Tensor {
    return this.#ort.Tensor.fromGpuBuffer(buffer, { dataType, dims });
  }

  async #watchForLoss(fail: (error: Error) => void): Promise<void> {
    const { message, reason } = await this.#device.lost;
    if (!this.#isReleased) fail(DeviceLostError.because(message || reason));
  }

  /** What a lost device rejects speaks of buffers and callbacks; why it did so is told a moment later. */
  async #explained<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (cause) {
      const grace = new Promise<void>((resolve) => void setTimeout(resolve, LOSS_GRACE_MS));
      await Promise.race([this.failure, grace]);
      throw this.#deviceError ?? cause;
    }
  }

  #throwIfDeviceFailed(): void {
    if (this.#deviceError) throw this.#deviceError;
  }
}

interface KvTensors {
  readonly feeds: Record<string, Tensor>;
  readonly fetches: Record<string, Tensor>;
}
