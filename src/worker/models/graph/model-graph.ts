import type { PackedLayout } from '../checkpoint/packed-weights.ts';
import type { ModelConfig } from '../model-config.ts';
import { productsOnCpu, productsOnSoftwareGpu, type AttentionProducts } from './attention-products.ts';
import { GRAPH_IO } from './graph-io.ts';
import { GraphWeights } from './graph-weights.ts';
import { OnnxNodes } from './onnx-nodes.ts';
import { encodeOnnxModel, ONNX_TYPE, type OnnxType, type OnnxValue } from './onnx-proto.ts';
import { PlainAttention, type SeparateQkv } from './plain-attention.ts';

export interface GraphTarget {
  readonly layout: PackedLayout;
  /** Bytes that a shader can bind at once. A larger embedding is bound in blocks of rows. */
  readonly maxBindingBytes: number;
  /** Longest sequence that will be run, in tokens. Tables of positions need no more rows. */
  readonly contextLength: number;
  readonly attention: AttentionKind;
}

/**
 * `fused` is `GroupQueryAttention`: the cache comes out as `GRAPH_IO.present`, updated in place. The others are `PlainAttention`,
 * made of what the device computes fast: only what a run adds to the cache comes out, as `GRAPH_IO.added`.
 */
export type AttentionKind = 'fused' | 'products-on-cpu' | 'products-on-software-gpu';

/** Initializers of [positions, head size / 2]: the cosine and sine of the angle by which each pair of a head's values turns. */
export interface RotaryTables {
  readonly cos: string;
  readonly sin: string;
}

interface AttentionVariant {
  /** Turns queries and keys by their positions, a head's first half with its second. */
  readonly rotary?: RotaryTables;
  /** Latest tokens that a token attends to, itself included. Left out, it attends to all before it. */
  readonly window?: number;
}

/** What `GroupQueryAttention` takes beside the positions. */
const FUSED_ATTENTION_INPUTS: readonly OnnxValue[] = [
  { name: GRAPH_IO.lastIndices, type: 'int32', dims: ['B'] },
  { name: GRAPH_IO.totalLength, type: 'int32', dims: [1] },
];

/**
 * A forward pass for onnxruntime-web in the making. One graph with free B and S serves prefill and decode. A family adds
 * its layers from `GRAPH_IO.ids` on, with `addAttention` in each, and ends with `addHead`.
 */
export class ModelGraph {
  readonly nodes = new OnnxNodes();
  readonly weights: GraphWeights;
  readonly #config: ModelConfig;
  readonly #precision: OnnxType;
  /** Left out, attention is fused. */
  readonly #plainAttention: PlainAttention | undefined;

  constructor(config: ModelConfig, { layout, maxBindingBytes, attention }: GraphTarget) {
    this.#config = config;
    this.#precision = layout.precision;
    this.weights = new GraphWeights(this.nodes, layout, maxBindingBytes);
    const products = this.#productsFor(attention);
    this.#plainAttention = products && new PlainAttention(this.nodes, this.weights, config, products);
  }

