import type { InferenceSession } from 'onnxruntime-web/jspi';
import { DeviceLostError, WasmAbortError } from '../../../protocol/errors/runtime.ts';
import { asInt8 } from '../../models/checkpoint/int8-weights.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import { GRAPH_IO } from '../../models/onnx/graph-io.ts';
import { WEIGHTS_LOCATION } from '../../models/onnx/graph-weights.ts';
import { writeGraph } from '../../models/onnx/write-graph.ts';
import type { BackendInfo } from '../../../protocol/models.ts';
import type { Device } from '../device-choice.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { isWasmAbort } from '../faults/fault-of.ts';
import { orHang } from '../faults/step-watchdog.ts';
import type { PackedModel } from '../model-backend.ts';
import { loadOrt, ortInUse, ortMutex, type OrtModule } from '../ort/ort.ts';
import { inErrorScope } from '../webgpu/error-scope.ts';
import { encoderInputs, longestOf, sumOf, type EncoderRow } from './encoder-inputs.ts';
import { RunCost } from './run-cost.ts';

/** A batch's shaders take a minute on a software adapter of a loaded machine. */
const PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime. */
const SESSION_PATIENCE_MS = 1_800_000;

/** onnxruntime's severity 3. At 2, it warns about every graph that computes shapes on the CPU, as ours should. */
const ERRORS_ONLY = 3;

/** Limits the attention scores of one layer, which the CPU keeps at once. In bytes. */
const MAX_SCORE_BYTES = 2 ** 28;

/** A loaded encoder on one device. It keeps nothing between runs. */
export class EncoderBackend {
  readonly name: BackendInfo['name'];
  /** Of runs here, without the time that they wait for the runtime. */
  readonly cost = new RunCost();
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #encoder: EncoderConfig;
  readonly #numHeads: number;
  readonly #isCausal: boolean;
  readonly #maxScoreBytes: number;
  #loss: Error | undefined;

  /** @throws GpuError, StepHangError. */
  static async create(
    packedModel: PackedModel,
    encoder: EncoderConfig,
    device: Device | 'beside-gpu',
  ): Promise<EncoderBackend> {
    const { model } = packedModel;
    const gpu = device !== 'beside-gpu' && 'gpu' in device ? device.gpu.device : undefined;
    const { packed, weights } = gpu ? packedModel : asInt8(packedModel);
    // The build for GPUs computes on the CPU too.
    const ort = await (device === 'beside-gpu' ? ortInUse() : loadOrt(gpu ? 'webgpu' : 'wasm'));
    if (device !== 'beside-gpu' && 'numThreads' in device) ort.env.wasm.numThreads = device.numThreads;
    const maxBindingBytes = gpu?.limits.maxStorageBufferBindingSize ?? Infinity;
    const graph = writeGraph(model.program, {
      layout: packed,
      maxBindingBytes,
      contextLength: model.config.contextLength,
      attention: 'uncached',
    });
    const create = (): Promise<InferenceSession> =>
      ort.InferenceSession.create(graph, {
        executionProviders: gpu ? [{ name: 'webgpu', device: gpu, validationMode: 'wgpuOnly' }] : ['wasm'],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
        logSeverityLevel: ERRORS_ONLY,
      });
    const creation = ortMutex.run(() => (gpu ? inErrorScope(gpu, create) : create()));
    const session = await orHang(creation, SESSION_PATIENCE_MS);
    const backend = new EncoderBackend(gpu ? 'webgpu' : 'wasm', ort, session, encoder, {
      numHeads: model.config.numHeads,
      isCausal: model.program.ops.some((op) => op.kind === 'attend' && op.isCausal),
      maxScoreBytes: Math.min(maxBindingBytes, MAX_SCORE_BYTES),
    });
    if (gpu) void backend.#watchForLoss(gpu);
    return backend;
  }

