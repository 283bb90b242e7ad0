import type { PackedLayout } from '../checkpoint/packed-weights.ts';
import type { Gpt2Config } from './config.ts';
import { GraphWeights } from '../graph/graph-weights.ts';
import { OnnxNodes } from '../graph/onnx-nodes.ts';
import { encodeOnnxModel, type OnnxInitializer, type OnnxType, type OnnxValue } from '../graph/onnx-proto.ts';

/** Names of the graph's inputs and outputs; B = rows, S = tokens per row, C = KV capacity, L = tokens with logits. */
export const GRAPH_IO = {
  /** int32 [B, S] */
  ids: 'input_ids',
  /** int32 [B, S] */
  positions: 'position_ids',
  /** int32 [B]: valid K/V entries of the row after this run, minus one. */
  lastIndices: 'seqlens_k',
  /** int32 [L]: the tokens whose logits come out, as indices among all B * S. */
  logitTokens: 'logit_tokens',
  /** int32 [1], on the CPU: the largest of the rows' valid lengths after this run. */
  totalLength: 'total_sequence_length',
  /** float32 [L, vocab] */
  logits: 'logits',
  pastKey: (layer: number) => `past_key_${layer}`,
  pastValue: (layer: number) => `past_value_${layer}`,
  presentKey: (layer: number) => `present_key_${layer}`,
  presentValue: (layer: number) => `present_value_${layer}`,
  /** float32 [B, S, 3 · embedding]: query, key and value of each token of the run, heads side by side in each. */
  qkv: (layer: number) => `h.${layer}.attn.c_attn`,
} as const;

/**
 * Builds the GPT-2 forward pass as an ONNX model for onnxruntime-web: one graph with free B and S serves prefill and
 * decode. Attention is `com.microsoft.GroupQueryAttention` without rotary embedding, whose K/V cache is updated in
 * place where past and present are the same buffer, each row at its own length.
 *
 * @param maxBindingBytes What a shader can bind at once: an embedding above it is split.
 */
export function buildGpt2Model(
  config: Gpt2Config,
  layout: PackedLayout,
  maxBindingBytes = Infinity,
): Uint8Array<ArrayBuffer> {
  return encodeGpt2(config, layout, maxBindingBytes, presentValues(config, layout.precision));
}

/**
 * The same for a cache on the CPU, which onnxruntime-web would copy out of every run as it copies it in: only what is new
 * comes out, `GRAPH_IO.qkv` of each layer, and its keys and values are the caller's to keep.
 */
export function buildGpt2CpuModel(config: Gpt2Config, layout: PackedLayout): Uint8Array<ArrayBuffer> {
  return encodeGpt2(config, layout, Infinity, qkvValues(config));
}

function encodeGpt2(
  config: Gpt2Config,
  layout: PackedLayout,
  maxBindingBytes: number,
  cacheOutputs: readonly OnnxValue[],
): Uint8Array<ArrayBuffer> {
  const { precision } = layout;
  const weights = new GraphWeights(layout, maxBindingBytes);
  const graph = new Gpt2GraphBuilder(config, weights, precision);
  graph.addLayers();
  graph.addHead();
  return encodeOnnxModel({
    name: 'gpt2',
    nodes: graph.nodes.all,
    inputs: graphInputs(config, precision),
    outputs: [{ name: GRAPH_IO.logits, type: 'float32', dims: ['L', config.vocabSize] }, ...cacheOutputs],
    initializers: [...weights.initializers, tokenRowsOf(config)],
  });
}

const TOKEN_ROWS = 'token_rows_shape';

/** Shape in which every token is a row. */
function tokenRowsOf({ embeddingSize }: Gpt2Config): OnnxInitializer {
  const shape = BigInt64Array.of(-1n, BigInt(embeddingSize));
  return { name: TOKEN_ROWS, type: 'int64', dims: [2], data: new Uint8Array(shape.buffer) };
}

class Gpt2GraphBuilder {
  readonly nodes = new OnnxNodes();
  readonly #config: Gpt2Config;
  readonly #weights: GraphWeights;
  readonly #precision: OnnxType;

  constructor(config: Gpt2Config, weights: GraphWeights, precision: OnnxType) {
    this.#config = config;
    this.#weights = weights;
    this.#precision = precision;
  }

