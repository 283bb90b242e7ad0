/** A model type of the hub at the size at which a GPU is checked, and the types whose graphs have the same operators. */
export interface CheckCase {
  readonly modelTypes: readonly string[];
  readonly config: { readonly model_type: string; readonly [field: string]: unknown };
  readonly seed: number;
}

const VOCAB_SIZE = 256;
/** Longer than the longest prompt and its output. */
const CONTEXT_LENGTH = 256;

/** Heads of 64, as those of most small models. */
const LLAMA = {
  vocab_size: VOCAB_SIZE,
  max_position_embeddings: CONTEXT_LENGTH,
  hidden_size: 128,
  intermediate_size: 256,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 64,
  num_hidden_layers: 2,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};

export const CASES: readonly CheckCase[] = [
  {
    modelTypes: ['gpt2'],
    config: {
      model_type: 'gpt2',
      n_embd: 128,
      n_head: 2,
      n_layer: 2,
      n_positions: CONTEXT_LENGTH,
      vocab_size: VOCAB_SIZE,
    },
    seed: 1000,
  },
  {
    modelTypes: ['llama', 'mistral', 'qwen2'],
    config: { ...LLAMA, model_type: 'llama', hidden_act: 'silu', rope_theta: 10_000 },
    seed: 2000,
  },
  {
    modelTypes: ['qwen3'],
    config: { ...LLAMA, model_type: 'qwen3', hidden_act: 'silu', rope_theta: 1_000_000 },
    seed: 3000,
  },
  {
    modelTypes: ['gemma3_text'],
    config: {
      ...LLAMA,
      model_type: 'gemma3_text',
      hidden_activation: 'gelu_pytorch_tanh',
      query_pre_attn_scalar: 64,
      rope_theta: 1_000_000,
      rope_local_base_freq: 10_000,
      sliding_window: 48,
      sliding_window_pattern: 2,
    },
    seed: 4000,
  },
];