  /**
   * Attention of each row over what it has in the cache and its new tokens. `GroupQueryAttention` updates the cache in place where
   * past and present are the same buffer, each row at its own length.
   *
   * @param qkv Queries, keys and values of each token, side by side: [B, S, (heads + 2 * K/V heads) * head size], or each
   * by itself.
   * @param output [B, S, heads * head size]
   * @param scale Factor of the attention scores.
   */
  addAttention(
    layer: number,
    qkv: string | SeparateQkv,
    output: string,
    scale: number,
    { rotary, window }: AttentionVariant = {},
  ): void {
    const { numHeads, numKvHeads } = this.#config;
    if (this.#plainAttention) {
      this.#plainAttention.add(layer, this.#addNewKv(layer, qkv, output, rotary), output, scale, window);
      return;
    }
    const { query, key, value } = unrotated(qkv);
    const tables = rotary ? [rotary.cos, rotary.sin] : [];
    const [pastKey, pastValue] = [GRAPH_IO.past.key(layer), GRAPH_IO.past.value(layer)];
    this.nodes.addFused(
      'GroupQueryAttention',
      [query, key, value, pastKey, pastValue, GRAPH_IO.lastIndices, GRAPH_IO.totalLength, ...tables],
      [output, GRAPH_IO.present.key(layer), GRAPH_IO.present.value(layer)],
      {
        num_heads: { int: numHeads },
        kv_num_heads: { int: numKvHeads },
        scale: { float: scale },
        do_rotary: { int: tables.length > 0 ? 1 : 0 },
        ...(window !== undefined && { local_window_size: { int: window } }),
      },
    );
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
   * @param weight The head's own matrix, or the embedding to which it is tied.
   */
  addHead(hidden: string, weight: string): void {
    const isCast = this.#precision === 'float16';
    this.flatten(hidden, this.weights.widthOf(weight), 'token_rows');
    this.nodes.add('Gather', ['token_rows', GRAPH_IO.logitTokens], ['logit_hidden']);
    this.weights.project('logit_hidden', weight, isCast ? 'logits_f16' : GRAPH_IO.logits);
    if (isCast) this.nodes.add('Cast', ['logits_f16'], [GRAPH_IO.logits], { to: { int: ONNX_TYPE.float32 } });
  }

  encode(): Uint8Array<ArrayBuffer> {
    const { vocabSize, numLayers, numKvHeads, headSize } = this.#config;
    const cacheDims = ['B', numKvHeads, 'C', headSize];
    const added = Array.from({ length: numLayers }, (_, layer) => GRAPH_IO.added(layer));
    return encodeOnnxModel({
      name: 'decoder',
      nodes: this.nodes.all,
      inputs: [
        { name: GRAPH_IO.ids, type: 'int32', dims: ['B', 'S'] },
        { name: GRAPH_IO.positions, type: 'int32', dims: ['B', 'S'] },
        { name: GRAPH_IO.logitTokens, type: 'int32', dims: ['L'] },
        ...(this.#plainAttention ? [] : FUSED_ATTENTION_INPUTS),
        ...this.#values(GRAPH_IO.past.all(numLayers), cacheDims),
      ],
      outputs: [
        { name: GRAPH_IO.logits, type: 'float32', dims: ['L', vocabSize] },
        ...(this.#plainAttention
          ? this.#values(added, ['B', 'S', 2 * numKvHeads * headSize])
          : this.#values(GRAPH_IO.present.all(numLayers), cacheDims)),
      ],
      initializers: this.weights.initializers,
    });
  }

  /**
   * Puts out the keys and values of the run as they are cached, which is after rotation.
   *
   * @returns What attention has to read.
   */
  #addNewKv(
    layer: number,
    qkv: string | SeparateQkv,
    name: string,
    rotary: RotaryTables | undefined,
  ): SeparateQkv {
    const added = GRAPH_IO.added(layer);
    const split = typeof qkv === 'string' ? this.#split(qkv, name) : qkv;
    const rotated = rotary
      ? { ...split, query: this.#rotate(split.query, rotary), key: this.#rotate(split.key, rotary) }
      : split;
    this.nodes.add('Concat', [rotated.key, rotated.value], [added], { axis: { int: -1 } });
    return rotated;
  }

  #productsFor(attention: AttentionKind): AttentionProducts | undefined {
    if (attention === 'fused') return undefined;
    if (attention === 'products-on-cpu') return productsOnCpu(this.nodes);
    return productsOnSoftwareGpu(this.nodes, this.weights);
  }

  #split(qkv: string, name: string): SeparateQkv {
    const { numHeads, numKvHeads, headSize } = this.#config;
    const parts = { query: `${name}.query`, key: `${name}.key`, value: `${name}.value` };
    const sizes = [numHeads, numKvHeads, numKvHeads].map((count) => count * headSize);
    this.nodes.add('Split', [qkv, this.weights.list(...sizes)], Object.values(parts), { axis: { int: -1 } });
    return parts;
  }

  #rotate(heads: string, { cos, sin }: RotaryTables): string {
    const [positions, rotated] = ['rotary_positions', `${heads}.rotated`];
    this.nodes.addOnce(positions, () =>
      this.nodes.add('Cast', [GRAPH_IO.positions], [positions], { to: { int: ONNX_TYPE.int64 } }),
    );
    this.nodes.addFused('RotaryEmbedding', [heads, positions, cos, sin], [rotated]);
    return rotated;
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

  #values(names: readonly string[], dims: OnnxValue['dims']): OnnxValue[] {
    return names.map((name) => ({ name, type: this.#precision, dims }));
  }
}

/** As they are: `GroupQueryAttention` splits and rotates them itself. */
function unrotated(qkv: string | SeparateQkv): SeparateQkv {
  return typeof qkv === 'string' ? { query: qkv, key: '', value: '' } : qkv;
}
