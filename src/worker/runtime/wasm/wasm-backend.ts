import type { InferenceSession } from 'onnxruntime-web/webgpu';
import type { KvCacheLimits, KvShape } from '../../../batching/generation/kv-memory.ts';
import type { SlotTransfer, StepRow } from '../../../batching/generation/model-runner.ts';
import { LARGEST_WASM_CACHE } from '../../models/checkpoint/device-fit.ts';
import { countElements, kvBytesPerToken, type ModelConfig } from '../../models/model-config.ts';
import { GRAPH_IO } from '../../models/graph/graph-io.ts';
import { WEIGHTS_LOCATION } from '../../models/graph/graph-weights.ts';
import { createCpuSampler } from './cpu-sampler.ts';
import {
  isFresh,
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
import { yieldToHost } from '../../platform/yield-to-host.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort.ts';

interface WasmBackendOptions extends PackedModel {
  /** More than one needs a cross-origin isolated page. */
  readonly numThreads: number;
}

/** K and V of each layer in turn, as `GRAPH_IO.past.all` names them: each [rows, K/V heads, capacity, head size]. */
type KvArrays = Float32Array[];

/** Tokens by which the capacity grows. */
const CAPACITY_STEP = 32;

/** Passes run for this long without letting the worker see messages from tabs. */
const MAX_BUSY_MS = 4;

/** A model on onnxruntime-web's CPU kernels. K/V are arrays that each pass takes as inputs and appends to. */
export class WasmBackend implements ModelBackend {
  /** The CPU that would prepare the next pass is busy with this one. */
  readonly isPipelined = false;
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #config: ModelConfig;
  readonly #sampleRows: ReturnType<typeof createCpuSampler>;
  #logits: Float32Array = new Float32Array();
  #sampledIds: Int32Array = new Int32Array();
  #capacity = 0;
  #yieldedAtMs = 0;
  readonly #rows: Record<ForwardTarget, KvArrays> = { slots: [], staging: [] };

  static async create({ model, packed, weights, numThreads }: WasmBackendOptions): Promise<WasmBackend> {
    const ort = await loadOrt('wasm');
    ort.env.wasm.numThreads = numThreads;
    const { contextLength } = model.config;
    const graph = model.buildGraph({
      layout: packed,
      maxBindingBytes: Infinity,
      contextLength,
      attention: 'products-on-cpu',
    });
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

  /** Threads that the kernels use. */
  get numThreads(): number {
    return this.#ort.env.wasm.numThreads ?? 1;
  }

  get kvCacheLimits(): KvCacheLimits {
    const { contextLength } = this.#config;
    return {
      bytesPerToken: kvBytesPerToken(this.#config, Float32Array.BYTES_PER_ELEMENT),
      maxBytes: LARGEST_WASM_CACHE,
      maxSlotBytes: LARGEST_WASM_CACHE,
      // Each run copies the whole capacity, so unused capacity costs time in every step.
      capacityFor: (length) => Math.min(contextLength, CAPACITY_STEP * Math.ceil(length / CAPACITY_STEP)),
    };
  }

  resize({ numSlots, numStagingRows, capacity }: KvShape): void {
    const oldCapacity = this.#capacity;
    this.#capacity = capacity;
    this.#rows.slots = this.#resized(this.#rows.slots, numSlots, oldCapacity);
    this.#rows.staging = this.#resized(this.#rows.staging, numStagingRows, oldCapacity);
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const startedAtMs = performance.now();
    const arrays = this.#rows[input.target];
    const outputs = await ortMutex.run(() => this.#session.run(this.#feeds(input, arrays)));
    for (let layer = 0; layer < this.#config.numLayers; layer++) {
      const added = floatsOf(outputs, GRAPH_IO.added(layer));
      this.#append(added, input, arrays.slice(2 * layer, 2 * layer + 2));
    }
    // A CPU run settles in microtasks, which never let a message in.
    if (performance.now() - this.#yieldedAtMs >= MAX_BUSY_MS) {
      await yieldToHost();
      this.#yieldedAtMs = performance.now();
    }
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

  copyRows(from: ForwardTarget, to: ForwardTarget, rows: readonly RowCopy[]): void {
    const length = this.#rowLength;
    for (const [i, source] of this.#rows[from].entries()) {
      for (const [row, copy] of rows) {
        this.#rows[to][i]?.set(source.subarray(row * length, (row + 1) * length), copy * length);
      }
    }
  }

  transfer({ from, to }: SlotTransfer): void {
    this.copyRows('slots', 'slots', [[from, to]]);
  }

  release(): Promise<void> {
    return ortMutex.run(() => this.#session.release());
  }

  get #rowLength(): number {
    return this.#config.numKvHeads * this.#capacity * this.#config.headSize;
  }

  #feeds(input: ForwardInput, arrays: KvArrays): Record<string, InstanceType<OrtModule['Tensor']>> {
    const { Tensor } = this.#ort;
    const { numRows, tokensPerRow, positions } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const logitTokens = logitTokensOf(input);
    // A cache of which nothing is read need not be copied: one token stands for it, which no other attends to.
    const { numKvHeads, headSize } = this.#config;
    const kvDims = [numRows, numKvHeads, isFresh(input) ? 1 : this.#capacity, headSize];
    const kvLength = countElements(kvDims);
    const names = GRAPH_IO.past.all(this.#config.numLayers);
    const kv = arrays.map((array, i) => [
      names[i],
      new Tensor('float32', array.subarray(0, kvLength), kvDims),
    ]);
    return {
      ...Object.fromEntries(kv),
      [GRAPH_IO.ids]: new Tensor('int32', ids, [numRows, tokensPerRow]),
      [GRAPH_IO.positions]: new Tensor('int32', positions, [numRows, tokensPerRow]),
      [GRAPH_IO.logitTokens]: new Tensor('int32', logitTokens, [logitTokens.length]),
    };
  }

  /** Appends the keys and values of the pass to a layer's rows, without those of padding. */
  #append(
    added: Float32Array,
    { numRows, tokensPerRow, positions, lastIndices }: ForwardInput,
    keysAndValues: KvArrays,
  ): void {
    const { numKvHeads, headSize } = this.#config;
    for (let row = 0; row < numRows; row++) {
      const firstIndex = positions[row * tokensPerRow] ?? 0;
      const lastIndex = lastIndices[row] ?? 0;
      let from = row * tokensPerRow * 2 * numKvHeads * headSize;
      for (let index = firstIndex; index <= lastIndex; index++) {
        for (const array of keysAndValues) {
          for (let head = 0; head < numKvHeads; head++, from += headSize) {
            const at = row * this.#rowLength + (head * this.#capacity + index) * headSize;
            array.set(added.subarray(from, from + headSize), at);
          }
        }
      }
    }
  }

  /** With another capacity the heads of a row move, so each head is copied by itself. */
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
