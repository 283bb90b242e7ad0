import type { PackedLayout, Precision } from '../checkpoint/packed-weights.ts';
import type { ModelTensor } from '../program/model-config.ts';
import { keptTokensIn, type FixedState, type TokenState } from '../program/layer-state.ts';
import type { AttentionShape } from '../program/program.ts';
import { GRAPH_IO } from './graph-io.ts';
import { GraphWeights } from './graph-weights.ts';
import { OnnxNodes } from './onnx-nodes.ts';
import { JoinedQkv, type RotatedHeads, type RotaryTables, type SeparateQkv } from './joined-qkv.ts';
import { encodeOnnxModel, ONNX_TYPE, type OnnxValue } from './onnx-proto.ts';
import { PlainAttention } from './plain-attention.ts';

export interface GraphTarget {
  readonly layout: PackedLayout;
  /** Bytes that a shader can bind at once. A larger embedding is bound in blocks of rows. */
  readonly maxBindingBytes: number;
  /** Longest sequence that will be run, in tokens. Tables of positions need no more rows. */
  readonly contextLength: number;
  readonly attention: AttentionKind;
}

/**
 * `fused` is `GroupQueryAttention`: it outputs the cache as `GRAPH_IO.present`, updated in place. `uncached` is `PlainAttention` of each
 * row over its own tokens alone, for encoders: its graph outputs `GRAPH_IO.encoded`.
 */
export type AttentionKind = 'fused' | 'uncached';

/** Inputs of `GroupQueryAttention` besides the cache. */
const FUSED_ATTENTION_INPUTS: readonly OnnxValue[] = [
  { name: GRAPH_IO.lastIndices, type: 'int32', dims: ['B'] },
  { name: GRAPH_IO.totalLength, type: 'int32', dims: [1] },
];

/** Pairs of a head that `GroupQueryAttention` turns at least, and multiples of them alone. */
const FEWEST_PAIRS = 8;

/** A forward pass for onnxruntime-web in the making. One graph with free B and S serves prefill and decode. */
export class GraphBuilder {
  readonly nodes = new OnnxNodes();
  readonly weights: GraphWeights;
  readonly #precision: Precision;
  readonly #attention: AttentionKind;
  /** Made with the first layer; none if attention is fused. */
  #plainAttention: PlainAttention | undefined;
  /** Values in a row of the logits, or of what an encoder outputs. */
  #outputWidth = 0;
  readonly #states: (TokenState | FixedState)[] = [];
  readonly #contextLength: number;

  constructor({ attention, contextLength, ...target }: GraphTarget) {
    this.#contextLength = contextLength;
    this.#precision = target.layout.precision;
    this.weights = new GraphWeights(this.nodes, target);
    this.#attention = attention;
  }

