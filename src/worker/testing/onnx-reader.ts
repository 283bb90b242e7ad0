import type { InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import type { KvShape } from '../../batching/generation/kv-memory.ts';
import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { AttentionKind } from '../models/onnx/graph-builder.ts';
import { GRAPH_IO } from '../models/onnx/graph-io.ts';
import { WEIGHTS_LOCATION } from '../models/onnx/graph-weights.ts';
import { writeGraph } from '../models/onnx/write-graph.ts';
import { countElements } from '../models/program/model-config.ts';
import { keptTokensIn, type LayerState } from '../models/program/layer-state.ts';
import { encoderInputs, type EncoderRow } from '../runtime/encoder-inputs.ts';
import {
  logitTokensOf,
  newRowsOf,
  type ForwardInput,
  type ForwardTarget,
  type PackedModel,
  type RowCopy,
} from '../runtime/model-backend.ts';
import { keptTokensOf } from '../runtime/webgpu/kept-tokens.ts';
import type { TestedDecoder, TestedEncoder } from './operation-trial.ts';

type Ort = typeof import('onnxruntime-web/wasm');

/** Keys or values of a row in a layer, [K/V heads, capacity, head size], or its state of a fixed size. */
type Entries = Float32Array;

async function createSession({ model, packed, weights }: PackedModel, attention: AttentionKind) {
  const ort: Ort = await import('onnxruntime-web/wasm');
  ort.env.wasm.numThreads = 1;
  const { contextLength } = model.config;
  const target = { layout: packed, maxBindingBytes: Infinity, contextLength, attention };
  const session = await ort.InferenceSession.create(writeGraph(model.program, target), {
    executionProviders: ['wasm'],
    externalData: [{ path: WEIGHTS_LOCATION, data: await weights.bytes() }],
    logSeverityLevel: 3,
  });
  return { ort, session };
}

/** Test support: the graph that a GPU runs, by the operators of onnxruntime's CPU. */
export class OnnxDecoder implements TestedDecoder {
  readonly #ort: Ort;
  readonly #session: InferenceSession;
  readonly #states: readonly LayerState[];
  /** By layer, keys and values in turn, or state of a fixed size. */
  readonly #rows: Record<ForwardTarget, Entries[][]> = { staging: [], slots: [] };
  #capacity = 0;
  #logits = new Float32Array();

  static async create(packedModel: PackedModel): Promise<OnnxDecoder> {
    const { ort, session } = await createSession(packedModel, 'fused');
    return new OnnxDecoder(ort, session, packedModel.model.program.states);
  }

  private constructor(ort: Ort, session: InferenceSession, states: readonly LayerState[]) {
    this.#ort = ort;
    this.#session = session;
    this.#states = states;
  }

  /** Keeps nothing. */
  resize({ numSlots, numStagingRows, capacity }: KvShape): void {
    this.#capacity = capacity;
    const sizes = this.#names('past').map(({ dims }) => countElements(dims));
    const rowsOf = (numRows: number) =>
      Array.from({ length: numRows }, () => sizes.map((size) => new Float32Array(size)));
    this.#rows.slots = rowsOf(numSlots);
    this.#rows.staging = rowsOf(numStagingRows);
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const rows = this.#rows[input.target].slice(0, input.numRows);
    for (const row of newRowsOf(input)) for (const entries of rows[row] ?? []) entries.fill(0);
    const outputs = await this.#session.run({ ...this.#stateFeeds(rows), ...this.#tokenFeeds(input) });
    for (const [i, { name }] of this.#names('present').entries()) {
      const present = floatsOf(outputs[name]);
      const length = present.length / rows.length;
      for (const [row, entries] of rows.entries())
        entries[i]?.set(present.subarray(row * length, (row + 1) * length));
    }
    this.#logits = floatsOf(outputs[GRAPH_IO.logits]);
    return { runMs: 0 };
  }

  readLogits(): Promise<Float32Array> {
    return Promise.resolve(this.#logits);
  }

  copyRows(from: ForwardTarget, to: ForwardTarget, rows: readonly RowCopy[]): void {
    for (const [row, copy] of rows)
      this.#rows[to][copy] = (this.#rows[from][row] ?? []).map((entries) => entries.slice());
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  /** The graph's names of what layers keep, and its dimensions without the rows'. */
  #names(kind: 'past' | 'present'): readonly { readonly name: string; readonly dims: readonly number[] }[] {
    const { key, value, fixed } = GRAPH_IO[kind];
    return this.#states.flatMap((state, layer) => {
      if (state.kind === 'shared') return [];
      if (state.kind === 'row') return [{ name: fixed(layer), dims: state.shape }];
      const dims = [state.numKvHeads, this.#capacity, state.headSize];
      return [key(layer), value(layer)].map((name) => ({ name, dims }));
    });
  }

  #stateFeeds(rows: readonly Entries[][]): Record<string, Tensor> {
    const feeds = this.#names('past').map(({ name, dims }, i) => {
      const values = rows.flatMap((entries) => [...(entries[i] ?? [])]);
      return [
        name,
        new this.#ort.Tensor('float32', Float32Array.from(values), [rows.length, ...dims]),
      ] as const;
    });
    return Object.fromEntries(feeds);
  }

  #tokenFeeds(input: ForwardInput): Record<string, Tensor> {
    const { numRows, tokensPerRow, ids, positions, lastIndices } = input;
    if (ids === 'sampled') throw new Error('Nothing samples here');
    const tokens = (values: Int32Array) => new this.#ort.Tensor('int32', values, [numRows, tokensPerRow]);
    const list = (values: Int32Array) => new this.#ort.Tensor('int32', values, [values.length]);
    return {
      [GRAPH_IO.ids]: tokens(ids),
      ...(this.#session.inputNames.includes(GRAPH_IO.positions) && {
        [GRAPH_IO.positions]: tokens(positions),
      }),
      ...Object.fromEntries(
        this.#states.flatMap(keptTokensIn).map((numKept) => {
          const kept = new this.#ort.Tensor('int32', keptTokensOf(input, numKept), [numRows, numKept]);
          return [GRAPH_IO.keptTokens(numKept), kept];
        }),
      ),
      [GRAPH_IO.logitTokens]: list(logitTokensOf(input)),
      [GRAPH_IO.lastIndices]: list(lastIndices),
      [GRAPH_IO.totalLength]: list(Int32Array.of(1 + Math.max(...lastIndices))),
    };
  }
}

