import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../../batching/generation/kv-slots.ts';
import type { StepRow } from '../../../batching/generation/model-runner.ts';
import { BYTES_PER_VALUE } from '../../models/checkpoint/packed-weights.ts';
import type { ModelConfig } from '../../models/program/model-config.ts';
import { numBuffersOf, rowBytesOf, type RowBytes } from '../../models/program/layer-state.ts';
import { deviceLost } from '../../../protocol/errors/runtime-messages.ts';
import { GpuError } from '../faults/runtime-errors.ts';
import { GpuSampler, type SlotInputs } from '../gpu-sampler/gpu-sampler.ts';
import { ReadbackRing } from '../gpu-sampler/readback-ring.ts';
import {
  maxScoredTokensOf,
  newRowsOf,
  type ForwardInput,
  type ModelBackend,
  type PassShape,
  type RowCopy,
  type RowStore,
  type SampleOutput,
  type PackedModel,
} from '../model-backend.ts';
import { ortMutex, loadOrt, type OrtModule } from '../ort/ort.ts';
import { GpuStateRows } from './gpu-state-rows.ts';
import { GraphTensors } from './graph-tensors.ts';
import { CapturedSteps } from './captured-steps.ts';
import type { InferenceSession } from 'onnxruntime-web/jspi';
import { createSession } from '../ort/create-session.ts';
import { orHang } from '../faults/step-watchdog.ts';
import type { GpuDevice } from './gpu-device.ts';

/** Smallest capacity, in tokens. The capacity grows by doubling, so buffers are seldom recreated. */
const SMALLEST_CAPACITY = 128;

/** Keys per workgroup of attention. A captured step serves all lengths that take the same number of workgroups. */
const ATTENTION_TILE = 64;

/**
 * They make onnxruntime-web choose different shaders, beside the first ones: long prompts (attention switches kernels at 32 tokens),
 * several prompts, and matrix products of up to 8 and of more rows.
 */
const WARM_UP_SHAPES: readonly PassShape[] = [
  { target: 'staging', numRows: 1, tokensPerRow: 40 },
  { target: 'staging', numRows: 4, tokensPerRow: 8 },
  { target: 'slots', numRows: 8, tokensPerRow: 1 },
  { target: 'slots', numRows: 16, tokensPerRow: 1 },
];

const BYTES_PER_INT32 = 4;

/** How long a rejected run waits for the loss of the device to be reported. */
const LOSS_GRACE_MS = 100;

/**
 * A model on onnxruntime-web's native WebGPU backend. Fused attention updates the cache in place: its past and present are the
 * same buffers. Inputs and logits live in persistent buffers, so a step creates none.
 * The sampler runs right after each pass and writes its tokens into the inputs of the slots. Decode steps are captured and
 * replayed, so that onnxruntime-web doesn't describe each one again.
 */
export class WebGpuBackend implements ModelBackend {
  readonly isPipelined = true;
  /** Its attention takes several tokens over a past for one row only. */
  readonly maxGuessedTokens = 0;
  readonly warmUpShapes = WARM_UP_SHAPES;
  readonly #session: GpuParts['session'];
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly #rowBytes: RowBytes;
  readonly #rows: Readonly<Record<RowStore, GpuStateRows>>;
  readonly #tensors: GraphTensors;
  readonly #sampler: GpuSampler;
  readonly #capturedSteps: CapturedSteps;
  readonly #ring: ReadbackRing;
  readonly failure: Promise<Error>;
  /** Holds commands that the next call submits with its own. That call is mostly `sample`. */
  #openEncoder: GPUCommandEncoder | undefined;
  #deviceError: Error | undefined;
  /** Aborts once the device's errors and loss concern other models alone. */
  readonly #released = new AbortController();

  /** @throws StepHangError if creating a part hangs. */
  static async create(options: WebGpuBackendOptions): Promise<WebGpuBackend> {
    return new WebGpuBackend(await createGpuParts(options), options);
  }

