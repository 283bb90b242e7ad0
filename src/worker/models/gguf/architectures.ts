import { shown } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { MOST_LAYERS, type Fields } from '../config-fields.ts';

/** Fields of `config.json` by the keys of the metadata, without the architecture before them. */
export type FieldNames = Readonly<Record<string, string>>;

const LLAMA_FIELDS: FieldNames = {
  context_length: 'max_position_embeddings',
  embedding_length: 'hidden_size',
  block_count: 'num_hidden_layers',
  feed_forward_length: 'intermediate_size',
  'attention.head_count': 'num_attention_heads',
  'attention.head_count_kv': 'num_key_value_heads',
  'attention.key_length': 'head_dim',
  'attention.layer_norm_rms_epsilon': 'rms_norm_eps',
  'rope.freq_base': 'rope_theta',
};

const LFM2_FIELDS: FieldNames = {
  ...LLAMA_FIELDS,
  'attention.layer_norm_rms_epsilon': 'norm_eps',
  'shortconv.l_cache': 'conv_L_cache',
};

const GPT2_FIELDS: FieldNames = {
  context_length: 'n_positions',
  embedding_length: 'n_embd',
  block_count: 'n_layer',
  feed_forward_length: 'n_inner',
  'attention.head_count': 'n_head',
  'attention.layer_norm_epsilon': 'layer_norm_epsilon',
};

/** Looks a key of the metadata up, without the architecture before it. */
export type Lookup = (key: string) => unknown;

interface Architecture {
  readonly modelType: string;
  readonly fields: FieldNames;
  /** Keys beside those of `fields` that `derive` reads. */
  readonly otherKeys?: readonly string[];
  /** Keys without which the file is no model: llama.cpp has no default for them. */
  readonly required?: readonly string[];
  /** Fields that follow from several keys, or that llama.cpp has another default for than huggingface/transformers; another type as well. */
  readonly derive: (of: Lookup, fields: Fields) => Fields;
}

const ROPE_KEYS = ['rope.scaling.factor', 'rope.scale_linear'];
const WINDOW_KEYS = ['attention.sliding_window_pattern'];

const llama = (modelType: string): Architecture => ({
  modelType,
  fields: LLAMA_FIELDS,
  otherKeys: ROPE_KEYS,
  derive: deriveLlama,
});

const WINDOWS: FieldNames = { 'attention.sliding_window': 'sliding_window' };

/** By `general.architecture`. llama.cpp writes Mistral as `llama`. */
export const ARCHITECTURES: ReadonlyMap<unknown, Architecture> = new Map<unknown, Architecture>([
  [
    'gpt2',
    {
      modelType: 'gpt2',
      fields: GPT2_FIELDS,
      derive: (_, { n_embd: width, n_head: numHeads }) => ({ head_dim: Number(width) / Number(numHeads) }),
    },
  ],
  ['llama', llama('llama')],
  ['qwen2', llama('qwen2')],
  ['qwen3', llama('qwen3')],
  ['smollm3', llama('smollm3')],
  ['lfm2', { modelType: 'lfm2', fields: LFM2_FIELDS, otherKeys: ROPE_KEYS, derive: deriveLfm2 }],
  [
    'olmo2',
    {
      modelType: 'olmo2',
      fields: { ...LLAMA_FIELDS, ...WINDOWS, 'rope.freq_base_swa': 'rope_local_base_freq' },
      otherKeys: [...ROPE_KEYS, ...WINDOW_KEYS],
      derive: deriveOlmo,
    },
  ],
  [
    'granite',
    {
      modelType: 'granite',
      fields: {
        ...LLAMA_FIELDS,
        'attention.scale': 'attention_multiplier',
        embedding_scale: 'embedding_multiplier',
        residual_scale: 'residual_multiplier',
        logit_scale: 'logits_scaling',
      },
      otherKeys: [...ROPE_KEYS, 'rope.scaling.finetuned'],
      derive: deriveGranite,
    },
  ],
  [
    'phi3',
    {
      modelType: 'phi3',
      fields: {
        ...LLAMA_FIELDS,
        ...WINDOWS,
        'rope.scaling.original_context_length': 'original_max_position_embeddings',
      },
      otherKeys: [...ROPE_KEYS, 'rope.dimension_count', 'rope.scaling.attn_factor'],
      derive: derivePhi,
    },
  ],
  [
    'mistral3',
    {
      modelType: 'ministral3',
      fields: LLAMA_FIELDS,
      otherKeys: [...ROPE_KEYS, 'attention.temperature_scale', 'rope.scaling.yarn_log_multiplier'],
      derive: deriveMinistral,
    },
  ],
  [
    'qwen35',
    {
      modelType: 'qwen3_5_text',
      fields: {
        ...LLAMA_FIELDS,
        full_attention_interval: 'full_attention_interval',
        'ssm.conv_kernel': 'linear_conv_kernel_dim',
        'ssm.group_count': 'linear_num_key_heads',
        'ssm.state_size': 'linear_key_head_dim',
        'ssm.time_step_rank': 'linear_num_value_heads',
      },
      otherKeys: [...ROPE_KEYS, 'rope.dimension_count', 'rope.dimension_sections', 'ssm.inner_size'],
      required: [
        'rope.dimension_count',
        'ssm.conv_kernel',
        'ssm.group_count',
        'ssm.inner_size',
        'ssm.state_size',
        'ssm.time_step_rank',
      ],
      derive: deriveQwen35,
    },
  ],
  [
    'gemma3',
    {
      modelType: 'gemma3_text',
      fields: {
        ...LLAMA_FIELDS,
        ...WINDOWS,
        'rope.freq_base_swa': 'rope_local_base_freq',
      },
      otherKeys: [...ROPE_KEYS, ...WINDOW_KEYS],
      derive: deriveGemma,
    },
  ],
]);