/** Test support: an encoder's graph, by the operators of onnxruntime's CPU. */
export class OnnxEncoder implements TestedEncoder {
  readonly #ort: Ort;
  readonly #session: InferenceSession;
  readonly #inputs: Parameters<typeof encoderInputs>[1];

  static async create(packedModel: PackedModel, { pooling }: EncoderConfig): Promise<OnnxEncoder> {
    const { ort, session } = await createSession(packedModel, 'uncached');
    const { ops } = packedModel.model.program;
    const isCausal = ops.some((op) => op.kind === 'attend' && op.isCausal);
    return new OnnxEncoder(ort, session, { pooling, isCausal });
  }

  private constructor(ort: Ort, session: InferenceSession, inputs: Parameters<typeof encoderInputs>[1]) {
    this.#ort = ort;
    this.#session = session;
    this.#inputs = inputs;
  }

  async run(rows: readonly EncoderRow[]): Promise<readonly Float32Array[]> {
    const outputs = await this.#session.run(this.#feeds(rows));
    const encoded = floatsOf(outputs[GRAPH_IO.encoded]);
    const length = encoded.length / rows.length;
    return rows.map((_, row) => encoded.slice(row * length, (row + 1) * length));
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  #feeds(rows: readonly EncoderRow[]): Record<string, Tensor> {
    const { tokensPerRow, numQueries, ...inputs } = encoderInputs(rows, this.#inputs);
    const { Tensor } = this.#ort;
    const packed = (values: Int32Array) => new Tensor('int32', values, [1, values.length]);
    const feeds = {
      [GRAPH_IO.ids]: packed(inputs.ids),
      [GRAPH_IO.positions]: packed(inputs.positions),
      [GRAPH_IO.types]: packed(inputs.types),
      [GRAPH_IO.tokenPlaces]: packed(inputs.tokenPlaces),
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

function floatsOf(output: Tensor | undefined): Float32Array<ArrayBuffer> {
  if (output?.data instanceof Float32Array) return new Float32Array(output.data);
  throw new TypeError('Expected an output in float32');
}