  /**
   * Attention of each row over its cached and its new tokens. `GroupQueryAttention` updates the cache in place if past and present
   * are the same buffer, each row at its own length.
   *
   * @param qkv Queries, keys and values of each token, side by side: [B, S, (heads + 2 * K/V heads) * head size], or each
   * by itself.
   * @param output [B, S, heads * head size]
   */
  addAttention(
    qkv: string | SeparateQkv,
    output: string,
    attention: RotatedHeads & Pick<AttentionShape, 'scale' | 'window'>,
  ): void {
    const { heads, rotary, scale, window } = attention;
    const { numKvHeads, headSize } = heads;
    const layer = this.#states.push({ kind: 'tokens', numKvHeads, headSize }) - 1;
    if (this.#attention !== 'fused') {
      const joined = new JoinedQkv(this.nodes, this.weights).add(qkv, output, attention);
      this.#plainAttention ??= new PlainAttention(this.nodes, this.weights, heads);
      this.#plainAttention.add(joined, output, { heads, scale, window: window ?? Infinity });
      return;
    }
    const { query, key, value } = unrotated(qkv);
    const { cos, sin } = rotary ?? (key === '' && headSize % 16 === 0 ? this.#unturned() : {});
    const tables = cos !== undefined && sin !== undefined ? [cos, sin] : [];
    const [pastKey, pastValue] = [GRAPH_IO.past.key(layer), GRAPH_IO.past.value(layer)];
    this.nodes.addFused(
      'GroupQueryAttention',
      [query, key, value, pastKey, pastValue, GRAPH_IO.lastIndices, GRAPH_IO.totalLength, ...tables],
      [output, GRAPH_IO.present.key(layer), GRAPH_IO.present.value(layer)],
      {
        num_heads: { int: heads.numHeads },
        kv_num_heads: { int: heads.numKvHeads },
        scale: { float: scale },
        do_rotary: { int: tables.length > 0 ? 1 : 0 },
        ...(window !== undefined && { local_window_size: { int: window } }),
      },
    );
  }

  /**
   * Tables that turn nothing. `GroupQueryAttention` writes joined keys and values to the cache in the dispatch that turns them; without
   * tables, it takes one dispatch to part them from the queries and another one to write them.
   */
  #unturned(): Pick<RotaryTables, 'cos' | 'sin'> {
    const dims = [this.#contextLength, FEWEST_PAIRS] as const;
    const values = new Float32Array(this.#contextLength * FEWEST_PAIRS);
    return {
      cos: this.weights.constant(
        'unturned_cos',
        values.map(() => 1),
        ...dims,
      ),
      sin: this.weights.constant('unturned_sin', values, ...dims),
    };
  }

  /** @returns The number of a layer that keeps state of a fixed size of each row. */
  addState(state: FixedState): number {
    if (this.#isEncoder) throw new Error('Texts that are packed would share what a row keeps');
    return this.#states.push(state) - 1;
  }

  /**
   * Convolution of each row over what it keeps and its new tokens.
   *
   * @param input [B, S, width] or [B * S, width]
   * @param output [B, S, width]
   * @param bias '' for none.
   */
  addShortConv(input: string, output: string, kernel: ModelTensor, bias: string): void {
    const [width = 0, , length = 0] = kernel.shape;
    const shape = [length - 1, width];
    const layer = this.addState({ kind: 'row', shape });
    const [batch, last] = [`${output}.batch`, `${output}.last`];
    this.unflatten(input, batch);
    const past = GRAPH_IO.past.fixed(layer);
    this.nodes.addFused('CausalConvWithState', [batch, kernel.name, bias, past], [output, last], {
      ndim: { int: 1 },
      channels_last: { int: 1 },
    });
    // `last` has padding where a row has ended. All that is kept comes from it, so nothing overwrites the past before it is read.
    this.flatten(batch, width, `${batch}.rows`);
    this.flatten(last, width, `${last}.rows`);
    const zeros = this.weights.constant(`zeros_${width}`, new Float32Array(width), 1, width);
    this.nodes.add('Concat', [`${last}.rows`, `${batch}.rows`, zeros], [`${output}.candidates`], {
      axis: { int: 0 },
    });
    const kept = GRAPH_IO.keptTokens(length - 1);
    this.nodes.add('Gather', [`${output}.candidates`, kept], [GRAPH_IO.present.fixed(layer)]);
  }

  get #isEncoder(): boolean {
    return this.#attention === 'uncached';
  }

  /** [B, S, width] -> [B * S, width] */
  flatten(input: string, width: number, output: string): void {
    this.nodes.add('Reshape', [input, this.weights.list(-1, width)], [output]);
  }

  /** Any shape with the same tokens -> [B, S, width] */
  unflatten(input: string, output: string): void {
    this.nodes.add('Reshape', [input, this.#tokensShape()], [output]);
  }

  /**
   * The logits of the tokens for which they are wanted.
   *
   * @param hidden [B, S, width] or [B * S, width]
   * @param weight [vocabulary, width]: the head's own matrix, or the embedding to which it is tied.
   */
  addHead(hidden: string, { name: weight, shape: [vocabSize = 0, width = 0] }: ModelTensor): void {
    const isCast = this.#precision === 'float16';
    this.#outputWidth = vocabSize;
    this.flatten(hidden, width, 'token_rows');
    this.nodes.add('Gather', ['token_rows', GRAPH_IO.logitTokens], ['logit_hidden']);
    this.weights.project('logit_hidden', weight, isCast ? 'logits_f16' : GRAPH_IO.logits);
    if (isCast) this.nodes.add('Cast', ['logits_f16'], [GRAPH_IO.logits], { to: { int: ONNX_TYPE.float32 } });
  }

  /**
   * The sum of each row's hidden states by `GRAPH_IO.shares`. It is computed in float32, so that a mean of many tokens keeps its
   * precision.
   *
   * @param hidden [T, width]
   * @returns float32 [B, width]
   */
  pool(hidden: string, width: number): string {
    this.nodes.add('MatMul', [GRAPH_IO.shares, this.#cast(hidden, 'float32')], ['pooled_rows']);
    this.flatten('pooled_rows', width, 'pooled');
    return 'pooled';
  }

  /** @param input [B, dimensions] */
  addEncoded(input: string, dimensions: number): void {
    this.#outputWidth = dimensions;
    this.nodes.add('Cast', [input], [GRAPH_IO.encoded], { to: { int: ONNX_TYPE.float32 } });
  }

  /** The input in the precision of activations. */
  narrow(input: string): string {
    return this.#cast(input, this.#precision);
  }

  encode(): Uint8Array<ArrayBuffer> {
    return encodeOnnxModel({
      name: this.#isEncoder ? 'encoder' : 'decoder',
      nodes: this.nodes.all,
      inputs: [
        { name: GRAPH_IO.ids, type: 'int32', dims: this.#tokenDims },
        // Left out if unread: in each run, onnxruntime would copy it from the GPU to the CPU.
        ...this.#ifRead({ name: GRAPH_IO.positions, type: 'int32', dims: this.#tokenDims }),
        ...(this.#plainAttention?.inputs ?? FUSED_ATTENTION_INPUTS),
        ...(this.#isEncoder ? this.#encoderInputs() : this.#decoderInputs()),
      ],
      outputs: this.#isEncoder
        ? [{ name: GRAPH_IO.encoded, type: 'float32', dims: ['B', this.#outputWidth] }]
        : this.#decoderOutputs(),
      initializers: this.weights.initializers,
    });
  }

  #encoderInputs(): readonly OnnxValue[] {
    return [
      ...this.#ifRead({ name: GRAPH_IO.types, type: 'int32', dims: this.#tokenDims }),
      { name: GRAPH_IO.shares, type: 'float32', dims: [1, 'B', 'T'] },
    ];
  }

  #decoderInputs(): readonly OnnxValue[] {
    const numKept = this.#states.flatMap((state) => keptTokensIn(state));
    return [
      { name: GRAPH_IO.logitTokens, type: 'int32', dims: ['L'] },
      ...[...new Set(numKept)].map((length): OnnxValue => ({
        name: GRAPH_IO.keptTokens(length),
        type: 'int32',
        dims: ['B', length],
      })),
      ...this.#stateValues(GRAPH_IO.past),
    ];
  }

  #decoderOutputs(): readonly OnnxValue[] {
    return [
      { name: GRAPH_IO.logits, type: 'float32', dims: ['L', this.#outputWidth] },
      ...this.#stateValues(GRAPH_IO.present),
    ];
  }

  #stateValues({ key, value, fixed }: typeof GRAPH_IO.past): readonly OnnxValue[] {
    return this.#states.flatMap((state, layer) => {
      if (state.kind === 'row')
        return [
          { ...this.#value(fixed(layer), ['B', ...state.shape]), ...(state.isSum && { type: 'float32' }) },
        ];
      const dims = ['B', state.numKvHeads, 'C', state.headSize];
      return [this.#value(key(layer), dims), this.#value(value(layer), dims)];
    });
  }

  get #tokenDims(): OnnxValue['dims'] {
    return this.#isEncoder ? [1, 'T'] : ['B', 'S'];
  }

  #ifRead(input: OnnxValue): readonly OnnxValue[] {
    return this.nodes.reads(input.name) ? [input] : [];
  }

  /** The input itself if it has this type already, as everything has where activations are float32. */
  widen(input: string): string {
    return this.#cast(input, 'float32');
  }

  #cast(input: string, type: 'float32' | 'float16'): string {
    if (this.#precision === 'float32') return input;
    const output = `${input}.${type}`;
    this.nodes.add('Cast', [input], [output], { to: { int: ONNX_TYPE[type] } });
    return output;
  }

  /** [B, S, -1], which has to be computed at run time. */
  #tokensShape(): string {
    const shape = 'tokens_shape';
    this.nodes.addOnce(shape, () => {
      this.nodes.add('Shape', [GRAPH_IO.ids], ['ids_shape']);
      this.nodes.add('Concat', ['ids_shape', this.weights.list(-1)], [shape], { axis: { int: 0 } });
    });
    return shape;
  }

  #value(name: string, dims: OnnxValue['dims']): OnnxValue {
    return { name, type: this.#precision, dims };
  }
}

/** As they are: `GroupQueryAttention` splits and rotates them itself. */
function unrotated(qkv: string | SeparateQkv): SeparateQkv {
  return typeof qkv === 'string' ? { query: qkv, key: '', value: '' } : qkv;
}
