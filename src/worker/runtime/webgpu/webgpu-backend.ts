import type { InferenceSession, Tensor } from 'onnxruntime-web/webgpu';
import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { SlotTransfer, StepRow } from '../../../batching/generation/model-runner.ts';
import { countElements, kvBytesPerToken, type ModelConfig } from '../../models/model-config.ts';
import { BYTES_PER_VALUE, type Precision } from '../../models/checkpoint/packed-weights.ts';
import { GRAPH_IO } from '../../models/graph/graph-io.ts';
import { WEIGHTS_LOCATION } from '../../models/graph/graph-weights.ts';
import { DeviceLostError, GpuError } from '../../protocol/errors/runtime.ts';
import {
  logitTokensOf,
  maxScoredTokensOf,
  type ForwardInput,
  type ForwardTarget,
  type ModelBackend,
  type PackedModel,
  type RowCopy,
  type SampleOutput,
} from '../model-backend.ts';
import type { GpuDevice } from './gpu-device.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';
import { GpuKvCache } from './gpu-kv-cache.ts';
import { GpuSampler, type SlotInputs } from '../gpu-sampler/gpu-sampler.ts';
import { ReadbackRing } from '../gpu-sampler/readback-ring.ts';
import { orHang } from '../step-watchdog.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort.ts';

interface WebGpuBackendOptions extends PackedModel {
  readonly gpu: Pick<GpuDevice, 'device' | 'isSoftwareAdapter'>;
}

/** Capacity in tokens of the smallest cache. It doubles as it grows, so buffers are seldom made anew. */
const SMALLEST_CAPACITY = 128;

/** onnxruntime-web rounds its copies up to this many bytes. */
const BUFFER_ALIGNMENT = 16;
const BYTES_PER_INT32 = 4;
const BYTES_PER_FLOAT32 = 4;

/** A pipeline takes a minute on a software adapter of a loaded machine. */
const PIPELINE_PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime, 27 MB uncompressed, over any network. */
const SESSION_PATIENCE_MS = 1_800_000;

/** How long a rejected run waits for the news that the device is lost. */
const LOSS_GRACE_MS = 100;

/** Threads that sample one row. A software adapter runs them one after the other and pays for each at every barrier. */
const SAMPLER_WORKGROUP_SIZE = { hardware: 256, software: 16 } as const;

/** Of onnxruntime's severities. It warns of each graph whose shapes are computed on the CPU, which is where they belong. */
const ERRORS_ONLY = 3;

/** K/V tensors by the names of the graph's inputs and outputs. */
type KvTensors = Readonly<Record<'feeds' | 'fetches', Readonly<Record<string, Tensor>>>>;

/**
 * A model on onnxruntime-web's native WebGPU backend. Past and present K/V are the same GPU buffers, so the cache is
 * updated in place. Inputs and logits live in persistent buffers, so a step creates none. The sampler runs right behind
 * each pass and writes its tokens into the inputs of the slots.
 */
export class WebGpuBackend implements ModelBackend {
  readonly isPipelined = true;
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly #precision: Precision;
  readonly #cache: GpuKvCache;
  readonly #sampler: GpuSampler;
  readonly #ring: ReadbackRing;
  readonly #buffers = new Map<string, GPUBuffer>();
  /** K/V feeds and fetches by target and number of rows; emptied when the cache's buffers change. */
  readonly #kvTensors = new Map<string, KvTensors>();
  readonly failure: Promise<Error>;
  #deviceError: Error | undefined;
  #isReleased = false;

