import type { InferenceSession } from 'onnxruntime-web/jspi';
import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../../batching/generation/kv-slots.ts';
import { LARGEST_WASM_CACHE } from '../../models/checkpoint/device-fit.ts';
import { countElements, kvBytesPerToken, type ModelConfig } from '../../models/model-config.ts';
import { GRAPH_IO, maskWindowsOf } from '../../models/onnx/graph-io.ts';
import { createCpuSampler } from './cpu-sampler.ts';
import { KvRows } from './kv-rows.ts';
import { allocateFloats, type InputFloats } from './ort-heap.ts';
import { hasOwnKeys } from '../../models/onnx/plain-attention.ts';
import { attentionMask } from './attention-mask.ts';
import { withFewestTokens } from './fewest-tokens.ts';
import {
  logitTokensOf,
  maxScoredTokensOf,
  sampledIdsOf,
  type ForwardInput,
  type ForwardTarget,
  type ModelBackend,
  type PackedModel,
  type RowCopy,
  type SampleOutput,
} from '../model-backend.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { createSession } from '../ort/create-session.ts';
import { ortMutex, type OrtModule } from '../ort/ort.ts';

/** float32 values that the CPU's kernels take at once. */
const VECTOR = 4;

/** Tokens by which the capacity grows: whole vectors. */
const CAPACITY_STEP = 32;

/** Passes run for this long without letting the worker see messages from tabs. */
const MAX_BUSY_MS = 4;

/**
 * A model on onnxruntime-web's CPU kernels. A pass reads the K/V cache where it lies in onnxruntime's memory; its new keys and
 * values are appended after it.
 */
export class WasmBackend implements ModelBackend {
  /** The CPU that would prepare the next pass is busy with this one. */
  readonly isPipelined = false;
  readonly warmUpShapes = [];
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #config: ModelConfig;
  readonly #sampleRows: ReturnType<typeof createCpuSampler>;
  #logits: Float32Array = new Float32Array();
  #sampledIds: Int32Array = new Int32Array();
  #capacity = 0;
  #yieldedAtMs = 0;
  readonly #rows: Readonly<Record<ForwardTarget, KvRows<InputFloats>>>;
  /** Window of each mask among the graph's inputs, by the mask's name. */
  readonly #masks: ReadonlyMap<string, number>;

  static async create(ort: OrtModule, packedModel: PackedModel): Promise<WasmBackend> {
    return new WasmBackend(ort, await createSession(ort, packedModel, 'plain'), packedModel.model.config);
  }

  private constructor(ort: OrtModule, session: InferenceSession, config: ModelConfig) {
    this.#ort = ort;
    this.#session = session;
    this.#config = config;
    this.#sampleRows = createCpuSampler(config.vocabSize);
    this.#rows = { slots: new KvRows(config, allocateFloats), staging: new KvRows(config, allocateFloats) };
    this.#masks = maskWindowsOf(session.inputNames);
  }

