import type { Gpt2Config } from '../../../../src/worker/models/gpt2/config.ts';
import { OnnxNodes } from '../../../../src/worker/models/graph/onnx-nodes.ts';
import {
  encodeOnnxModel,
  type OnnxInitializer,
  type OnnxValue,
} from '../../../../src/worker/models/graph/onnx-proto.ts';
import { transpose, weightOf, type Checkpoint, type Weight } from './checkpoint.ts';

/** Inputs and outputs as the standard export of GPT-2 (`text-generation-with-past`) names them. */
export const EXPORTED_IO = {
  /** int64 [batch_size, sequence_length] */
  ids: 'input_ids',
  /** int64 [batch_size, past + sequence_length]: 0 marks padding. */
  mask: 'attention_mask',
  /** int64 [batch_size, sequence_length] */
  positions: 'position_ids',
  /** float32 [batch_size, sequence_length, vocab] */
  logits: 'logits',
  pastKey: (layer: number) => `past_key_values.${layer}.key`,
  pastValue: (layer: number) => `past_key_values.${layer}.value`,
  presentKey: (layer: number) => `present.${layer}.key`,
  presentValue: (layer: number) => `present.${layer}.value`,
} as const;

/** transformers.js sizes its first, empty cache by these two names: it knows the first one and sets the second one to 0. */
const BATCH = 'batch_size';
const PAST = 'past_sequence_length';
const TOKENS = 'sequence_length';
const TOTAL = 'past_sequence_length + sequence_length';

/** Added to the score of a pair that must not attend: far below any score, and finite, so that a row of padding stays a number. */
const MASKED = -1e9;

/**
 * Builds the GPT-2 forward pass with the interface that libraries expect of an export: K/V entries of rows of one length
 * come in and go out longer, rows are padded on the left, and the attention mask says where. Attention is made of MatMul
 * and Softmax, as in the standard export. On SwiftShader, a list of 8 then runs a sixth faster than with
 * MultiHeadAttention, and one prompt as fast. GroupQueryAttention cannot pad on the left. The weights lie in the model
 * itself.
 */
export function buildExportedModel(checkpoint: Checkpoint): Uint8Array<ArrayBuffer> {
  const { config } = checkpoint;
  const graph = new ExportedGraphBuilder(config);
  graph.addAttentionBias();
  graph.addLayers();
  const outputEmbedding = transpose(weightOf(checkpoint, 'wte.weight'));
  return encodeOnnxModel({
    name: 'gpt2',
    nodes: graph.nodes.all,
    inputs: [
      { name: EXPORTED_IO.ids, type: 'int64', dims: [BATCH, TOKENS] },
      { name: EXPORTED_IO.mask, type: 'int64', dims: [BATCH, TOTAL] },
      { name: EXPORTED_IO.positions, type: 'int64', dims: [BATCH, TOKENS] },
      ...cacheValues(config, PAST, EXPORTED_IO.pastKey, EXPORTED_IO.pastValue),
    ],
    outputs: [
      { name: EXPORTED_IO.logits, type: 'float32', dims: [BATCH, TOKENS, config.vocabSize] },
      ...cacheValues(config, TOTAL, EXPORTED_IO.presentKey, EXPORTED_IO.presentValue),
    ],
    initializers: [
      ...[...checkpoint.weights].map(([name, weight]) => floats(name, weight)),
      floats('lm_head.weight', outputEmbedding),
      floats('score.scale', scalar(1 / Math.sqrt(config.headSize))),
      floats('score.visible', scalar(0)),
      floats('score.masked', scalar(MASKED)),
      integers('index.0', [], [0]),
      integers('index.1', [], [1]),
      integers('axes.last', [1], [-1]),
      integers('axes.middle', [2], [1, 2]),
      // 0 keeps a dimension as it is.
      integers('shape.split', [4], [0, 0, config.numHeads, config.headSize]),
      integers('shape.merged', [3], [0, 0, config.embeddingSize]),
    ],
  });
}

class ExportedGraphBuilder {
  readonly nodes = new OnnxNodes();
  readonly #config: Gpt2Config;

  constructor(config: Gpt2Config) {
    this.#config = config;
  }

  /** A key is visible to a query that does not come before it, unless it is padding: float32 [B, 1, S, past + S]. */
  addAttentionBias(): void {
    this.nodes.add('Shape', [EXPORTED_IO.ids], ['ids.shape']);
    this.nodes.add('Shape', [EXPORTED_IO.mask], ['mask.shape']);
    this.nodes.add('Gather', ['ids.shape', 'index.1'], ['length.new']);
    this.nodes.add('Gather', ['mask.shape', 'index.1'], ['length.total']);
    this.nodes.add('Sub', ['length.total', 'length.new'], ['length.past']);
    this.nodes.add('Range', ['length.past', 'length.total', 'index.1'], ['queries.row']);
    this.nodes.add('Unsqueeze', ['queries.row', 'axes.last'], ['queries']);
    this.nodes.add('Range', ['index.0', 'length.total', 'index.1'], ['keys']);
    this.nodes.add('LessOrEqual', ['keys', 'queries'], ['is_causal']);
    this.nodes.add('Cast', [EXPORTED_IO.mask], ['is_token.row'], { to: { int: ONNX_BOOL } });
    this.nodes.add('Unsqueeze', ['is_token.row', 'axes.middle'], ['is_token']);
    this.nodes.add('And', ['is_causal', 'is_token'], ['is_visible']);
    this.nodes.add('Where', ['is_visible', 'score.visible', 'score.masked'], ['attention_bias']);
  }