  /** @throws StepHangError where a part of it hangs. */
  static async create(options: WebGpuBackendOptions): Promise<WebGpuBackend> {
    const ort = await loadOrt('webgpu');
    const { gpu, model, packed, weights } = options;
    const { maxStorageBufferBindingSize: maxBindingBytes } = gpu.device.limits;
    const { contextLength } = model.config;
    const graph = model.buildGraph({ layout: packed, maxBindingBytes, contextLength, kvOutputs: 'present' });
    const workgroupSize = SAMPLER_WORKGROUP_SIZE[gpu.isSoftwareAdapter ? 'software' : 'hardware'];
    const sampler = orHang(
      GpuSampler.create(gpu.device, model.config.vocabSize, workgroupSize),
      PIPELINE_PATIENCE_MS,
    );
    // Awaited after the session; until then a failure must not count as an unhandled rejection.
    sampler.catch(() => {});
    const creation = ortMutex.run(() =>
      ort.InferenceSession.create(graph, {
        // Outputs are pre-allocated. With preferredOutputLocation, one failed run would leave the session unusable.
        executionProviders: [{ name: 'webgpu', device: gpu.device, validationMode: 'wgpuOnly' }],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
        logSeverityLevel: ERRORS_ONLY,
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
    this.#ring = new ReadbackRing(device);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failure = promise;
    const fail = (error: Error): void => {
      this.#deviceError ??= error;
      resolve(this.#deviceError);
    };
    device.addEventListener('uncapturederror', ({ error }) => fail(GpuError.of(error)));
    void this.#watchForLoss(fail);
  }

  /** WebGPU does not tell how much memory there is. The largest buffer that the adapter allows is the best hint. */
  get kvCacheLimits(): KvCacheLimits {
    const { numLayers, contextLength } = this.#config;
    return {
      bytesPerToken: kvBytesPerToken(this.#config, this.#cache.bytesPerElement),
      maxBytes: this.#device.limits.maxBufferSize,
      maxSlotBytes: 2 * numLayers * this.#maxBufferBytes,
      capacityFor: (length) =>
        Math.min(contextLength, Math.max(SMALLEST_CAPACITY, 2 ** Math.ceil(Math.log2(length)))),
    };
  }

  get maxScoredTokens(): number {
    return maxScoredTokensOf(this.#config.vocabSize, this.#maxBufferBytes);
  }

  get #maxBufferBytes(): number {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    return Math.min(maxBufferSize, maxStorageBufferBindingSize);
  }

  resize(shape: KvShape): void {
    if (this.#cache.resize(shape)) this.#kvTensors.clear();
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    this.#throwIfDeviceFailed();
    const startedAtMs = performance.now();
    const logitTokens = logitTokensOf(input);
    const kv = this.#kvTensorsFor(input.target, input.numRows);
    const feeds = { ...kv.feeds, ...this.#inputTensors(input, logitTokens) };
    const logitsDims = [logitTokens.length, this.#config.vocabSize];
    const logits = this.#tensor(this.#logits(logitTokens.length), 'float32', logitsDims);
    const fetches = { ...kv.fetches, [GRAPH_IO.logits]: logits };
    await this.#explained(ortMutex.run(() => this.#session.run(feeds, fetches)));
    return { runMs: performance.now() - startedAtMs };
  }

  async sample(target: ForwardTarget, rows: readonly StepRow[]): Promise<SampleOutput> {
    const startedAtMs = performance.now();
    const inputs = this.#slotInputs();
    if (target === 'staging') for (const row of rows) this.#placeInSlot(row, inputs);
    const samples = await this.#explained(this.#sampler.sample(rows, this.#logits(rows.length), inputs));
    this.#throwIfDeviceFailed();
    return { samples, readbackMs: performance.now() - startedAtMs };
  }

  /** Without this wait the chunks of a long prompt would follow each other in microtasks, and messages would starve. */
  async finish(): Promise<{ readonly readbackMs: number }> {
    const startedAtMs = performance.now();
    await this.#explained(this.#device.queue.onSubmittedWorkDone());
    this.#throwIfDeviceFailed();
    return { readbackMs: performance.now() - startedAtMs };
  }

  async readLogits(numRows: number): Promise<Float32Array> {
    const encoder = this.#device.createCommandEncoder();
    const readBack = this.#ring.copy(encoder, this.#logits(numRows), numRows * this.#config.vocabSize);
    this.#device.queue.submit([encoder.finish()]);
    return new Float32Array((await this.#explained(readBack())).buffer);
  }

  copyRows(from: ForwardTarget, to: ForwardTarget, rows: readonly RowCopy[]): void {
    this.#cache.copyRows(from, to, rows);
  }

  transfer({ kind, from, to }: SlotTransfer): void {
    this.#cache.copyRows('slots', 'slots', [[from, to]]);
    if (kind === 'move') this.#sampler.moveSlot(from, to);
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await ortMutex.run(() => this.#session.release());
    this.#cache.destroy();
    this.#sampler.destroy();
    this.#ring.destroy();
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#device.destroy();
  }

  #logits(numRows: number): GPUBuffer {
    return this.#buffer('logits', numRows * this.#config.vocabSize * BYTES_PER_FLOAT32);
  }

  #inputTensors(input: ForwardInput, logitTokens: Int32Array): Record<string, Tensor> {
    const { target, numRows, tokensPerRow, ids, lastIndices } = input;
    const place = (name: string, values: Int32Array | 'sampled', dims: readonly number[]): Tensor => {
      const buffer = this.#inputBuffer(target, name, countElements(dims));
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
      // Attention reads this input on the CPU.
      [GRAPH_IO.totalLength]: new this.#ort.Tensor('int32', Int32Array.of(Math.max(...lastIndices) + 1), [1]),
    };
  }

  #inputBuffer(target: ForwardTarget, name: string, numValues: number): GPUBuffer {
    // Inputs of the slots never grow with a batch: a larger buffer would lose what the sampler wrote.
    const length = target === 'slots' ? this.#cache.shape.numSlots : numValues;
    return this.#buffer(`${target} ${name}`, length * BYTES_PER_INT32);
  }

  #slotInputs(): SlotInputs {
    const { numSlots } = this.#cache.shape;
    return {
      ids: this.#inputBuffer('slots', GRAPH_IO.ids, numSlots),
      positions: this.#inputBuffer('slots', GRAPH_IO.positions, numSlots),
      lastIndices: this.#inputBuffer('slots', GRAPH_IO.lastIndices, numSlots),
    };
  }

  /** Sets where the slot's sequence ends, so that the sampler can go on from there. */
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
    const dims = [numRows, numKvHeads, this.#cache.shape.capacity, headSize];
    const buffers = this.#cache.buffers(target);
    // A tensor over the first rows of a larger buffer touches those rows only.
    const named = (names: readonly string[]): Record<string, Tensor> =>
      Object.fromEntries(
        buffers.map((buffer, i) => [names[i] ?? '', this.#tensor(buffer, this.#precision, dims)]),
      );
    const kv = {
      feeds: named(GRAPH_IO.past.all(numLayers)),
      fetches: named(GRAPH_IO.present.all(numLayers)),
    };
    this.#kvTensors.set(key, kv);
    return kv;
  }

  /** A persistent buffer, replaced where it is too small. */
  #buffer(name: string, numBytes: number): GPUBuffer {
    const known = this.#buffers.get(name);
    if (known && known.size >= numBytes) return known;
    known?.destroy();
    const size = Math.ceil(numBytes / BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT;
    const buffer = this.#device.createBuffer({ size, usage: TENSOR_USAGE });
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

  /** Calls on a lost device are rejected for other reasons; the news of the loss comes a moment later. */
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
