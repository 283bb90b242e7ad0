import type { Tensor } from 'onnxruntime-web/jspi';
import { GRAPH_IO } from '../../models/onnx/graph-io.ts';
import type { Precision } from '../../models/checkpoint/packed-weights.ts';
import { keptTokensIn, type LayerState } from '../../models/program/layer-state.ts';
import type { SlotInputs } from '../gpu-sampler/gpu-sampler.ts';
import { logitTokensOf, type ForwardInput, type ForwardTarget } from '../model-backend.ts';
import type { OrtModule } from '../ort/ort.ts';
import { TENSOR_USAGE } from '../gpu-sampler/gpu-flags.ts';
import type { GpuStateRows } from './gpu-state-rows.ts';
import { keptTokensOf } from './kept-tokens.ts';

type Tensors = Readonly<Record<string, Tensor>>;

const BYTES_PER_INT32 = 4;
const BYTES_PER_FLOAT32 = 4;

/** onnxruntime-web rounds its copies up to this many bytes. */
const ALIGNMENT = 16;

interface GraphTensorsOptions {
  readonly ort: OrtModule;
  readonly device: GPUDevice;
  readonly vocabSize: number;
  readonly states: readonly LayerState[];
  /** The precision of the rows' state. */
  readonly precision: Precision;
  readonly rows: Readonly<Record<ForwardTarget, GpuStateRows>>;
  /** Names of the graph's inputs. */
  readonly inputNames: readonly string[];
  /** Called before a buffer is replaced by a larger one. */
  readonly onReplace: () => void;
}

/** Inputs and outputs of the graph, in buffers that persist from pass to pass: in steady state a pass creates none. */
export class GraphTensors {
  readonly #given: GraphTensorsOptions;
  readonly #buffers = new Map<string, GPUBuffer>();
  /** Tensors over what rows keep, by `past` or `present`, target and shape. */
  readonly #stateTensors = new Map<string, Tensors>();
  /** The numbers of tokens that convolutions keep. */
  readonly #keptLengths: readonly number[];

  constructor(given: GraphTensorsOptions) {
    this.#given = given;
    this.#keptLengths = [...new Set(given.states.flatMap(keptTokensIn))];
  }

  /** Call when buffers of rows are replaced. */
  forgetState(): void {
    this.#stateTensors.clear();
  }

  /** Logits of the last pass: float32 [rows, vocab]. */
  logits(numRows: number): GPUBuffer {
    return this.#buffer('logits', numRows * this.#given.vocabSize * BYTES_PER_FLOAT32);
  }

  slotInputs(): SlotInputs {
    return this.#inputsOf({ target: 'slots', numRows: this.#given.rows.slots.numRows, tokensPerRow: 1 });
  }

  /** Writes the inputs of a pass, except those that the sampler left on the device. */
  write(input: ForwardInput): void {
    if (input.ids === 'sampled') return;
    const { ids, positions, lastIndices } = this.#inputsOf(input);
    this.#write(ids, input.ids);
    this.#write(positions, input.positions);
    this.#write(lastIndices, input.lastIndices);
    for (const numKept of this.#keptLengths)
      if (input.target === 'staging')
        this.#write(this.#keptTokens(input.target, input.numRows, numKept), keptTokensOf(input, numKept));
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
      ...this.#stateOf('past', input),
      ...Object.fromEntries(
        this.#keptLengths.map((numKept) => {
          const buffer = this.#keptTokens(target, numRows, numKept);
          return [GRAPH_IO.keptTokens(numKept), this.#tensor(buffer, 'int32', [numRows, numKept])];
        }),
      ),
      [GRAPH_IO.ids]: this.#tensor(ids, 'int32', [numRows, tokensPerRow]),
      ...(this.#given.inputNames.includes(GRAPH_IO.positions) && {
        [GRAPH_IO.positions]: this.#tensor(positions, 'int32', [numRows, tokensPerRow]),
      }),
      [GRAPH_IO.logitTokens]: this.#tensor(logitTokens, 'int32', [numLogits]),
      [GRAPH_IO.lastIndices]: this.#tensor(lastIndices, 'int32', [numRows]),
      // Attention reads this input on the CPU.
      [GRAPH_IO.totalLength]: new this.#given.ort.Tensor('int32', Int32Array.of(totalLength), [1]),
    };
  }

  fetches(input: ForwardInput): Tensors {
    const numLogits = logitTokensOf(input).length;
    const logits = this.#tensor(this.logits(numLogits), 'float32', [numLogits, this.#given.vocabSize]);
    return { ...this.#stateOf('present', input), [GRAPH_IO.logits]: logits };
  }

  destroy(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
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
    const length = target === 'slots' ? this.#given.rows.slots.numRows : numValues;
    return this.#buffer(`${target} ${name}`, length * BYTES_PER_INT32);
  }

  /** In a step no row has padding, so the same are right for any: those of all slots are written once. */
  #keptTokens(target: ForwardTarget, numRows: number, numKept: number): GPUBuffer {
    const length = numKept * (target === 'slots' ? this.#given.rows.slots.numRows : numRows);
    const name = `${target} ${GRAPH_IO.keptTokens(numKept)}`;
    const known = this.#buffers.get(name);
    const buffer = this.#buffer(name, length * BYTES_PER_INT32);
    if (target === 'slots' && buffer !== known)
      this.#write(
        buffer,
        Int32Array.from({ length }, (_, i) => i),
      );
    return buffer;
  }

  /** The buffer of this name, with at least `numBytes` bytes. */
  #buffer(name: string, numBytes: number): GPUBuffer {
    const { device, onReplace } = this.#given;
    const known = this.#buffers.get(name);
    if (known && known.size >= numBytes) return known;
    if (known) onReplace();
    known?.destroy();
    const size = Math.ceil(numBytes / ALIGNMENT) * ALIGNMENT;
    const buffer = device.createBuffer({ size, usage: TENSOR_USAGE });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  #write(buffer: GPUBuffer, values: Int32Array): void {
    this.#given.device.queue.writeBuffer(buffer, 0, values.buffer, values.byteOffset, values.byteLength);
  }

  #stateOf(names: 'past' | 'present', { target, numRows }: ForwardInput): Tensors {
    const { rows, states, precision } = this.#given;
    const { capacity } = rows[target];
    const shape = `${names} ${target} ${numRows} ${capacity}`;
    const known = this.#stateTensors.get(shape);
    if (known) return known;
    const { key, value, fixed } = GRAPH_IO[names];
    const tensors = Object.fromEntries(
      states.flatMap((state, layer) => {
        if (state.kind === 'shared') return [];
        const isFixed = state.kind === 'row';
        // A tensor over the first rows of a larger buffer touches those rows only.
        const dims = isFixed ? state.shape : [state.numKvHeads, capacity, state.headSize];
        const type = isFixed && state.isSum ? 'float32' : precision;
        const layerNames = isFixed ? [fixed(layer)] : [key(layer), value(layer)];
        return rows[target]
          .buffersOf(layer)
          .map((buffer, i) => [layerNames[i] ?? '', this.#tensor(buffer, type, [numRows, ...dims])]);
      }),
    );
    this.#stateTensors.set(shape, tensors);
    return tensors;
  }

  #tensor(buffer: GPUBuffer, dataType: 'float16' | 'float32' | 'int32', dims: readonly number[]): Tensor {
    return this.#given.ort.Tensor.fromGpuBuffer(buffer, { dataType, dims });
  }
}