  get maxScoredTokens(): number {
    return maxScoredTokensOf(this.#config.vocabSize);
  }

  get kvCacheLimits(): KvCacheLimits {
    const { contextLength } = this.#config;
    return {
      bytesPerToken: kvBytesPerToken(this.#config, Float32Array.BYTES_PER_ELEMENT),
      maxBytes: LARGEST_WASM_CACHE,
      maxSlotBytes: LARGEST_WASM_CACHE,
      // Each run reads the whole capacity, so unused capacity costs time in every step.
      capacityFor: (length) => Math.min(contextLength, CAPACITY_STEP * Math.ceil(length / CAPACITY_STEP)),
    };
  }

  resize({ numSlots, numStagingRows, capacity }: KvShape): void {
    this.#capacity = capacity;
    this.#rows.slots.resize(numSlots, capacity);
    this.#rows.staging.resize(numStagingRows, capacity);
  }

  async forward(unpadded: ForwardInput): Promise<{ readonly runMs: number }> {
    const startedAtMs = performance.now();
    const input = withFewestTokens(unpadded, this.#config.contextLength);
    const outputs = await ortMutex.run(() => this.#session.run(this.#feeds(input)));
    const [logits, ...added] = this.#session.outputNames.map((name) => floatsOf(outputs, name));
    for (const [layer, qkv] of added.entries()) this.#rows[input.target].append(layer, qkv, input);
    // A CPU run settles in microtasks, which never let a message in.
    if (performance.now() - this.#yieldedAtMs >= MAX_BUSY_MS) {
      await yieldToHost();
      this.#yieldedAtMs = performance.now();
    }
    this.#logits = logits ?? new Float32Array();
    return { runMs: performance.now() - startedAtMs };
  }

  async sample(...[target, rows]: Parameters<ModelBackend['sample']>): Promise<SampleOutput> {
    const samples = this.#sampleRows(this.#logits, await rows);
    if (target === 'slots') this.#sampledIds = sampledIdsOf(samples);
    return { samples, readbackMs: 0 };
  }

  finish(): Promise<{ readonly readbackMs: number }> {
    return Promise.resolve({ readbackMs: 0 });
  }

  readLogits(): Promise<Float32Array> {
    return Promise.resolve(this.#logits);
  }

  copyRows(from: ForwardTarget, to: ForwardTarget, rows: readonly RowCopy[]): void {
    this.#rows[from].copyTo(this.#rows[to], rows);
  }

  moveSlot(from: KvSlot, to: KvSlot): void {
    this.copyRows('slots', 'slots', [[from, to]]);
  }

  release(): Promise<void> {
    return ortMutex.run(async () => {
      await this.#session.release();
      for (const rows of Object.values(this.#rows)) rows.free();
    });
  }

  #feeds(input: ForwardInput): Record<string, InstanceType<OrtModule['Tensor']>> {
    const { Tensor } = this.#ort;
    const { target, numRows, tokensPerRow, positions } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const logitTokens = logitTokensOf(input);
    const isStep = target === 'slots';
    const numPastKeys = isStep ? this.#capacity : (positions[0] ?? 0);
    const numKeys = isStep ? tokensPerRow : numPastKeys + tokensPerRow;
    const numPadding = isStep ? 0 : -numKeys & (VECTOR - 1);
    const isOwnLast = hasOwnKeys(this.#config);
    const numScores = numPastKeys + tokensPerRow + numPadding + (isOwnLast ? 1 : 0);
    const { numHeads, numKvHeads } = this.#config;
    const numQueries = (numHeads / numKvHeads) * tokensPerRow;
    const paddingDims = [numRows, numKvHeads, numQueries, numPadding];
    const masks = Array.from(this.#masks, ([name, window]) => [
      name,
      new Tensor('float32', attentionMask(input, { numPast: numPastKeys, numPadding, isOwnLast }, window), [
        numRows,
        1,
        tokensPerRow,
        numScores,
      ]),
    ]);
    const keyCounts = [isStep ? this.#capacity : 0, numKeys, numPadding, ...(isOwnLast ? [1] : [])];
    return {
      ...this.#cacheFeeds(input, numPastKeys > 0 ? this.#capacity : 0),
      [GRAPH_IO.pastLength]: new Tensor('int64', BigInt64Array.of(BigInt(numPastKeys)), [1]),
      ...Object.fromEntries(masks),
      [GRAPH_IO.ids]: new Tensor('int32', ids, [numRows, tokensPerRow]),
      ...(this.#session.inputNames.includes(GRAPH_IO.positions) && {
        [GRAPH_IO.positions]: new Tensor('int32', positions, [numRows, tokensPerRow]),
      }),
      [GRAPH_IO.logitTokens]: new Tensor('int32', logitTokens, [logitTokens.length]),
      [GRAPH_IO.keyCounts]: new Tensor('int64', BigInt64Array.from(keyCounts, BigInt), [keyCounts.length]),
      ...(isOwnLast && {
        [GRAPH_IO.ownKeys]: new Tensor('float32', identities(numQueries, tokensPerRow), [
          numQueries,
          tokensPerRow,
        ]),
      }),
      [GRAPH_IO.scorePadding]: new Tensor(
        'float32',
        new Float32Array(countElements(paddingDims)),
        paddingDims,
      ),
    };
  }

  /** @param capacity Of the tensors: 0 if the pass reads nothing from the cache. */
  #cacheFeeds({ target, numRows }: ForwardInput, capacity: number) {
    const { numKvHeads, headSize } = this.#config;
    const none = new this.#ort.Tensor('float32', new Float32Array(), [numRows, numKvHeads, 0, headSize]);
    const [value, unread] =
      target === 'slots'
        ? [GRAPH_IO.past.value, GRAPH_IO.prefixValue]
        : [GRAPH_IO.prefixValue, GRAPH_IO.past.value];
    return Object.fromEntries(
      this.#rows[target].inputs(numRows, capacity).flatMap(({ array, dims }, i) => {
        const layer = Math.floor(i / 2);
        const tensor = array.tensor(this.#ort, dims);
        if (i % 2 === 0) return [[GRAPH_IO.past.key(layer), tensor]];
        return [
          [value(layer), tensor],
          [unread(layer), none],
        ];
      }),
    );
  }
}

/** Identity matrices of this size above one another, with so many rows in all. */
function identities(numRows: number, size: number): Float32Array {
  const matrix = new Float32Array(numRows * size);
  for (let row = 0; row < numRows; row++) matrix[row * size + (row % size)] = 1;
  return matrix;
}

function floatsOf(outputs: InferenceSession.ReturnType, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new TypeError(`Expected output ${name} of the graph to be float32 on the CPU`);
}
