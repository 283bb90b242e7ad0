import type { InferenceSession, Tensor } from 'onnxruntime-web/webgpu';
import { GRAPH_IO } from '../../models/graph/graph-io.ts';
import type { ModelConfig } from '../../models/model-config.ts';
import type { SlotInputs } from '../gpu-sampler/gpu-sampler.ts';
import { attentionMask, maskWindowsOf } from '../attention-mask.ts';
import { logitTokensOf, type ForwardInput, type ForwardTarget } from '../model-backend.ts';
import type { OrtModule } from '../ort.ts';
import type { GpuKvCache } from './gpu-kv-cache.ts';
import type { AddedKv } from './kv-appender.ts';
import { GpuBuffers } from './gpu-buffers.ts';

type Tensors = Readonly<Record<string, Tensor>>;

const BYTES_PER_INT32 = 4;
const BYTES_PER_FLOAT32 = 4;

interface GraphTensorsOptions {
  readonly ort: OrtModule;
  readonly device: GPUDevice;
  readonly config: ModelConfig;
  readonly cache: GpuKvCache;
  /**
   * The session of the slots if its attention is plain: its graph takes masks and outputs only a pass's new keys and values.
   * Graphs with fused attention take lengths and output the cache.
   */
  readonly plainSession: Pick<InferenceSession, 'outputNames'> | undefined;
  /** Names of the graph's inputs, for each target's session. */
  readonly inputNames: Readonly<Record<ForwardTarget, readonly string[]>>;
}

/** Inputs and outputs of the graph, in buffers that persist from pass to pass. */
export class GraphTensors {
  readonly #ort: OrtModule;
  readonly #device: GPUDevice;
  readonly #config: ModelConfig;
  readonly #cache: GpuKvCache;
  readonly #isPlainOnSlots: boolean;
  readonly #inputNames: GraphTensorsOptions['inputNames'];
  /** Outputs with each layer's new queries, keys and values. Empty if attention is fused. */
  readonly #addedNames: readonly string[];
  /** Window of each mask among the graph's inputs, by the mask's name. */
  readonly #masks: ReadonlyMap<string, number>;
  readonly #buffers: GpuBuffers;
  /** Tensors over the cache's buffers, by `past` or `present`, target and shape. */
  readonly #kvTensors = new Map<string, Tensors>();

  /** @param onReplace Called before a buffer is replaced by a larger one. */
  constructor(
    { ort, device, config, cache, plainSession, inputNames }: GraphTensorsOptions,
    onReplace: () => void,
  ) {
    this.#ort = ort;
    this.#device = device;
    this.#config = config;
    this.#cache = cache;
    const { outputNames = [] } = plainSession ?? {};
    this.#inputNames = inputNames;
    this.#isPlainOnSlots = plainSession !== undefined;
    this.#addedNames = plainSession ? outputNames.filter((name) => name !== GRAPH_IO.logits) : [];
    this.#masks = maskWindowsOf(inputNames.slots);
    this.#buffers = new GpuBuffers(device, onReplace);
  }

  /** Call when the cache's buffers are replaced. */
  forgetCache(): void {
    this.#kvTensors.clear();
  }

  /** Logits of the last pass: float32 [rows, vocab]. */
  logits(numRows: number): GPUBuffer {
    return this.#buffers.get('logits', numRows * this.#config.vocabSize * BYTES_PER_FLOAT32);
  }

  slotInputs(): SlotInputs {
    return this.#inputsOf({ target: 'slots', numRows: this.#cache.shape.numSlots, tokensPerRow: 1 });
  }

  /** A pass over the slots with plain attention, as `KvAppender` takes it. */
  addedBy(input: ForwardInput): AddedKv {
    return {
      ...input,
      ...this.#inputsOf(input),
      capacity: this.#cache.shape.capacity,
      added: this.#added(input),
      cache: this.#cache.buffers(input.target),
    };
  }

  /** Writes the inputs of a pass, except those that the sampler left on the device. */
  write(input: ForwardInput): void {
    if (this.#isPlain(input)) {
      for (const [name, window] of this.#masks) {
        const mask = attentionMask(input, this.#cache.shape.capacity, window);
        this.#write(this.#mask(name, input), mask);
      }
    }
    if (input.ids === 'sampled') return;
    const { ids, positions, lastIndices } = this.#inputsOf(input);
    this.#write(ids, input.ids);
    this.#write(positions, input.positions);
    this.#write(lastIndices, input.lastIndices);
    const logitTokens = logitTokensOf(input);
    this.#write(this.#input(input.target, GRAPH_IO.logitTokens, logitTokens.length), logitTokens);
  }

  /** @param totalLength At least the length of the longest row, in tokens. */
  feeds(input: ForwardInput, totalLength: number): Tensors {
    const { target, numRows, tokensPerRow } = input;
    const { ids, positions, lastIndices } = this.#inputsOf(input);
    const numLogits = logitTokensOf(input).length;
    const logitTokens = this.#input(target, GRAPH_IO.logitTokens, numLogits);
    return {
      ...this.#cacheTensors('past', input),
      [GRAPH_IO.ids]: this.#tensor(ids, 'int32', [numRows, tokensPerRow]),
      ...(this.#inputNames[target].includes(GRAPH_IO.positions) && {
        [GRAPH_IO.positions]: this.#tensor(positions, 'int32', [numRows, tokensPerRow]),
      }),
      [GRAPH_IO.logitTokens]: this.#tensor(logitTokens, 'int32', [numLogits]),
      ...(this.#isPlain(input)
        ? this.#plainInputs(input)
        : {
            [GRAPH_IO.lastIndices]: this.#tensor(lastIndices, 'int32', [numRows]),
            // Attention reads this input on the CPU.
            [GRAPH_IO.totalLength]: new this.#ort.Tensor('int32', Int32Array.of(totalLength), [1]),
          }),
    };
  }

