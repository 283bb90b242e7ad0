import type { InferenceSession } from 'onnxruntime-web/webgpu';
import type { StepRow } from '../../batching/generation/model-runner.ts';
import type { Gpt2Config } from '../model/gpt2-config.ts';
import type { PackedLayout } from '../model/checkpoint/packed-weights.ts';
import { buildGpt2Model, GRAPH_IO } from '../model/gpt2-graph.ts';
import { WEIGHTS_LOCATION } from '../model/graph-weights.ts';
import { createCpuSampler, type SampleRows } from './cpu-sampler.ts';
import {
  sampledIdsOf,
  type ForwardInput,
  type ForwardTarget,
  type Gpt2Backend,
  type SampleOutput,
} from './gpt2-backend.ts';
import { yieldToHost } from '../yield-to-host.ts';
import { loadOrt, ortMutex, type OrtModule } from './ort.ts';

interface WasmBackendOptions {
  readonly config: Gpt2Config;
  readonly packed: PackedLayout;
  /** The packed file, or what reads it. */
  readonly weights: Uint8Array;
}

/** K and V of all layers, in turn, each [rows, heads, capacity, headSize]. */
type KvArrays = Float32Array[];

/** Tokens by which rows grow. */
const CAPACITY_STEP = 32;

/** GPT-2 on onnxruntime-web's CPU kernels: the same graph, its K/V held as arrays that are fed in and copied back. */
export class WasmBackend implements Gpt2Backend {
  /** The CPU that would prepare the next pass is the one that computes this one. */
  readonly isPipelined = false;
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;
  readonly #config: Gpt2Config;
  readonly #sampleRows: SampleRows;
  #logits: Float32Array = new Float32Array();
  #sampledIds: Int32Array = new Int32Array();
  #numSlots = 0;
  #capacity = 0;
  #slots: KvArrays = [];
  #staging: KvArrays = [];

  static async create({ config, packed, weights }: WasmBackendOptions): Promise<WasmBackend> {
    const ort = await loadOrt('wasm');
    const session = await ortMutex.run(() =>
      ort.InferenceSession.create(buildGpt2Model(config, packed), {
        executionProviders: ['wasm'],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
      }),
    );
    return new WasmBackend(ort, session, config);
  }

  private constructor(ort: OrtModule, session: InferenceSession, config: Gpt2Config) {
    this.#ort = ort;
    this.#session = session;
    this.#config = config;
    this.#sampleRows = createCpuSampler(config.vocabSize);
  }

  /** CPU threads that the kernels use. */
  get numThreads(): number {
    return this.#ort.env.wasm.numThreads ?? 1;
  }

  /** The whole capacity goes into a run and comes out again: what is not needed costs time in every step. */
  capacityFor(length: number): number {
    return CAPACITY_STEP * Math.ceil(length / CAPACITY_STEP);
  }

  reserve(numSlots: number, capacity: number): void {
    if (numSlots <= this.#numSlots && capacity <= this.#capacity) return;
    const oldCapacity = this.#capacity;
    this.#numSlots = Math.max(numSlots, this.#numSlots);
    this.#capacity = Math.max(capacity, this.#capacity);
    this.#slots = this.#grow(this.#slots, this.#numSlots, oldCapacity);
    this.#staging = this.#grow(this.#staging, 1, oldCapacity);
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const startedAtMs = performance.now();
    const arrays = input.target === 'staging' ? this.#staging : this.#slots;
    const outputs = await ortMutex.run(() => this.#session.run(this.#feeds(input, arrays)));
    this.#keepPresent(outputs, arrays);
    // A CPU run settles in microtasks alone.
    await yieldToHost();
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

  copyStagingTo(slot: number): void {
    const length = this.#rowLength;
    for (const [i, staging] of this.#staging.entries()) this.#slots[i]?.set(staging, slot * length);
  }

  moveSlot(from: number, to: number): void {
    const length = this.#rowLength;
    for (const array of this.#slots) array.copyWithin(to * length, from * length, (from + 1) * length);
  }

  release(): Promise<void> {
    return ortMutex.run(() => this.#session.release());
  }

  get #rowLength(): number {
    return this.#config.numHeads * this.#capacity * this.#config.headSize;
  }

  #feeds(input: ForwardInput, arrays: KvArrays): Record<string, InstanceType<OrtModule['Tensor']>> {
    const { Tensor } = this.#ort;
    const { numRows, tokensPerRow, lastIndices } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const kvDims = [numRows, this.#config.numHeads, this.#capacity, this.#config.headSize];
    const kvLength = numRows * this.#rowLength;
    const kv = arrays.map((array, i) => [
      kvName(i, GRAPH_IO.pastKey, GRAPH_IO.pastValue),
      new Tensor('float32', array.subarray(0, kvLength), kvDims),
    ]);
    return {
      ...Object.fromEntries(kv),
      [GRAPH_IO.ids]: new Tensor('int32', ids, [numRows, tokensPerRow]),
      [GRAPH_IO.positions]: new Tensor('int32', input.positions, [numRows, tokensPerRow]),
      [GRAPH_IO.lastIndices]: new Tensor('int32', lastIndices, [numRows]),
      [GRAPH_IO.totalLength]: new Tensor('int32', Int32Array.of(Math.max(...lastIndices) + 1), [1]),
    };
  }

  #keepPresent(outputs: InferenceSession.ReturnType, arrays: KvArrays): void {
    for (const [i, array] of arrays.entries()) {
      array.set(floatsOf(outputs, kvName(i, GRAPH_IO.presentKey, GRAPH_IO.presentValue)));
    }
  }

  /** A larger capacity spreads the heads of a row apart, so each head's strip is copied by itself. */
  #grow(old: KvArrays, numRows: number, oldCapacity: number): KvArrays {
    const { numLayers, headSize } = this.#config;
    const oldStrip = oldCapacity * headSize;
    const newStrip = this.#capacity * headSize;
    return Array.from({ length: 2 * numLayers }, (_, i) => {
      const grown = new Float32Array(numRows * this.#rowLength);
      const source = old[i] ?? new Float32Array();
      for (let strip = 0; strip * oldStrip < source.length; strip++) {
        grown.set(source.subarray(strip * oldStrip, (strip + 1) * oldStrip), strip * newStrip);
      }
      return grown;
    });
  }
}

function floatsOf(outputs: InferenceSession.ReturnType, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new TypeError(`Expected output ${name} of the graph to be float32 on the CPU`);
}

function kvName(index: number, key: (layer: number) => string, value: (layer: number) => string): string {
  const layer = Math.floor(index / 2);
  return index % 2 === 0 ? key(layer) : value(layer);
}
