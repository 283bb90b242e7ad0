import type { InferenceSession } from 'onnxruntime-web/jspi';
import { deviceLost } from '../../../protocol/errors/runtime-messages.ts';
import { WasmAbortError } from '../faults/runtime-errors.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import type { Model } from '../../models/family.ts';
import { GRAPH_IO } from '../../models/onnx/graph-io.ts';
import { isWasmAbort } from '../faults/fault-of.ts';
import { orHang } from '../faults/step-watchdog.ts';
import type { PackedModel } from '../model-backend.ts';
import { createSession } from '../ort/create-session.ts';
import { ortMutex, type OrtModule } from '../ort/ort.ts';
import type { EncoderBackend } from '../encoder-backend.ts';
import { encoderInputs, longestOf, sumOf, type EncoderRow } from '../encoder-inputs.ts';
import { RunCost } from '../run-cost.ts';

/** A batch's shaders take a minute on a software adapter of a loaded machine. */
const PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime. */
const SESSION_PATIENCE_MS = 1_800_000;

/** Limits the attention scores of one layer. In bytes. */
const MAX_SCORE_BYTES = 2 ** 28;

/** A loaded encoder on onnxruntime-web, which computes on a GPU. */
export class OrtEncoder implements EncoderBackend {
  readonly name = 'webgpu';
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
    ort: OrtModule,
    packedModel: PackedModel,
    encoder: EncoderConfig,
    gpu: GPUDevice,
  ): Promise<OrtEncoder> {
    const session = await orHang(createSession(ort, packedModel, 'uncached', gpu), SESSION_PATIENCE_MS);
    const backend = new OrtEncoder(ort, session, packedModel.model, encoder, gpu);
    void backend.#watchForLoss(gpu);
    return backend;
  }

  private constructor(
    ort: OrtModule,
    session: InferenceSession,
    { program }: Model,
    encoder: EncoderConfig,
    gpu: GPUDevice,
  ) {
    this.#ort = ort;
    this.#session = session;
    this.#encoder = encoder;
    const attends = program.ops.filter((op) => op.kind === 'attend');
    this.#numHeads = Math.max(...attends.map(({ heads }) => heads.numHeads));
    this.#isCausal = attends.some(({ isCausal }) => isCausal);
    this.#maxScoreBytes = Math.min(gpu.limits.maxStorageBufferBindingSize, MAX_SCORE_BYTES);
  }

  get maxTokens(): number {
    const longest = Math.floor(Math.sqrt(this.#maxScoreBytes / this.#scoreBytes(1, 1)));
    return Math.min(this.#encoder.maxTokens, longest);
  }

  fits(rows: readonly EncoderRow[]): boolean {
    return this.#scoreBytes(rows.length, longestOf(rows)) <= this.#maxScoreBytes;
  }

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
    this.#loss = deviceLost(message || reason);
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
