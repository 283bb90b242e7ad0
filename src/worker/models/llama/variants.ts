import type { Fields } from '../config-fields.ts';
import type { ScaleRule } from './scales.ts';

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
  readonly windows: 'none' | 'all' | 'upper' | 'unrotated' | 'pattern';
  /** Which layers turn queries and keys by their positions: all, or those that this field names. */
  readonly rotation: 'all' | 'no_rope_layers' | 'position_embedding_type' | 'rope_finetuned';
  /** Fields that ask for something that models of this type do not have. */
  readonly foreignFields: readonly string[];
  readonly norms: Norms;
  readonly modules: Modules;
  /** Of Phi, a part of each head's values may stay as it is, and LongRoPE is the only scaling. */
  readonly rope: 'llama' | 'phi';
  readonly scales: ScaleRule;
  /** Whether hidden states exceed the range of fp16. */
  readonly needsFloat32: boolean;
}

/** How checkpoints name what differs. */
export interface Modules {
  /** Whether queries, keys and values have one matrix. */
  readonly hasJoinedQkv: boolean;
  readonly mlp: string;
  /** The matrix that gives both the gate and what it multiplies, one behind the other. Each has its own where left out. */
  readonly gateAndUp?: string;
  readonly down: string;
  /** Field of the MLP's width between its matrices. */
  readonly innerSizeField: 'intermediate_size' | 'shared_intermediate_size';
}

export interface Norms {
  /** Whether they multiply by one more than their weights. */
  readonly isGainOffset: boolean;
  /** Whether queries and keys are normalized: each head by itself, or all heads together. */
  readonly ofQueriesAndKeys: 'none' | 'heads' | 'whole';
  /** Whether the inputs of attention and MLP are normalized. */
  readonly ofInputs: boolean;
  /** Whether the outputs of attention and MLP are normalized before they are added to the residual stream. */
  readonly ofOutputs: boolean;
}

const NO_BIASES = { qkv: false, output: false, mlp: false } as const;
const ATTENTION_BIASES = { ...NO_BIASES, qkv: 'attention_bias', output: 'attention_bias' } as const;
const PLAIN_NORMS: Norms = {
  isGainOffset: false,
  ofQueriesAndKeys: 'none',
  ofInputs: true,
  ofOutputs: false,
};

const PLAIN_MODULES: Modules = {
  hasJoinedQkv: false,
  mlp: 'mlp',
  down: 'down_proj',
  innerSizeField: 'intermediate_size',
};

const LLAMA: Variant = {
  architecture: 'LlamaForCausalLM',
  defaults: { max_position_embeddings: 2048, eos_token_id: 2 },
  activationField: 'hidden_act',
  localThetaField: 'rope_theta',
  biases: { ...ATTENTION_BIASES, mlp: 'mlp_bias' },
  windows: 'none',
  rotation: 'all',
  foreignFields: ['sliding_window', 'layer_types'],
  norms: PLAIN_NORMS,
  modules: PLAIN_MODULES,
  rope: 'llama',
  scales: 'plain',
  needsFloat32: false,
};

/** OLMo normalizes what attention and MLP give, and nothing that they take. */
const OLMO: Variant = {
  ...LLAMA,
  architecture: 'Olmo2ForCausalLM',
  defaults: { max_position_embeddings: 2048, rms_norm_eps: 1e-5, eos_token_id: 50_279 },
  biases: ATTENTION_BIASES,
  foreignFields: ['mlp_bias', ...LLAMA.foreignFields],
  norms: { isGainOffset: false, ofQueriesAndKeys: 'whole', ofInputs: false, ofOutputs: true },
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
      norms: { ...PLAIN_NORMS, ofQueriesAndKeys: 'heads' },
    },
  ],
  [
    'smollm3',
    {
      ...LLAMA,
      architecture: 'SmolLM3ForCausalLM',
      defaults: {
        max_position_embeddings: 32_768,
        num_key_value_heads: 4,
        rope_theta: 2e6,
        no_rope_layer_interval: 4,
        use_sliding_window: false,
        sliding_window: null,
        tie_word_embeddings: true,
        eos_token_id: 128_001,
      },
      windows: 'unrotated',
      rotation: 'no_rope_layers',
      foreignFields: [],
    },
  ],
  ['olmo2', OLMO],
  [
    'olmo3',
    {
      ...OLMO,
      architecture: 'Olmo3ForCausalLM',
      defaults: {
        ...OLMO.defaults,
        rope_theta: 5e5,
        rope_local_base_freq: 5e5,
        sliding_window: 4096,
        sliding_window_pattern: 4,
      },
      localThetaField: 'rope_local_base_freq',
      windows: 'pattern',
      foreignFields: ['mlp_bias'],
    },
  ],
  [
    'granite',
    {
      ...LLAMA,
      architecture: 'GraniteForCausalLM',
      rotation: 'rope_finetuned',
      scales: 'granite',
    },
  ],
  [
    'granitemoehybrid',
    {
      ...LLAMA,
      architecture: 'GraniteMoeHybridForCausalLM',
      // Layers that aren't named are Mamba's.
      defaults: { ...LLAMA.defaults, layer_types: ['mamba'], num_local_experts: 8 },
      biases: ATTENTION_BIASES,
      rotation: 'position_embedding_type',
      foreignFields: ['mlp_bias', 'sliding_window'],
      modules: {
        hasJoinedQkv: false,
        mlp: 'shared_mlp',
        gateAndUp: 'input_linear',
        down: 'output_linear',
        innerSizeField: 'shared_intermediate_size',
      },
      scales: 'granite',
    },
  ],
  [
    'phi3',
    {
      ...LLAMA,
      architecture: 'Phi3ForCausalLM',
      defaults: {
        max_position_embeddings: 4096,
        original_max_position_embeddings: 4096,
        rms_norm_eps: 1e-5,
        sliding_window: null,
        eos_token_id: 32_000,
      },
      biases: NO_BIASES,
      windows: 'all',
      foreignFields: ['attention_bias', 'mlp_bias', 'layer_types'],
      modules: { ...PLAIN_MODULES, hasJoinedQkv: true, gateAndUp: 'gate_up_proj' },
      rope: 'phi',
    },
  ],
  [
    'ministral3',
    {
      ...LLAMA,
      architecture: 'Ministral3ForCausalLM',
      defaults: {
        max_position_embeddings: 262_144,
        num_key_value_heads: 8,
        head_dim: 128,
        rms_norm_eps: 1e-5,
        rope_parameters: {
          rope_type: 'yarn',
          rope_theta: 1e6,
          factor: 16,
          original_max_position_embeddings: 16_384,
          beta_fast: 32,
          beta_slow: 1,
          mscale: 1,
          mscale_all_dim: 1,
          llama_4_scaling_beta: 0.1,
        },
        sliding_window: null,
        eos_token_id: 2,
      },
      biases: NO_BIASES,
      windows: 'all',
      foreignFields: ['attention_bias', 'mlp_bias', 'layer_types'],
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
      norms: { isGainOffset: true, ofQueriesAndKeys: 'heads', ofInputs: true, ofOutputs: true },
      scales: 'gemma',
      needsFloat32: true,
    },
  ],
]);
