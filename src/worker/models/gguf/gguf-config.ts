import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { MOST_LAYERS, type Fields } from '../config-fields.ts';
import { endTokenIds } from './end-tokens.ts';
import { oneForAll, refuseUncomputedKeys } from './gguf-keys.ts';
import type { GgufHeader } from './read-gguf.ts';

/** Fields of `config.json` by the keys of the metadata, without the architecture before them. */
type FieldNames = Readonly<Record<string, string>>;

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

const GPT2_FIELDS: FieldNames = {
  context_length: 'n_positions',
  embedding_length: 'n_embd',
  block_count: 'n_layer',
  feed_forward_length: 'n_inner',
  'attention.head_count': 'n_head',
  'attention.layer_norm_epsilon': 'layer_norm_epsilon',
};

/** Looks a key of the metadata up, without the architecture before it. */
type Lookup = (key: string) => unknown;

interface Architecture {
  readonly modelType: string;
  readonly fields: FieldNames;
  /** Keys beside those of `fields` that `derive` reads. */
  readonly otherKeys?: readonly string[];
  /** Fields that follow from several keys, or that llama.cpp has another default for than huggingface/transformers. */
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

/** By `general.architecture`. llama.cpp writes Mistral as `llama`. */
const ARCHITECTURES: ReadonlyMap<unknown, Architecture> = new Map<unknown, Architecture>([
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
  [
    'gemma3',
    {
      modelType: 'gemma3_text',
      fields: {
        ...LLAMA_FIELDS,
        'attention.sliding_window': 'sliding_window',
        'rope.freq_base_swa': 'rope_local_base_freq',
      },
      otherKeys: [...ROPE_KEYS, ...WINDOW_KEYS],
      derive: deriveGemma,
    },
  ],
]);

/** What llama.cpp has no default for. */
const REQUIRED = [
  'context_length',
  'embedding_length',
  'block_count',
  'attention.head_count',
  'attention.layer_norm_epsilon',
  'attention.layer_norm_rms_epsilon',
];

/**
 * The `config.json` and `generation_config.json` of a checkpoint with this metadata.
 *
 * @throws UnsupportedModelError for another architecture, or a key that changes what the model computes and isn't computed;
 *   ModelFileCorruptError where a key or the vocabulary's embedding is missing.
 */
export function configOf(
  { metadata, tensors }: GgufHeader,
  fileName: string,
): { readonly config: Fields; readonly generationConfig: Fields } {
  const name = metadata['general.architecture'];
  const architecture = ARCHITECTURES.get(name);
  if (!architecture || typeof name !== 'string') {
    const known = [...ARCHITECTURES.keys()].join(', ');
    throw UnsupportedModelError.of(
      `${fileName} has the architecture ${JSON.stringify(name)}, which is not one of ${known}`,
    );
  }
  const { modelType, fields: names, otherKeys = [], derive } = architecture;
  const of: Lookup = (key) => metadata[`${name}.${key}`];
  for (const key of REQUIRED) {
    if (key in names && of(key) === undefined)
      throw ModelFileCorruptError.of(fileName, `${name}.${key} is missing`);
  }
  const given = Object.entries(names).map(([key, field]) => [field, oneForAll(of(key))] as const);
  const fields = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const [vocabSize] = tensors.get('token_embd.weight')?.shape ?? [];
  if (vocabSize === undefined)
    throw ModelFileCorruptError.of(fileName, 'tensor token_embd.weight is missing');
  const config = {
    ...fields,
    ...derive(of, fields),
    model_type: modelType,
    vocab_size: vocabSize,
    tie_word_embeddings: !tensors.has('output.weight'),
    attention_bias: tensors.has('blk.0.attn_q.bias'),
    mlp_bias: tensors.has('blk.0.ffn_up.bias'),
  };
  refuseUncomputedKeys(metadata, name, new Set([...Object.keys(names), ...otherKeys]), config, fileName);
  return { config, generationConfig: { ...samplingOf(metadata), eos_token_id: endTokenIds(metadata) } };
}

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

/** The layers of Gemma 3 27B, whose scores alone are not scaled by the size of a head. */
const LAYERS_OF_27B = 62;
/** One of so many layers attends to all tokens. */
const GEMMA_PATTERN = 6;

function deriveGemma(of: Lookup, fields: Fields): Fields {
  const { hidden_size: width, num_attention_heads: numHeads, num_hidden_layers: numLayers } = fields;
  const derived = deriveLlama(of, fields);
  return {
    ...derived,
    query_pre_attn_scalar:
      numLayers === LAYERS_OF_27B ? Number(width) / Number(numHeads) : derived['head_dim'],
    ...(isLayerCount(numLayers) && {
      layer_types: Array.from({ length: numLayers }, (_, layer) =>
        isWindowed(of, layer) ? 'sliding_attention' : 'full_attention',
      ),
    }),
  };
}

function isLayerCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) <= MOST_LAYERS;
}

/** The pattern is a period, 0 for windows alone, or a list with an entry for each layer. */
function isWindowed(of: Lookup, layer: number): boolean {
  if (!of('attention.sliding_window')) return false;
  const pattern = of('attention.sliding_window_pattern') ?? GEMMA_PATTERN;
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

/** Recommended by the file, by fields of `generation_config.json`. */
const SAMPLING: FieldNames = { temp: 'temperature', top_k: 'top_k', top_p: 'top_p', min_p: 'min_p' };

function samplingOf(metadata: GgufHeader['metadata']): Fields {
  const given = Object.entries(SAMPLING)
    .map(([key, field]) => [field, metadata[`general.sampling.${key}`]] as const)
    .filter(([, value]) => value !== undefined);
  const fields = Object.fromEntries(given);
  return given.length === 0 ? {} : { ...fields, do_sample: fields['temperature'] !== 0 };
}

/** Llama 3 divides each frequency of a head by a factor of its own. @throws UnsupportedModelError beside another scaling. */
export function withRopeFactors(
  config: Fields,
  factors: readonly number[] | undefined,
  fileName: string,
): Fields {
  if (!factors) return config;
  if (config['rope_scaling'] === undefined)
    return { ...config, rope_scaling: { rope_type: 'factors', factors } };
  throw UnsupportedModelError.of(`${fileName} has both rope_freqs.weight and rope.scaling.factor`);
}