/** Without `attention.head_count_kv` each head has its own keys and values, without `attention.key_length` heads share the width. */
function deriveLlama(of: Lookup, fields: Fields): Fields {
  const { hidden_size: width, num_attention_heads: numHeads } = fields;
  return {
    num_key_value_heads: fields['num_key_value_heads'] ?? numHeads,
    head_dim: fields['head_dim'] ?? Number(width) / Number(numHeads),
    rope_theta: fields['rope_theta'] ?? DEFAULT_THETA,
    ...ropeOf(of),
  };
}

const DEFAULT_THETA = 1e4;

/** A layer without heads of keys is a convolution. */
function deriveLfm2(of: Lookup, fields: Fields): Fields {
  const numHeads: unknown = of('attention.head_count_kv');
  const derived = { ...deriveLlama(of, fields), block_auto_adjust_ff_dim: false };
  if (!Array.isArray(numHeads)) return derived;
  return {
    ...derived,
    num_key_value_heads: Math.max(...numHeads.map(Number)),
    layer_types: numHeads.map((num: unknown) => (num === 0 ? 'conv' : 'full_attention')),
  };
}

/** The layers of Gemma 3 27B, whose scores alone are not scaled by the size of a head. */
const LAYERS_OF_27B = 62;
/** One of so many layers attends to all tokens. */
const GEMMA_PATTERN = 6;
const OLMO_PATTERN = 4;

function deriveGemma(of: Lookup, fields: Fields): Fields {
  const { hidden_size: width, num_attention_heads: numHeads, num_hidden_layers: numLayers } = fields;
  const derived = deriveLlama(of, fields);
  return {
    ...derived,
    query_pre_attn_scalar:
      numLayers === LAYERS_OF_27B ? Number(width) / Number(numHeads) : derived['head_dim'],
    ...layerTypes(of, numLayers, GEMMA_PATTERN),
  };
}

/** OLMo 2 has no windows; with windows it is OLMo 3. Layers with a window rotate without the scaling of the others. */
function deriveOlmo(of: Lookup, fields: Fields): Fields {
  const derived = deriveLlama(of, fields);
  if (!of('attention.sliding_window')) return { ...derived, sliding_window: null };
  return {
    ...derived,
    model_type: 'olmo3',
    rope_local_base_freq: fields['rope_local_base_freq'] ?? derived['rope_theta'],
    ...layerTypes(of, fields['num_hidden_layers'], OLMO_PATTERN),
  };
}