  fetches(input: ForwardInput): Tensors {
    const { numRows, tokensPerRow } = input;
    const numLogits = logitTokensOf(input).length;
    const dims = [numRows, tokensPerRow, this.#addedWidth];
    const kv = this.#isPlain(input)
      ? Object.fromEntries(
          this.#added(input).map((buffer, layer) => [
            this.#addedNames[layer] ?? '',
            this.#tensor(buffer, 'float32', dims),
          ]),
        )
      : this.#cacheTensors('present', input);
    const logits = this.#tensor(this.logits(numLogits), 'float32', [numLogits, this.#config.vocabSize]);
    return { ...kv, [GRAPH_IO.logits]: logits };
  }

  destroy(): void {
    this.#buffers.destroy();
  }

  get #addedWidth(): number {
    const { numHeads, numKvHeads, headSize } = this.#config;
    return (numHeads + 2 * numKvHeads) * headSize;
  }

  /** Buffers of a pass's ids, positions and last indices. */
  #inputsOf(pass: Pick<ForwardInput, 'target' | 'numRows' | 'tokensPerRow'>): SlotInputs {
    const numTokens = pass.numRows * pass.tokensPerRow;
    return {
      ids: this.#input(pass.target, GRAPH_IO.ids, numTokens),
      positions: this.#input(pass.target, GRAPH_IO.positions, numTokens),
      lastIndices: this.#input(pass.target, GRAPH_IO.lastIndices, pass.numRows),
    };
  }

  #input(target: ForwardTarget, name: string, numValues: number): GPUBuffer {
    // Inputs of the slots never grow with a batch: a larger buffer would lose what the sampler wrote.
    const length = target === 'slots' ? this.#cache.shape.numSlots : numValues;
    return this.#buffers.get(`${target} ${name}`, length * BYTES_PER_INT32);
  }

  #write(buffer: GPUBuffer, values: Int32Array | Float32Array): void {
    this.#device.queue.writeBuffer(buffer, 0, values.buffer, values.byteOffset, values.byteLength);
  }

  #isPlain({ target }: Pick<ForwardInput, 'target'>): boolean {
    return target === 'slots' && this.#isPlainOnSlots;
  }

  /** One buffer per layer: float32 [rows, tokens per row, (heads + 2 * K/V heads) * head size]. */
  #added({ numRows, tokensPerRow }: ForwardInput): readonly GPUBuffer[] {
    const size = numRows * tokensPerRow * this.#addedWidth * BYTES_PER_FLOAT32;
    return this.#addedNames.map((name) => this.#buffers.get(name, size));
  }

  #plainInputs(input: ForwardInput): Tensors {
    const { numRows, tokensPerRow } = input;
    const { capacity } = this.#cache.shape;
    const dims = [numRows, 1, tokensPerRow, capacity + tokensPerRow];
    const masks = Array.from(this.#masks.keys(), (name) => [
      name,
      this.#tensor(this.#mask(name, input), 'float32', dims),
    ]);
    const keyCounts = BigInt64Array.of(BigInt(capacity), BigInt(tokensPerRow));
    return {
      ...Object.fromEntries(masks),
      [GRAPH_IO.keyCounts]: new this.#ort.Tensor('int64', keyCounts, [2]),
    };
  }

  #mask(name: string, input: ForwardInput): GPUBuffer {
    const { target, numRows, tokensPerRow } = input;
    const numValues = numRows * tokensPerRow * (this.#cache.shape.capacity + tokensPerRow);
    return this.#buffers.get(`${target} ${name}`, numValues * BYTES_PER_FLOAT32);
  }

  #cacheTensors(names: 'past' | 'present', input: ForwardInput): Tensors {
    const { target, numRows } = input;
    const { numLayers, numKvHeads, headSize } = this.#config;
    const { capacity } = this.#cache.shape;
    const key = `${names} ${target} ${numRows} ${capacity}`;
    const known = this.#kvTensors.get(key);
    if (known) return known;
    // A tensor over the first rows of a larger buffer touches those rows only.
    const dims = [numRows, numKvHeads, capacity, headSize];
    const tensorNames = GRAPH_IO[names].all(numLayers);
    const tensors = Object.fromEntries(
      this.#cache
        .buffers(target)
        .map((buffer, i) => [tensorNames[i] ?? '', this.#tensor(buffer, this.#cache.precision, dims)]),
    );
    this.#kvTensors.set(key, tensors);
    return tensors;
  }

  #tensor(buffer: GPUBuffer, dataType: 'float16' | 'float32' | 'int32', dims: readonly number[]): Tensor {
    return this.#ort.Tensor.fromGpuBuffer(buffer, { dataType, dims });
  }
}
