import { transpose, weightOf, type Checkpoint, type TokenizerJson } from './checkpoint.ts';
import { encodeGguf, type GgufTensor, type GgufValue } from './gguf.ts';

const FILE_TYPE_ALL_F32 = 0;
/** `LLAMA_TOKEN_TYPE_*` of llama.cpp. */
const TOKEN_TYPE = { normal: 1, control: 3 } as const;

/**
 * Writes a GPT-2 checkpoint as llama.cpp reads it, in float32: its own names, and linear weights as [out, in]. The
 * output embedding is left out: llama.cpp then uses the token embedding, to which it is tied.
 * Source: `convert_hf_to_gguf.py` of ggml-org/llama.cpp, `GPT2Model`.
 */
export function encodeGpt2Gguf(checkpoint: Checkpoint): Uint8Array<ArrayBuffer> {
  return encodeGguf(
    { ...architectureMetadata(checkpoint), ...tokenizerMetadata(checkpoint) },
    gpt2Tensors(checkpoint),
  );
}

function architectureMetadata({ config }: Checkpoint): Record<string, GgufValue> {
  return {
    'general.architecture': { type: 'string', value: 'gpt2' },
    'general.file_type': { type: 'uint32', value: FILE_TYPE_ALL_F32 },
    'gpt2.block_count': { type: 'uint32', value: config.numLayers },
    'gpt2.context_length': { type: 'uint32', value: config.contextLength },
    'gpt2.embedding_length': { type: 'uint32', value: config.embeddingSize },
    'gpt2.feed_forward_length': { type: 'uint32', value: config.innerSize },
    'gpt2.attention.head_count': { type: 'uint32', value: config.numHeads },
    'gpt2.attention.layer_norm_epsilon': { type: 'float32', value: config.layerNormEpsilon },
  };
}

function tokenizerMetadata({ config, tokenizer }: Checkpoint): Record<string, GgufValue> {
  const tokens = tokensById(tokenizer);
  const special = new Set(tokenizer.added_tokens.filter((token) => token.special).map(({ id }) => id));
  const endOfText: GgufValue = { type: 'uint32', value: config.eosTokenIds[0] ?? tokens.length - 1 };
  return {
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: 'gpt-2' },
    'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
    'tokenizer.ggml.token_type': {
      type: 'int32s',
      value: tokens.map((_, id) => (special.has(id) ? TOKEN_TYPE.control : TOKEN_TYPE.normal)),
    },
    'tokenizer.ggml.merges': { type: 'strings', value: tokenizer.model.merges },
    'tokenizer.ggml.bos_token_id': endOfText,
    'tokenizer.ggml.eos_token_id': endOfText,
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: false },
  };
}

function tokensById({ model }: TokenizerJson): string[] {
  return Object.entries(model.vocab)
    .toSorted(([, a], [, b]) => a - b)
    .map(([token]) => token);
}

function gpt2Tensors(checkpoint: Checkpoint): GgufTensor[] {
  const asIs = (name: string, source: string): GgufTensor => ({ name, ...weightOf(checkpoint, source) });
  const linear = (name: string, source: string): GgufTensor[] => [
    { name: `${name}.weight`, ...transpose(weightOf(checkpoint, `${source}.weight`)) },
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
    asIs('position_embd.weight', 'wpe.weight'),
    ...layers.flat(),
    ...norm('output_norm', 'ln_f'),
  ];
}
