import { transpose, weightOf, type Checkpoint } from './checkpoint.ts';
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from './gguf.ts';
import { generalMetadata, ggufTensor } from './gguf-model.ts';

/**
 * Writes a GPT-2 checkpoint as llama.cpp reads it: its own names, and linear weights as [out, in]. The output embedding is
 * left out: llama.cpp then uses the token embedding, to which it is tied.
 * Source: `convert_hf_to_gguf.py` of ggml-org/llama.cpp, `GPT2Model`.
 */
export function encodeGpt2Gguf(checkpoint: Checkpoint, type: GgufType): Uint8Array<ArrayBuffer> {
  return encodeGguf(
    { ...generalMetadata('gpt2', checkpoint, type), ...architectureMetadata(checkpoint) },
    gpt2Tensors(checkpoint, type),
  );
}

function architectureMetadata({ config }: Checkpoint): Record<string, GgufValue> {
  return {
    'gpt2.block_count': { type: 'uint32', value: config.numLayers },
    'gpt2.context_length': { type: 'uint32', value: config.contextLength },
    'gpt2.embedding_length': { type: 'uint32', value: config.embeddingSize },
    'gpt2.feed_forward_length': { type: 'uint32', value: config.innerSize },
    'gpt2.attention.head_count': { type: 'uint32', value: config.numHeads },
    'gpt2.attention.layer_norm_epsilon': { type: 'float32', value: config.layerNormEpsilon },
  };
}

function gpt2Tensors(checkpoint: Checkpoint, type: GgufType): GgufTensor[] {
  const asIs = (name: string, source: string): GgufTensor =>
    ggufTensor(name, weightOf(checkpoint, source), type);
  const linear = (name: string, source: string): GgufTensor[] => [
    ggufTensor(`${name}.weight`, transpose(weightOf(checkpoint, `${source}.weight`)), type),
    asIs(`${name}.bias`, `${source}.bias`),
  ];
  const norm = (name: string, source: string): GgufTensor[] => [
    asIs(`${name}.weight`, `${source}.weight`),
    asIs(`${name}.bias`, `${source}.bias`),
  ];
  const layers = Array.from({ length: checkpoint.config.numLayers }, (_, layer) => [
    ...norm(`blk.${layer}.attn_norm`, `h.${layer}.ln_1`),
    ...linear(`blk.${layer}.attn_qkv`, `h.${layer}.attn.c_attn`),
    ...linear(`blk.${layer}.attn_output`, `h.${layer}.attn.c_proj`),
    ...norm(`blk.${layer}.ffn_norm`, `h.${layer}.ln_2`),
    ...linear(`blk.${layer}.ffn_up`, `h.${layer}.mlp.c_fc`),
    ...linear(`blk.${layer}.ffn_down`, `h.${layer}.mlp.c_proj`),
  ]);
  return [
    asIs('token_embd.weight', 'wte.weight'),
    // llama.cpp adds this table without converting it.
    ggufTensor('position_embd.weight', weightOf(checkpoint, 'wpe.weight'), 'f32'),
    ...layers.flat(),
    ...norm('output_norm', 'ln_f'),
  ];
}
