import { plainTensor, type ModelTensor } from '../model-config.ts';
import type { LlamaConfig } from './config.ts';

export const TENSOR_PREFIX = 'model.';
export const EMBEDDING = 'embed_tokens.weight';
export const FINAL_NORM = 'norm';
/** Checkpoints have it without the prefix. */
export const HEAD = 'lm_head.weight';

/** Names of a layer's modules. Attention's q, k and v are one matrix unless a norm stands between. */
export function layerNames(layer: number) {
  const name = `layers.${layer}`;
  const [attention, mlp] = [`${name}.self_attn`, `${name}.mlp`];
  return {
    inputNorm: `${name}.input_layernorm`,
    postAttentionNorm: `${name}.post_attention_layernorm`,
    preMlpNorm: `${name}.pre_feedforward_layernorm`,
    postMlpNorm: `${name}.post_feedforward_layernorm`,
    attention,
    qkv: `${attention}.qkv_proj`,
    q: `${attention}.q_proj`,
    k: `${attention}.k_proj`,
    v: `${attention}.v_proj`,
    output: `${attention}.o_proj`,
    queryNorm: `${attention}.q_norm`,
    keyNorm: `${attention}.k_norm`,
    gate: `${mlp}.gate_proj`,
    up: `${mlp}.up_proj`,
    down: `${mlp}.down_proj`,
  };
}

const isSensitive = true;

export function llamaTensors(config: LlamaConfig): readonly ModelTensor[] {
  const { vocabSize, width, numLayers } = config;
  const layers = Array.from({ length: numLayers }, (_, layer) => [
    ...attentionTensors(config, layer),
    ...mlpTensors(config, layer),
  ]);
  const head: ModelTensor = { name: HEAD, shape: [vocabSize, width], role: 'linear', isSensitive };
  return [
    { name: EMBEDDING, shape: [vocabSize, width], role: 'embedding', isSensitive },
    ...layers.flat(),
    plainTensor(`${FINAL_NORM}.weight`, width),
    ...(config.isHeadSeparate ? [head] : []),
  ];
}

function attentionTensors(config: LlamaConfig, layer: number): readonly ModelTensor[] {
  const { width, numHeads, numKvHeads, headSize, norms, biases } = config;
  const names = layerNames(layer);
  const parts = [
    { name: names.q, numRows: numHeads * headSize },
    { name: names.k, numRows: numKvHeads * headSize },
    { name: names.v, numRows: numKvHeads * headSize },
  ];
  const separate = parts.flatMap(({ name, numRows }) =>
    linear(name, numRows, width, biases.qkv, { isSensitive }),
  );
  return [
    plainTensor(`${names.inputNorm}.weight`, width),
    ...(norms.ofHeads
      ? [
          ...separate,
          plainTensor(`${names.queryNorm}.weight`, headSize),
          plainTensor(`${names.keyNorm}.weight`, headSize),
        ]
      : joined(names.qkv, parts, width, biases.qkv)),
    ...linear(names.output, width, numHeads * headSize, biases.output),
    plainTensor(`${names.postAttentionNorm}.weight`, width),
  ];
}

function mlpTensors(config: LlamaConfig, layer: number): readonly ModelTensor[] {
  const { width, innerSize, norms, biases } = config;
  const names = layerNames(layer);
  const branchNorms = [names.preMlpNorm, names.postMlpNorm].map((name) =>
    plainTensor(`${name}.weight`, width),
  );
  return [
    ...linear(names.gate, innerSize, width, biases.mlp),
    ...linear(names.up, innerSize, width, biases.mlp),
    ...linear(names.down, width, innerSize, biases.mlp, { isSensitive }),
    ...(norms.ofBranches ? branchNorms : []),
  ];
}

/** Linear layers over the same input as one. */
function joined(
  name: string,
  parts: readonly { readonly name: string; readonly numRows: number }[],
  inputSize: number,
  hasBias: boolean,
): ModelTensor[] {
  const outputSize = parts.reduce((sum, { numRows }) => sum + numRows, 0);
  return linear(name, outputSize, inputSize, hasBias, { isSensitive }).map((tensor) => ({
    ...tensor,
    sources: parts.map((part) => ({ ...part, name: tensor.name.replace(name, part.name) })),
  }));
}

function linear(
  name: string,
  outputSize: number,
  inputSize: number,
  hasBias: boolean,
  bits: Pick<ModelTensor, 'isSensitive'> = {},
): ModelTensor[] {
  const shape = [outputSize, inputSize];
  const matrix: ModelTensor = { name: `${name}.weight`, shape, role: 'linear', ...bits };
  return hasBias ? [matrix, plainTensor(`${name}.bias`, outputSize)] : [matrix];
}