  /**
   * The residual stream is never added by a node of its own: each SkipLayerNormalization adds the last branch (and
   * its bias) to it, normalises, and passes the sum on as its fourth output.
   */
  addLayers(): void {
    this.nodes.push(...this.#weights.lookUp(GRAPH_IO.ids, 'token_embedding'));
    this.nodes.add('Gather', ['wpe.weight', GRAPH_IO.positions], ['position_embedding']);
    this.#addNorm('h.0.ln_1', { branch: 'token_embedding', residual: 'position_embedding', bias: '' });
    for (let layer = 0; layer < this.#config.numLayers; layer++) {
      this.#addAttention(layer);
      this.#addNorm(`h.${layer}.ln_2`, {
        branch: `h.${layer}.attn.c_proj`,
        residual: `h.${layer}.ln_1.sum`,
        bias: `h.${layer}.attn.c_proj.bias`,
      });
      this.#addMlp(layer);
      const isLast = layer + 1 === this.#config.numLayers;
      this.#addNorm(isLast ? 'ln_f' : `h.${layer + 1}.ln_1`, {
        branch: `h.${layer}.mlp.c_proj`,
        residual: `h.${layer}.ln_2.sum`,
        bias: `h.${layer}.mlp.c_proj.bias`,
      });
    }
  }

  /** Logits of the tokens that they are wanted of. */
  addHead(): void {
    const isCast = this.#precision === 'float16';
    this.nodes.add('Reshape', ['ln_f', TOKEN_ROWS], ['token_rows']);
    this.nodes.add('Gather', ['token_rows', GRAPH_IO.logitTokens], ['logit_hidden']);
    this.nodes.push(...this.#weights.project('logit_hidden', isCast ? 'logits_f16' : GRAPH_IO.logits));
    if (isCast) this.nodes.add('Cast', ['logits_f16'], [GRAPH_IO.logits], { to: { int: 1 } });
  }

  #addAttention(layer: number): void {
    const { numHeads, attentionScales } = this.#config;
    const h = `h.${layer}`;
    this.#addProduct(`${h}.ln_1`, `${h}.attn.c_attn`, `${h}.attn.c_attn.product`);
    this.nodes.add('Add', [`${h}.attn.c_attn.product`, `${h}.attn.c_attn.bias`], [`${h}.attn.c_attn`]);
    this.nodes.addFused(
      'GroupQueryAttention',
      [
        `${h}.attn.c_attn`, // packed Q, K and V, so there are no separate key and value inputs
        '',
        '',
        GRAPH_IO.pastKey(layer),
        GRAPH_IO.pastValue(layer),
        GRAPH_IO.lastIndices,
        GRAPH_IO.totalLength,
      ],
      [`${h}.attn`, GRAPH_IO.presentKey(layer), GRAPH_IO.presentValue(layer)],
      {
        num_heads: { int: numHeads },
        kv_num_heads: { int: numHeads },
        scale: { float: attentionScales[layer] ?? 1 },
        do_rotary: { int: 0 },
      },
    );
    this.#addProduct(`${h}.attn`, `${h}.attn.c_proj`, `${h}.attn.c_proj`);
  }

  #addMlp(layer: number): void {
    const mlp = `h.${layer}.mlp`;
    this.#addProduct(`h.${layer}.ln_2`, `${mlp}.c_fc`, `${mlp}.c_fc`);
    this.#addActivation(`${mlp}.c_fc`, `${mlp}.c_fc.bias`, `${mlp}.act`);
    this.#addProduct(`${mlp}.act`, `${mlp}.c_proj`, `${mlp}.c_proj`);
  }

  #addActivation(input: string, bias: string, output: string): void {
    const { activation } = this.#config;
    if (activation === 'gelu_tanh') return this.nodes.addFused('FastGelu', [input, bias], [output]);
    if (activation === 'gelu_erf') return this.nodes.addFused('BiasGelu', [input, bias], [output]);
    const sum = `${input}.sum`;
    this.nodes.add('Add', [input, bias], [sum]);
    switch (activation) {
      case 'quick_gelu':
        return this.nodes.addFused('QuickGelu', [sum], [output], { alpha: { float: 1.702 } });
      case 'silu':
        return this.nodes.addFused('QuickGelu', [sum], [output], { alpha: { float: 1 } });
      case 'relu':
        return this.nodes.add('Relu', [sum], [output]);
      case 'tanh':
        return this.nodes.add('Tanh', [sum], [output]);
      case 'sigmoid':
        return this.nodes.add('Sigmoid', [sum], [output]);
      default:
        activation satisfies never;
    }
  }

  #addNorm(name: string, input: Parameters<OnnxNodes['addSkipNorm']>[1]): void {
    this.nodes.addSkipNorm(name, input, this.#config.layerNormEpsilon);
  }

  #addProduct(input: string, name: string, output: string): void {
    this.nodes.push(...this.#weights.multiply(input, `${name}.weight`, output));
  }
}

function graphInputs(config: Gpt2Config, precision: OnnxType): OnnxValue[] {
  return [
    { name: GRAPH_IO.ids, type: 'int32', dims: ['B', 'S'] },
    { name: GRAPH_IO.positions, type: 'int32', dims: ['B', 'S'] },
    { name: GRAPH_IO.lastIndices, type: 'int32', dims: ['B'] },
    { name: GRAPH_IO.logitTokens, type: 'int32', dims: ['L'] },
    { name: GRAPH_IO.totalLength, type: 'int32', dims: [1] },
    ...kvValues(config, precision, GRAPH_IO.pastKey, GRAPH_IO.pastValue),
  ];
}

function presentValues(config: Gpt2Config, precision: OnnxType): OnnxValue[] {
  return kvValues(config, precision, GRAPH_IO.presentKey, GRAPH_IO.presentValue);
}

function qkvValues({ numLayers, embeddingSize }: Gpt2Config): OnnxValue[] {
  return Array.from({ length: numLayers }, (_, layer) => ({
    name: GRAPH_IO.qkv(layer),
    type: 'float32',
    dims: ['B', 'S', 3 * embeddingSize],
  }));
}

function kvValues(
  { numLayers, numHeads, headSize }: Gpt2Config,
  type: OnnxType,
  keyName: (layer: number) => string,
  valueName: (layer: number) => string,
): OnnxValue[] {
  const dims = ['B', numHeads, 'C', headSize];
  return Array.from({ length: numLayers }, (_, layer) => [
    { name: keyName(layer), type, dims },
    { name: valueName(layer), type, dims },
  ]).flat();
}
