import type { InferenceSession } from 'onnxruntime-web/webgpu';
import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { SlotTransfer, StepRow } from '../../../batching/generation/model-runner.ts';
import type { Model } from '../../models/family.ts';
import { kvBytesPerToken, type ModelConfig } from '../../models/model-config.ts';
import type { PackedLayout } from '../../models/checkpoint/packed-weights.ts';
import { GRAPH_IO } from '../../models/graph/model-graph.ts';
import { WEIGHTS_LOCATION } from '../../models/graph/graph-weights.ts';
import { createCpuSampler, type SampleRows } from './cpu-sampler.ts';
import {
  logitTokensOf,
  maxScoredTokensOf,
  sampledIdsOf,
  type ForwardInput,
  type ForwardTarget,
  type ModelBackend,
  type SampleOutput,
} from '../model-backend.ts';
import { yieldToHost } from '../../platform/yield-to-host.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort.ts';

interface WasmBackendOptions {
  readonly model: Model;
  readonly packed: PackedLayout;
  /** The packed file, or what reads it. */
  readonly weights: Uint8Array;
  /** More than one needs a page that is cross-origin isolated. */
  readonly numThreads: number;
}

/** K and V of all layers, in turn, each [rows, heads, capacity, headSize]. */
type KvArrays = Float32Array[];

/** Tokens by which rows grow. */
const CAPACITY_STEP = 32;
const LARGEST_CACHE_BYTES = 2 ** 30;

/** For how long the worker may be deaf to its tabs, beyond the pass that runs: several short ones go by in it. */
const MAX_DEAF_MS = 4;

/** GPT-2 on onnxruntime-web's CPU kernels: its K/V are arrays that are fed in, to which what each pass adds is added. */
export class WasmBackend implements ModelBackend {
  /** The CPU that would prepare the next pass is the one that computes this one. */
  readonly isPipelined = false;
  readonly maxPrefillRows = 8;
  /** What ends the runtime shows in the run that it ends. */
  readonly failure = new Promise<never>(() => {});
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #config: ModelConfig;
  readonly #sampleRows: SampleRows;
  #logits: Float32Array = new Float32Array();
  #sampledIds: Int32Array = new Int32Array();
  #capacity = 0;
  #yieldedAtMs = 0;
  #slots: KvArrays = [];
  #staging: KvArrays = [];

  static async create({ model, packed, weights, numThreads }: WasmBackendOptions): Promise<WasmBackend> {
    const ort = await loadOrt('wasm');
    ort.env.wasm.numThreads = numThreads;
    const graph = model.buildGraph({ layout: packed, maxBindingBytes: Infinity, kvOutputs: 'added' });
    const session = await ortMutex.run(() =>
      ort.InferenceSession.create(graph, {
        executionProviders: ['wasm'],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
      }),
    );
    return new WasmBackend(ort, session, model.config);
  }

  private constructor(ort: OrtModule, session: InferenceSession, config: ModelConfig) {
    this.#ort = ort;
    this.#session = session;
    this.#config = config;
    this.#sampleRows = createCpuSampler(config.vocabSize);
  }

