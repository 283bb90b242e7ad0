import type { Fields } from '../config-fields.ts';

/** Whether linear layers add a bias, or the field that says so. */
type BiasRule = boolean | 'attention_bias' | 'mlp_bias';

/** The features of a model type. */
export interface Variant {
  readonly architecture: string;
  /** Values of huggingface/transformers for fields that `config.json` leaves out. */
  readonly defaults: Fields;
  readonly activationField: 'hidden_act' | 'hidden_activation';
  /** The base of the frequencies by which layers with a window rotate. */
  readonly localThetaField: 'rope_theta' | 'rope_local_base_freq';
  readonly biases: { readonly qkv: BiasRule; readonly output: BiasRule; readonly mlp: BiasRule };
  /** Which layers attend to a window alone, where `layer_types` does not name them. */
  readonly windows: 'none' | 'all' | 'upper' | 'pattern';
  /** Fields that ask for something that models of this type do not have. */
  readonly foreignFields: readonly string[];
  readonly norms: Norms;
  /** Attention scores are divided by the square root of this field, or of the head size where it is left out. */
  readonly attentionScaleField?: 'query_pre_attn_scalar';
  /** Whether embeddings are multiplied by the square root of their width. */
  readonly scalesEmbeddings: boolean;
  /** Whether hidden states exceed the range of fp16. */
  readonly needsFloat32: boolean;
}

export interface Norms {
  /** Whether they multiply by one more than their weights. */
  readonly isGainOffset: boolean;
  /** Whether each head of queries and keys is normalized. */
  readonly ofHeads: boolean;
  /** Whether the output of attention and MLP is normalized before it is added to the residual stream. */
  readonly ofBranches: boolean;
}

const NO_BIASES = { qkv: false, output: false, mlp: false } as const;
const ATTENTION_BIASES = { ...NO_BIASES, qkv: 'attention_bias', output: 'attention_bias' } as const;
const PLAIN_NORMS: Norms = { isGainOffset: false, ofHeads: false, ofBranches: false };

const LLAMA: Variant = {
  architecture: 'LlamaForCausalLM',
  defaults: { max_position_embeddings: 2048, eos_token_id: 2 },
  activationField: 'hidden_act',
  localThetaField: 'rope_theta',
  biases: { ...ATTENTION_BIASES, mlp: 'mlp_bias' },
  windows: 'none',
  foreignFields: ['sliding_window', 'layer_types'],
  norms: PLAIN_NORMS,
  scalesEmbeddings: false,
  needsFloat32: false,
};

const QWEN_WINDOWS = { use_sliding_window: false, sliding_window: 4096, max_window_layers: 28 };

/** By `model_type`. */
export const VARIANTS: ReadonlyMap<string, Variant> = new Map<string, Variant>([
  ['llama', LLAMA],
  [
    'mistral',
    {
      ...LLAMA,
      architecture: 'MistralForCausalLM',
      defaults: {
        max_position_embeddings: 131_072,
        num_key_value_heads: 8,
        sliding_window: 4096,
        eos_token_id: 2,
      },
      biases: NO_BIASES,
      windows: 'all',
      foreignFields: ['attention_bias', 'mlp_bias', 'layer_types'],
    },
  ],
  [
    'qwen2',
    {
      ...LLAMA,
      architecture: 'Qwen2ForCausalLM',
      defaults: { max_position_embeddings: 32_768, ...QWEN_WINDOWS },
      biases: { ...NO_BIASES, qkv: true },
      windows: 'upper',
      foreignFields: ['mlp_bias'],
    },
  ],
  [
    'qwen3',
    {
      ...LLAMA,
      architecture: 'Qwen3ForCausalLM',
      defaults: { max_position_embeddings: 32_768, head_dim: 128, ...QWEN_WINDOWS },
      biases: ATTENTION_BIASES,
      windows: 'upper',
      foreignFields: ['mlp_bias'],
      norms: { ...PLAIN_NORMS, ofHeads: true },
    },
  ],
  [
    'gemma3_text',
    {
      ...LLAMA,
      architecture: 'Gemma3ForCausalLM',
      defaults: {
        max_position_embeddings: 131_072,
        num_key_value_heads: 4,
        head_dim: 256,
        query_pre_attn_scalar: 256,
        hidden_activation: 'gelu_pytorch_tanh',
        tie_word_embeddings: true,
        rope_theta: 1e6,
        rope_local_base_freq: 1e4,
        sliding_window: 4096,
        sliding_window_pattern: 6,
        eos_token_id: 1,
      },
      activationField: 'hidden_activation',
      localThetaField: 'rope_local_base_freq',
      biases: ATTENTION_BIASES,
      windows: 'pattern',
      foreignFields: ['mlp_bias'],
      norms: { isGainOffset: true, ofHeads: true, ofBranches: true },
      attentionScaleField: 'query_pre_attn_scalar',
      scalesEmbeddings: true,
      needsFloat32: true,
    },
  ],
]);