  addLayers(): void {
    this.nodes.add('Gather', ['wte.weight', EXPORTED_IO.ids], ['token_embedding']);
    this.nodes.add('Gather', ['wpe.weight', EXPORTED_IO.positions], ['position_embedding']);
    this.#addNorm('h.0.ln_1', { branch: 'token_embedding', residual: 'position_embedding', bias: '' });
    for (let layer = 0; layer < this.#config.numLayers; layer++) {
      const isLast = layer + 1 === this.#config.numLayers;
      this.#addAttention(layer);
      this.#addNorm(`h.${layer}.ln_2`, {
        branch: `h.${layer}.attn.c_proj`,
        residual: `h.${layer}.ln_1.sum`,
        bias: `h.${layer}.attn.c_proj.bias`,
      });
      this.#addMlp(layer);
      this.#addNorm(isLast ? 'ln_f' : `h.${layer + 1}.ln_1`, {
        branch: `h.${layer}.mlp.c_proj`,
        residual: `h.${layer}.ln_2.sum`,
        bias: `h.${layer}.mlp.c_proj.bias`,
      });
    }
    this.nodes.add('MatMul', ['ln_f', 'lm_head.weight'], [EXPORTED_IO.logits]);
  }

  #addAttention(layer: number): void {
    const attention = `h.${layer}.attn`;
    this.nodes.add(
      'MatMul',
      [`h.${layer}.ln_1`, `${attention}.c_attn.weight`],
      [`${attention}.c_attn.product`],
    );
    this.nodes.add(
      'Add',
      [`${attention}.c_attn.product`, `${attention}.c_attn.bias`],
      [`${attention}.c_attn`],
    );
    const [query, key, value] = [`${attention}.query`, `${attention}.key`, `${attention}.value`] as const;
    this.nodes.add('Split', [`${attention}.c_attn`], [query, key, value], {
      axis: { int: -1 },
      num_outputs: { int: 3 },
    });
    for (const name of [query, key, value]) this.#addHeads(name);
    const [allKeys, allValues] = [EXPORTED_IO.presentKey(layer), EXPORTED_IO.presentValue(layer)] as const;
    this.nodes.add('Concat', [EXPORTED_IO.pastKey(layer), `${key}.heads`], [allKeys], { axis: { int: 2 } });
    this.nodes.add('Concat', [EXPORTED_IO.pastValue(layer), `${value}.heads`], [allValues], {
      axis: { int: 2 },
    });
    this.nodes.add('Transpose', [allKeys], [`${allKeys}.transposed`], { perm: { ints: [0, 1, 3, 2] } });
    this.nodes.add('MatMul', [`${query}.heads`, `${allKeys}.transposed`], [`${attention}.products`]);
    this.nodes.add('Mul', [`${attention}.products`, 'score.scale'], [`${attention}.scores`]);
    this.nodes.add('Add', [`${attention}.scores`, 'attention_bias'], [`${attention}.masked`]);
    this.nodes.add('Softmax', [`${attention}.masked`], [`${attention}.shares`], { axis: { int: -1 } });
    this.nodes.add('MatMul', [`${attention}.shares`, allValues], [`${attention}.heads`]);
    this.nodes.add('Transpose', [`${attention}.heads`], [`${attention}.rows`], {
      perm: { ints: SWAP_TOKENS_AND_HEADS },
    });
    this.nodes.add('Reshape', [`${attention}.rows`, 'shape.merged'], [attention]);
    this.nodes.add('MatMul', [attention, `${attention}.c_proj.weight`], [`${attention}.c_proj`]);
  }

  /** [B, S, heads * size] -> [B, heads, S, size] */
  #addHeads(name: string): void {
    this.nodes.add('Reshape', [name, 'shape.split'], [`${name}.split`]);
    this.nodes.add('Transpose', [`${name}.split`], [`${name}.heads`], {
      perm: { ints: SWAP_TOKENS_AND_HEADS },
    });
  }

  #addMlp(layer: number): void {
    const mlp = `h.${layer}.mlp`;
    this.nodes.add('MatMul', [`h.${layer}.ln_2`, `${mlp}.c_fc.weight`], [`${mlp}.c_fc`]);
    this.nodes.addFused('FastGelu', [`${mlp}.c_fc`, `${mlp}.c_fc.bias`], [`${mlp}.gelu`]);
    this.nodes.add('MatMul', [`${mlp}.gelu`, `${mlp}.c_proj.weight`], [`${mlp}.c_proj`]);
  }

  #addNorm(name: string, input: Parameters<OnnxNodes['addSkipNorm']>[1]): void {
    this.nodes.addSkipNorm(name, input, this.#config.layerNormEpsilon);
  }
}

/** `TensorProto.DataType.BOOL` */
const ONNX_BOOL = 9;

const SWAP_TOKENS_AND_HEADS = [0, 2, 1, 3];

function cacheValues(
  { numLayers, numHeads, headSize }: Gpt2Config,
  length: string,
  keyName: (layer: number) => string,
  valueName: (layer: number) => string,
): OnnxValue[] {
  const dims = [BATCH, numHeads, length, headSize];
  return Array.from({ length: numLayers }, (_, layer) => [
    { name: keyName(layer), type: 'float32' as const, dims },
    { name: valueName(layer), type: 'float32' as const, dims },
  ]).flat();
}

function scalar(value: number): Weight {
  return { shape: [], values: Float32Array.of(value) };
}

function floats(name: string, { shape, values }: Weight): OnnxInitializer {
  return { name, type: 'float32', dims: shape, data: new Uint8Array(values.buffer) };
}

export function integers(name: string, dims: readonly number[], values: readonly number[]): OnnxInitializer {
  const data = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, type: 'int64', dims, data };
}