  get maxScoredTokens(): number {
    return maxScoredTokensOf(this.#config.vocabSize);
  }

  /** CPU threads that the kernels use. */
  get numThreads(): number {
    return this.#ort.env.wasm.numThreads ?? 1;
  }

  /** The wasm heap ends at 4 GiB, in which the weights, a copy of the rows that run and the kernels' own memory lie too. */
  get kvCacheLimits(): KvCacheLimits {
    const { contextLength } = this.#config;
    return {
      bytesPerToken: kvBytesPerToken(this.#config, Float32Array.BYTES_PER_ELEMENT),
      maxBytes: LARGEST_CACHE_BYTES,
      maxSlotBytes: LARGEST_CACHE_BYTES,
      // The whole capacity goes into a run and comes out again: what is not needed costs time in every step.
      capacityFor: (length) => Math.min(contextLength, CAPACITY_STEP * Math.ceil(length / CAPACITY_STEP)),
    };
  }

  resize({ numSlots, numStagingRows, capacity }: KvShape): void {
    const oldCapacity = this.#capacity;
    this.#capacity = capacity;
    this.#slots = this.#resized(this.#slots, numSlots, oldCapacity);
    this.#staging = this.#resized(this.#staging, numStagingRows, oldCapacity);
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const startedAtMs = performance.now();
    const arrays = input.target === 'staging' ? this.#staging : this.#slots;
    const outputs = await ortMutex.run(() => this.#session.run(this.#feeds(input, arrays)));
    this.#append(floatsOf(outputs, GRAPH_IO.added), input, arrays);
    await this.#yieldNowAndThen();
    this.#logits = floatsOf(outputs, GRAPH_IO.logits);
    return { runMs: performance.now() - startedAtMs };
  }

  sample(target: ForwardTarget, rows: readonly StepRow[]): Promise<SampleOutput> {
    const samples = this.#sampleRows(this.#logits, rows);
    if (target === 'slots') this.#sampledIds = sampledIdsOf(samples);
    return Promise.resolve({ samples, readbackMs: 0 });
  }

  finish(): Promise<{ readonly readbackMs: number }> {
    return Promise.resolve({ readbackMs: 0 });
  }

  readLogits(): Promise<Float32Array> {
    return Promise.resolve(this.#logits);
  }

  copyStagingTo(slots: readonly number[]): void {
    const length = this.#rowLength;
    for (const [i, staging] of this.#staging.entries()) {
      for (const [row, slot] of slots.entries()) {
        this.#slots[i]?.set(staging.subarray(row * length, (row + 1) * length), slot * length);
      }
    }
  }

  copyToStaging(slot: number): void {
    const length = this.#rowLength;
    for (const [i, array] of this.#slots.entries()) {
      this.#staging[i]?.set(array.subarray(slot * length, (slot + 1) * length));
    }
  }

  transfer({ from, to }: SlotTransfer): void {
    const length = this.#rowLength;
    for (const array of this.#slots) array.copyWithin(to * length, from * length, (from + 1) * length);
  }

  release(): Promise<void> {
    return ortMutex.run(() => this.#session.release());
  }

  /** A CPU run settles in microtasks alone, behind which no message of a tab would ever be seen. */
  async #yieldNowAndThen(): Promise<void> {
    if (performance.now() - this.#yieldedAtMs < MAX_DEAF_MS) return;
    await yieldToHost();
    this.#yieldedAtMs = performance.now();
  }

  get #rowLength(): number {
    return this.#config.numKvHeads * this.#capacity * this.#config.headSize;
  }

  #feeds(input: ForwardInput, arrays: KvArrays): Record<string, InstanceType<OrtModule['Tensor']>> {
    const { Tensor } = this.#ort;
    const { numRows, tokensPerRow, lastIndices } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const logitTokens = logitTokensOf(input);
    const kvDims = [numRows, this.#config.numKvHeads, this.#capacity, this.#config.headSize];
    const kvLength = numRows * this.#rowLength;
    const names = GRAPH_IO.past.all(this.#config.numLayers);
    const kv = names.map((name, i) => [
      name,
      new Tensor('float32', arrays[i]?.subarray(0, kvLength) ?? [], kvDims),
    ]);
    return {
      ...Object.fromEntries(kv),
      [GRAPH_IO.ids]: new Tensor('int32', ids, [numRows, tokensPerRow]),
      [GRAPH_IO.positions]: new Tensor('int32', input.positions, [numRows, tokensPerRow]),
      [GRAPH_IO.lastIndices]: new Tensor('int32', lastIndices, [numRows]),
      [GRAPH_IO.logitTokens]: new Tensor('int32', logitTokens, [logitTokens.length]),
      [GRAPH_IO.totalLength]: new Tensor('int32', Int32Array.of(Math.max(...lastIndices) + 1), [1]),
    };
  }

  /** Appends the keys and values of the pass to the rows that it ran over, without those of padding. */
  #append(
    added: Float32Array,
    { numRows, tokensPerRow, positions, lastIndices }: ForwardInput,
    arrays: KvArrays,
  ): void {
    const { numKvHeads, headSize } = this.#config;
    for (let row = 0; row < numRows; row++) {
      const firstIndex = positions[row * tokensPerRow] ?? 0;
      const lastIndex = lastIndices[row] ?? 0;
      let from = row * tokensPerRow * arrays.length * numKvHeads * headSize;
      for (let index = firstIndex; index <= lastIndex; index++) {
        for (const array of arrays) {
          for (let head = 0; head < numKvHeads; head++, from += headSize) {
            const at = row * this.#rowLength + (head * this.#capacity + index) * headSize;
            array.set(added.subarray(from, from + headSize), at);
          }
        }
      }
    }
  }

  /** With another capacity the heads of a row lie elsewhere, so each head's strip is copied by itself. */
  #resized(old: KvArrays, numRows: number, oldCapacity: number): KvArrays {
    const { numLayers, numKvHeads, headSize } = this.#config;
    const length = numRows * this.#rowLength;
    if (old[0]?.length === length && this.#capacity === oldCapacity) return old;
    const [oldStrip, newStrip] = [oldCapacity * headSize, this.#capacity * headSize];
    const numKept = Math.min(oldStrip, newStrip);
    return Array.from({ length: 2 * numLayers }, (_, i) => {
      const resized = new Float32Array(length);
      const source = old[i] ?? new Float32Array();
      const numStrips = Math.min(numRows * numKvHeads, source.length / oldStrip);
      for (let strip = 0; strip < numStrips; strip++) {
        resized.set(source.subarray(strip * oldStrip, strip * oldStrip + numKept), strip * newStrip);
      }
      return resized;
    });
  }
}

function floatsOf(outputs: InferenceSession.ReturnType, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new TypeError(`Expected output ${name} of the graph to be float32 on the CPU`);
}
