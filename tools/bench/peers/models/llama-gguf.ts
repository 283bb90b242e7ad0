import type { LlamaConfig } from '../../../../src/worker/models/llama/config.ts';
import { EMBEDDING, layerNames } from '../../../../src/worker/models/llama/tensors.ts';
import { weightOf, type Checkpoint, type Weight } from './checkpoint.ts';
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from './gguf.ts';
import { generalMetadata, ggufTensor } from './gguf-model.ts';

export interface LlamaCheckpoint extends Checkpoint<LlamaConfig> {
  /** The base of the rotary frequencies. */
  readonly ropeTheta: number;
}

/**
 * Writes a checkpoint of Llama's own architecture, tied and without biases, as llama.cpp reads it. The rows of queries and
 * keys are in another order, because llama.cpp rotates neighbors where the checkpoint rotates one half with the other.
 * Source: `convert_hf_to_gguf.py` of ggml-org/llama.cpp, `LlamaModel`.
 */
export function encodeLlamaGguf(checkpoint: LlamaCheckpoint, type: GgufType): Uint8Array<ArrayBuffer> {
  const { isHeadSeparate, biases } = checkpoint.config;
  if (isHeadSeparate || biases.qkv || biases.output || biases.mlp)
    throw new Error('Expected a tied checkpoint without biases');
  return encodeGguf(
    { ...generalMetadata('llama', checkpoint, type), ...architectureMetadata(checkpoint) },
    llamaTensors(checkpoint, type),
  );
}

function architectureMetadata({ config, ropeTheta }: LlamaCheckpoint): Record<string, GgufValue> {
  return {
    'llama.vocab_size': { type: 'uint32', value: config.vocabSize },
    'llama.block_count': { type: 'uint32', value: config.numLayers },
    'llama.context_length': { type: 'uint32', value: config.contextLength },
    'llama.embedding_length': { type: 'uint32', value: config.width },
    'llama.feed_forward_length': { type: 'uint32', value: config.innerSize },
    'llama.attention.head_count': { type: 'uint32', value: config.numHeads },
    'llama.attention.head_count_kv': { type: 'uint32', value: config.numKvHeads },
    'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: config.normEpsilon },
    'llama.rope.dimension_count': { type: 'uint32', value: config.headSize },
    'llama.rope.freq_base': { type: 'float32', value: ropeTheta },
  };
}

function llamaTensors(checkpoint: LlamaCheckpoint, type: GgufType): GgufTensor[] {
  const { numLayers, numHeads, numKvHeads, headSize } = checkpoint.config;
  const asIs = (name: string, source: string): GgufTensor =>
    ggufTensor(`${name}.weight`, weightOf(checkpoint, `${source}.weight`), type);
  const [numQueryRows, numKeyRows] = [numHeads * headSize, numKvHeads * headSize];
  const layers = Array.from({ length: numLayers }, (_, layer) => {
    const names = layerNames(layer);
    const qkv = weightOf(checkpoint, `${names.qkv}.weight`);
    const part = (name: string, weight: Weight): GgufTensor =>
      ggufTensor(`blk.${layer}.${name}.weight`, weight, type);
    const keys = rowsOf(qkv, numQueryRows, numKeyRows);
    return [
      asIs(`blk.${layer}.attn_norm`, names.inputNorm),
      part('attn_q', pairNeighbors(rowsOf(qkv, 0, numQueryRows), headSize)),
      part('attn_k', pairNeighbors(keys, headSize)),
      part('attn_v', rowsOf(qkv, numQueryRows + numKeyRows, numKeyRows)),
      asIs(`blk.${layer}.attn_output`, names.output),
      asIs(`blk.${layer}.ffn_norm`, names.postAttentionNorm),
      asIs(`blk.${layer}.ffn_gate`, names.gate),
      asIs(`blk.${layer}.ffn_up`, names.up),
      asIs(`blk.${layer}.ffn_down`, names.down),
    ];
  });
  return [
    ggufTensor('token_embd.weight', weightOf(checkpoint, EMBEDDING), type),
    ...layers.flat(),
    asIs('output_norm', 'norm'),
  ];
}

function rowsOf({ shape, values }: Weight, first: number, numRows: number): Weight {
  const [, width = 0] = shape;
  return { shape: [numRows, width], values: values.subarray(first * width, (first + numRows) * width) };
}

/** Rows i and i + size / 2 of each head become rows 2 * i and 2 * i + 1. */
function pairNeighbors({ shape, values }: Weight, headSize: number): Weight {
  const [numRows = 0, width = 0] = shape;
  const paired = new Float32Array(values.length);
  for (let row = 0; row < numRows; row++) {
    const inHead = row % headSize;
    const source = row - inHead + (inHead >> 1) + (inHead & 1) * (headSize / 2);
    paired.set(values.subarray(source * width, (source + 1) * width), row * width);
  }
  return { shape, values: paired };
}
