import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Fields } from '../config-fields.ts';
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

interface Architecture {
  readonly modelType: string;
  readonly fields: FieldNames;
  /** Fields that have the value of another one. */
  readonly copies?: Readonly<Record<string, string>>;
}

/** By `general.architecture`. llama.cpp writes Mistral as `llama`. */
const ARCHITECTURES: ReadonlyMap<unknown, Architecture> = new Map<unknown, Architecture>([
  ['gpt2', { modelType: 'gpt2', fields: GPT2_FIELDS }],
  ['llama', { modelType: 'llama', fields: LLAMA_FIELDS }],
  ['qwen2', { modelType: 'qwen2', fields: LLAMA_FIELDS }],
  ['qwen3', { modelType: 'qwen3', fields: LLAMA_FIELDS }],
  [
    'gemma3',
    {
      modelType: 'gemma3_text',
      fields: {
        ...LLAMA_FIELDS,
        'attention.sliding_window': 'sliding_window',
        'attention.sliding_window_pattern': 'sliding_window_pattern',
        'rope.freq_base_swa': 'rope_local_base_freq',
      },
      // Scores are scaled by the head's size.
      copies: { query_pre_attn_scalar: 'head_dim' },
    },
  ],
]);

const ROPE_SCALINGS: ReadonlySet<unknown> = new Set(['linear', 'yarn']);

/**
 * The `config.json` and `generation_config.json` of a checkpoint with this metadata.
 *
 * @throws UnsupportedModelError for another architecture; ModelFileCorruptError where the vocabulary's embedding is missing.
 */
export function configOf(
  { metadata, tensors }: GgufHeader,
  fileName: string,
): { readonly config: Fields; readonly generationConfig: Fields } {
  const name = metadata['general.architecture'];
  const architecture = ARCHITECTURES.get(name);
  if (!architecture) {
    const known = [...ARCHITECTURES.keys()].join(', ');
    throw UnsupportedModelError.of(
      `${fileName} has the architecture ${String(name)}, which is not one of ${known}`,
    );
  }
  const of = (key: string): unknown => numberOf(metadata[`${String(name)}.${key}`]);
  const fields = Object.fromEntries(
    Object.entries(architecture.fields).map(([key, field]) => [field, of(key)]),
  );
  for (const [field, source] of Object.entries(architecture.copies ?? {})) fields[field] = fields[source];
  const [vocabSize] = tensors.get('token_embd.weight')?.shape ?? [];
  if (vocabSize === undefined)
    throw ModelFileCorruptError.of(fileName, 'tensor token_embd.weight is missing');
  const endTokens = ['eos', 'eot'].map((end) => metadata[`tokenizer.ggml.${end}_token_id`]);
  const eosTokenIds = [...new Set(endTokens.filter((id) => typeof id === 'number'))];
  return {
    config: {
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      model_type: architecture.modelType,
      vocab_size: vocabSize,
      tie_word_embeddings: !tensors.has('output.weight'),
      ...ropeOf(of, metadata[`${String(name)}.rope.scaling.type`]),
    },
    generationConfig: { eos_token_id: eosTokenIds },
  };
}

/** Factors per frequency are a tensor of the file: see `withRopeFactors`. */
function ropeOf(of: (key: string) => unknown, type: unknown): Fields {
  if (!ROPE_SCALINGS.has(type)) return {};
  return {
    rope_scaling: {
      rope_type: type,
      factor: of('rope.scaling.factor'),
      original_max_position_embeddings: of('rope.scaling.original_context_length'),
    },
  };
}

/** Llama 3 divides each frequency of a head by a factor of its own. */
export function withRopeFactors(config: Fields, factors: readonly number[] | undefined): Fields {
  return !factors ? config : { ...config, rope_scaling: { rope_type: 'factors', factors } };
}

/** Some writers give counts in 64 bits, which JavaScript reads as a bigint. */
function numberOf(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