  private constructor(
    { ort, session, sampler }: GpuParts,
    { gpu: { device }, model, packed: { precision } }: WebGpuBackendOptions,
  ) {
    const { config } = model;
    const { states } = model.program;
    const bytesPerValue = BYTES_PER_VALUE[precision];
    const createRows = (): GpuStateRows => new GpuStateRows(device, states, bytesPerValue);
    this.#session = session;
    this.#device = device;
    this.#config = config;
    this.#rowBytes = rowBytesOf(states, bytesPerValue);
    this.#rows = { slots: createRows(), staging: createRows(), snapshots: createRows() };
    this.#capturedSteps = new CapturedSteps(device);
    this.#tensors = new GraphTensors({
      ort,
      device,
      vocabSize: config.vocabSize,
      states,
      precision,
      rows: this.#rows,
      inputNames: session.inputNames,
      onReplace: () => this.#capturedSteps.clear(),
    });
    this.#sampler = sampler;
    this.#ring = new ReadbackRing(device);
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failure = promise;
    const fail = (error: Error): void => {
      this.#deviceError ??= error;
      resolve(this.#deviceError);
    };
    device.addEventListener('uncapturederror', ({ error }) => fail(GpuError.of(error)), {
      signal: this.#released.signal,
    });
    void this.#watchForLoss(fail);
  }

  /** WebGPU has no size of its memory. The largest buffer that the adapter allows is the best hint. */
  get kvCacheLimits(): KvCacheLimits {
    const { contextLength } = this.#config;
    const { bytesPerRow, bytesPerToken } = this.#rowBytes;
    return {
      bytesPerRow,
      bytesPerToken,
      maxBytes: this.#device.limits.maxBufferSize,
      maxSlotBytes: this.#maxBufferBytes * numBuffersOf(this.#rowBytes),
      capacityFor: (length) => Math.min(contextLength, roundUpToPowerOfTwo(length)),
    };
  }

  get maxScoredTokens(): number {
    return maxScoredTokensOf(this.#config.vocabSize, this.#maxBufferBytes);
  }

  get #maxBufferBytes(): number {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    return Math.min(maxBufferSize, maxStorageBufferBindingSize);
  }

  resize({ numSlots, numStagingRows, capacity, numSnapshots }: KvShape): void {
    this.#submit();
    const hasNewSlots = this.#rows.slots.resize(numSlots, capacity);
    const hasNewStaging = this.#rows.staging.resize(numStagingRows, capacity);
    this.#rows.snapshots.resize(numSnapshots, 0);
    if (!hasNewSlots && !hasNewStaging) return;
    this.#tensors.forgetState();
    this.#capturedSteps.clear();
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    this.#throwIfDeviceFailed();
    const startedAtMs = performance.now();
    this.#submit();
    this.#rows[input.target].clear(newRowsOf(input));
    this.#tensors.write(input);
    await this.#run(input);
    return { runMs: performance.now() - startedAtMs };
  }

  async sample(...[target, given]: Parameters<ModelBackend['sample']>): Promise<SampleOutput> {
    if (given instanceof Promise) this.#submit();
    const rows = given instanceof Promise ? await given : given;
    const startedAtMs = performance.now();
    const inputs = this.#tensors.slotInputs();
    if (target === 'staging') for (const row of rows) this.#placeInSlot(row, inputs);
    const encoder = this.#encoder();
    this.#openEncoder = undefined;
    const logits = this.#tensors.logits(rows.length);
    const samples = await this.#explained(this.#sampler.sample(rows, logits, inputs, encoder));
    this.#throwIfDeviceFailed();
    return { samples, readbackMs: performance.now() - startedAtMs };
  }

  /** Without this wait the chunks of a long prompt would follow each other in microtasks, and messages would starve. */
  async finish(): Promise<{ readonly readbackMs: number }> {
    const startedAtMs = performance.now();
    this.#submit();
    await this.#explained(this.#device.queue.onSubmittedWorkDone());
    this.#throwIfDeviceFailed();
    return { readbackMs: performance.now() - startedAtMs };
  }

  async readLogits(numRows: number): Promise<Float32Array> {
    const encoder = this.#encoder();
    const logits = this.#tensors.logits(numRows);
    const readBack = this.#ring.copy(encoder, logits, numRows * this.#config.vocabSize);
    this.#submit();
    return new Float32Array((await this.#explained(readBack())).buffer);
  }

  copyRows(from: RowStore, to: RowStore, rows: readonly RowCopy[]): void {
    this.#submit();
    this.#rows[from].copyTo(this.#rows[to], rows);
  }

  moveSlot(from: KvSlot, to: KvSlot): void {
    this.copyRows('slots', 'slots', [[from, to]]);
    this.#sampler.moveSlot(from, to);
  }

  async release(): Promise<void> {
    this.#released.abort();
    await ortMutex.run(() => this.#session.release());
    this.#capturedSteps.clear();
    for (const rows of Object.values(this.#rows)) rows.destroy();
    this.#tensors.destroy();
    this.#sampler.destroy();
    this.#ring.destroy();
  }

  /** Launches the pass, or encodes its capture. */
  async #run(input: ForwardInput): Promise<void> {
    const length = Math.max(...input.lastIndices) + 1;
    if (input.target === 'staging') {
      await this.#runSession(input, length);
      return;
    }
    // Attention computes nothing beyond a row's own length, but its outputs must fit the cache.
    const totalLength = Math.min(
      this.#rows.slots.capacity,
      ATTENTION_TILE * Math.ceil(length / ATTENTION_TILE),
    );
    const shape = `${input.numRows} ${totalLength}`;
    const captured = this.#capturedSteps.find(shape);
    if (captured) captured.encode(this.#encoder());
    else await this.#capturedSteps.run(shape, () => this.#runSession(input, totalLength));
  }

  #runSession(input: ForwardInput, totalLength: number): Promise<unknown> {
    const feeds = this.#tensors.feeds(input, totalLength);
    const fetches = this.#tensors.fetches(input);
    return this.#explained(ortMutex.run(() => this.#session.run(feeds, fetches)));
  }

  #encoder(): GPUCommandEncoder {
    return (this.#openEncoder ??= this.#device.createCommandEncoder());
  }

  #submit(): void {
    if (!this.#openEncoder) return;
    this.#device.queue.submit([this.#openEncoder.finish()]);
    this.#openEncoder = undefined;
  }

  /** Sets where the slot's sequence ends, so that the sampler can go on from there. */
  #placeInSlot({ slot, startPosition, tokenIds }: StepRow, { positions, lastIndices }: SlotInputs): void {
    const lastIndex = Int32Array.of(startPosition + tokenIds.length - 1);
    for (const buffer of [positions, lastIndices]) {
      this.#device.queue.writeBuffer(buffer, slot * BYTES_PER_INT32, lastIndex);
    }
  }

  async #watchForLoss(fail: (error: Error) => void): Promise<void> {
    const { message, reason } = await this.#device.lost;
    if (!this.#released.signal.aborted) fail(deviceLost(message || reason));
  }

  /** Calls on a lost device are rejected for other reasons; the loss is reported a moment later. */
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

function roundUpToPowerOfTwo(length: number): number {
  return Math.max(SMALLEST_CAPACITY, 2 ** Math.ceil(Math.log2(length)));
}

interface WebGpuBackendOptions extends PackedModel {
  readonly gpu: Pick<GpuDevice, 'device'>;
}

/** The parts of a backend that take seconds to create, because they compile. */
interface GpuParts {
  readonly ort: OrtModule;
  readonly session: InferenceSession;
  readonly sampler: GpuSampler;
}

/** A pipeline takes a minute on a software adapter of a loaded machine. */
const PIPELINE_PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime, 17 MB uncompressed, over any network. */
const SESSION_PATIENCE_MS = 1_800_000;

/** @throws StepHangError if creating a part hangs. */
async function createGpuParts(options: WebGpuBackendOptions): Promise<GpuParts> {
  const { gpu, model } = options;
  const ort = await loadOrt();
  const sampler = orHang(GpuSampler.create(gpu.device, model.config.vocabSize), PIPELINE_PATIENCE_MS);
  // Awaited after the session; until then a failure must not count as an unhandled rejection.
  sampler.catch(() => {});
  const session = await orHang(createSession(ort, options, 'fused', gpu.device), SESSION_PATIENCE_MS);
  return { ort, session, sampler: await sampler };
}