/** Scores are divided as Llama's where there is no factor, or 0. That the context was extended stands for a model that rotates. */
function deriveGranite(of: Lookup, fields: Fields): Fields {
  const derived = deriveLlama(of, fields);
  return {
    ...derived,
    attention_multiplier: fields['attention_multiplier'] || 1 / Math.sqrt(Number(derived['head_dim'])),
    residual_multiplier: fields['residual_multiplier'] || 1,
    rope_finetuned: of('rope.scaling.finetuned'),
  };
}

/** The factors of LongRoPE are tensors of the file: see `withRopeFactors`. A window of 0 is none. */
function derivePhi(of: Lookup, fields: Fields): Fields {
  const derived = deriveLlama(of, fields);
  const rotated = of('rope.dimension_count');
  const attentionFactor = of('rope.scaling.attn_factor');
  const { rope_scaling: scaling } = derived;
  return {
    ...derived,
    sliding_window: fields['sliding_window'] || null,
    partial_rotary_factor: rotated === undefined ? 1 : Number(rotated) / Number(derived['head_dim']),
    ...(attentionFactor !== undefined && {
      rope_scaling: {
        ...(isRecord(scaling) && scaling),
        rope_type: 'longrope',
        attention_factor: attentionFactor,
      },
    }),
  };
}

function deriveMinistral(of: Lookup, fields: Fields): Fields {
  const { rope_scaling: scaling, ...derived } = deriveLlama(of, fields);
  const beta = of('attention.temperature_scale') ?? 0;
  if (beta !== 0 && !isRecord(scaling))
    throw UnsupportedModelError.of(
      `attention.temperature_scale is ${shown(JSON.stringify(beta))} without rope.scaling.type and rope.scaling.factor, which Tabserve does not compute`,
    );
  const weights = { mscale: 1, mscale_all_dim: of('rope.scaling.yarn_log_multiplier') ?? 0 };
  return {
    ...derived,
    rope_parameters: isRecord(scaling) ? { ...scaling, ...weights, llama_4_scaling_beta: beta } : {},
  };
}

/** @throws UnsupportedModelError where heads of values share keys: llama.cpp writes those in another order. */
function deriveQwen35(of: Lookup, fields: Fields): Fields {
  const derived = deriveLlama(of, fields);
  const { linear_num_value_heads: numHeads, linear_num_key_heads: numKeyHeads } = fields;
  if (numHeads !== numKeyHeads)
    throw UnsupportedModelError.of(
      `ssm.time_step_rank is ${shown(JSON.stringify(numHeads))} and ssm.group_count ${shown(JSON.stringify(numKeyHeads))}: a GGUF file has such heads in an order that Tabserve doesn't read`,
    );
  return {
    ...derived,
    linear_value_head_dim: Number(of('ssm.inner_size')) / Number(numHeads),
    partial_rotary_factor: Number(of('rope.dimension_count')) / Number(derived['head_dim']),
  };
}

function layerTypes(of: Lookup, numLayers: unknown, period: number): Fields {
  if (!isLayerCount(numLayers)) return {};
  const typeOf = (layer: number): string =>
    isWindowed(of, layer, period) ? 'sliding_attention' : 'full_attention';
  return { layer_types: Array.from({ length: numLayers }, (_, layer) => typeOf(layer)) };
}

function isLayerCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) <= MOST_LAYERS;
}

/** The pattern is a period, 0 for windows alone, or a list with an entry for each layer. */
function isWindowed(of: Lookup, layer: number, period: number): boolean {
  if (!of('attention.sliding_window')) return false;
  const pattern = of('attention.sliding_window_pattern') ?? period;
  if (Array.isArray(pattern)) return Boolean(pattern[layer]);
  return pattern === 0 || layer % Number(pattern) < Number(pattern) - 1;
}

/**
 * As llama.cpp reads it: a factor without a type is linear, `rope.scale_linear` is the old name of the factor, and 0 is none. Factors
 * per frequency are a tensor of the file: see `withRopeFactors`.
 */
function ropeOf(of: Lookup): Fields {
  const type = of('rope.scaling.type') ?? 'linear';
  const factor = of('rope.scaling.factor') ?? of('rope.scale_linear') ?? 0;
  if (type === 'none' || factor === 0) return {};
  return {
    rope_scaling: {
      rope_type: type,
      factor,
      original_max_position_embeddings: of('rope.scaling.original_context_length'),
    },
  };
}