  private constructor(
    name: BackendInfo['name'],
    ort: OrtModule,
    session: InferenceSession,
    encoder: EncoderConfig,
    attention: { readonly numHeads: number; readonly isCausal: boolean; readonly maxScoreBytes: number },
  ) {
    this.name = name;
    this.#ort = ort;
    this.#session = session;
    this.#encoder = encoder;
    this.#numHeads = attention.numHeads;
    this.#isCausal = attention.isCausal;
    this.#maxScoreBytes = attention.maxScoreBytes;
  }

  /** The longest row that the device holds, in tokens. */
  get maxTokens(): number {
    const longest = Math.floor(Math.sqrt(this.#maxScoreBytes / this.#scoreBytes(1, 1)));
    return Math.min(this.#encoder.maxTokens, longest);
  }

  /** Whether these rows can run together. */
  fits(rows: readonly EncoderRow[]): boolean {
    return this.#scoreBytes(rows.length, longestOf(rows)) <= this.#maxScoreBytes;
  }

  /**
   * @param isMeasured Whether the run adds to `cost`.
   * @returns A vector or a score for each row, in order.
   * @throws WasmAbortError, DeviceLostError or StepHangError if nothing runs in this worker any more.
   */
  async run(rows: readonly EncoderRow[], isMeasured = true): Promise<readonly Float32Array[]> {
    if (this.#loss) throw this.#loss;
    try {
      const run = ortMutex.run(async () => {
        const startedAtMs = performance.now();
        const outputs = await this.#session.run(this.#feeds(rows));
        if (isMeasured) this.cost.record(sumOf(rows), performance.now() - startedAtMs);
        return outputs;
      });
      const { data } = (await orHang(run, PATIENCE_MS))[GRAPH_IO.encoded] ?? {};
      // A CPU run settles in microtasks. What was sent meanwhile is to be in the next batch, so it is seen first.
      if (this.name === 'wasm') await yieldToHost();
      if (!(data instanceof Float32Array))
        throw new TypeError('Expected the output of an encoder as float32');
      const { dimensions } = this.#encoder;
      return rows.map((_, row) => data.slice(row * dimensions, (row + 1) * dimensions));
    } catch (cause) {
      throw this.#loss ?? (isWasmAbort(cause) ? WasmAbortError.because(cause) : cause);
    }
  }

  release(): Promise<void> {
    return ortMutex.run(() => this.#session.release());
  }

  async #watchForLoss(device: GPUDevice): Promise<void> {
    const { message, reason } = await device.lost;
    this.#loss = DeviceLostError.because(message || reason);
  }

  #scoreBytes(numRows: number, tokensPerRow: number): number {
    return numRows * this.#numHeads * tokensPerRow ** 2 * Float32Array.BYTES_PER_ELEMENT;
  }

  #feeds(rows: readonly EncoderRow[]): Record<string, InstanceType<OrtModule['Tensor']>> {
    const { Tensor } = this.#ort;
    const { tokensPerRow, numQueries, ...inputs } = encoderInputs(rows, {
      pooling: this.#encoder.pooling,
      isCausal: this.#isCausal,
    });
    const dims = [1, inputs.ids.length];
    const feeds = {
      [GRAPH_IO.ids]: new Tensor('int32', inputs.ids, dims),
      [GRAPH_IO.positions]: new Tensor('int32', inputs.positions, dims),
      [GRAPH_IO.types]: new Tensor('int32', inputs.types, dims),
      [GRAPH_IO.tokenPlaces]: new Tensor('int32', inputs.tokenPlaces, dims),
      [GRAPH_IO.rowTokens]: new Tensor('int32', inputs.rowTokens, [rows.length, tokensPerRow]),
      [GRAPH_IO.shares]: new Tensor('float32', inputs.shares, [1, rows.length, inputs.ids.length]),
      [GRAPH_IO.mask(Infinity)]: new Tensor('float32', inputs.mask, [
        rows.length,
        1,
        numQueries,
        tokensPerRow,
      ]),
    };
    return Object.fromEntries(
      Object.entries(feeds).filter(([name]) => this.#session.inputNames.includes(name)),
    );
  }
}
