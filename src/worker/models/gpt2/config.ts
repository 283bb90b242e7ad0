import { isRecord } from '../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../protocol/errors/model.ts';

/** What the graph needs of a GPT-2 `config.json`. */
export interface Gpt2Config {
  readonly vocabSize: number;
  /** Longest sequence, prompt and output together, in tokens (`n_positions`). */
  readonly contextLength: number;
  readonly embeddingSize: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly headSize: number;
  readonly innerSize: number;
  readonly layerNormEpsilon: number;
  readonly activation: Activation;
  /** What attention scores are multiplied by, for each layer. */
  readonly attentionScales: readonly number[];
  /** Whether the output embedding is a tensor of its own, `lm_head.weight`. */
  readonly isHeadSeparate: boolean;
  /** `eos_token_id`: one or several ids that end a sequence; empty where the model has none. */
  readonly eosTokenIds: readonly number[];
}

/** The functions that the graph knows between the two matrices of an MLP. */
export type Activation = 'gelu_tanh' | 'gelu_erf' | 'quick_gelu' | 'relu' | 'silu' | 'tanh' | 'sigmoid';

/** By the names of `activation_function` in huggingface/transformers, of which several mean the same. */
const ACTIVATIONS: ReadonlyMap<unknown, Activation> = new Map<unknown, Activation>([
  ['gelu_new', 'gelu_tanh'],
  ['gelu_pytorch_tanh', 'gelu_tanh'],
  ['gelu_python_tanh', 'gelu_tanh'],
  ['gelu_fast', 'gelu_tanh'],
  ['gelu_accurate', 'gelu_tanh'],
  ['gelu', 'gelu_erf'],
  ['gelu_python', 'gelu_erf'],
  ['quick_gelu', 'quick_gelu'],
  ['relu', 'relu'],
  ['silu', 'silu'],
  ['swish', 'silu'],
  ['tanh', 'tanh'],
  ['sigmoid', 'sigmoid'],
]);

/** GroupQueryAttention of onnxruntime-web takes no other head sizes. */
const HEAD_SIZE_STEP = 8;
const LARGEST_HEAD_SIZE = 256;

/**
 * Checks a parsed `config.json` and reads what the graph needs of it. `reorder_and_upcast_attn` needs nothing: it
 * changes the order of PyTorch's operations, not what they compute.
 *
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the model is sound but of another architecture or variant.
 */
export function readGpt2Config(config: unknown): Gpt2Config {
  if (!isRecord(config)) throw ModelFileCorruptError.of('config.json', 'it is not a JSON object');
  refuseOtherArchitectures(config);
  const embeddingSize = positiveInteger(config, 'n_embd');
  const numHeads = positiveInteger(config, 'n_head');
  const numLayers = positiveInteger(config, 'n_layer');
  const headSize = requireHeadSize(embeddingSize, numHeads);
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: positiveInteger(config, 'n_positions'),
    embeddingSize,
    numLayers,
    numHeads,
    headSize,
    innerSize: config['n_inner'] == null ? 4 * embeddingSize : positiveInteger(config, 'n_inner'),
    layerNormEpsilon: positiveNumber(config, 'layer_norm_epsilon', 1e-5),
    activation: readActivation(config),
    attentionScales: readAttentionScales(config, numLayers, headSize),
    isHeadSeparate: config['tie_word_embeddings'] === false,
    eosTokenIds: tokenIds(config['eos_token_id']),
  };
}

function refuseOtherArchitectures(fields: Readonly<Record<string, unknown>>): void {
  if (fields['model_type'] !== 'gpt2') {
    throw UnsupportedModelError.of(
      `config.json names model_type ${JSON.stringify(fields['model_type'])}, not "gpt2"`,
    );
  }
  if (fields['add_cross_attention'] === true) {
    throw UnsupportedModelError.of('the model attends to an encoder (add_cross_attention in config.json)');
  }
}

function requireHeadSize(embeddingSize: number, numHeads: number): number {
  const headSize = embeddingSize / numHeads;
  if (headSize % HEAD_SIZE_STEP === 0 && headSize <= LARGEST_HEAD_SIZE) return headSize;
  throw UnsupportedModelError.of(
    `n_embd ${embeddingSize} over n_head ${numHeads} gives heads of ${headSize}, but attention takes multiples of ` +
      `${HEAD_SIZE_STEP} up to ${LARGEST_HEAD_SIZE}`,
  );
}

function readActivation(fields: Readonly<Record<string, unknown>>): Activation {
  const name = fields['activation_function'] ?? 'gelu_new';
  const activation = ACTIVATIONS.get(name);
  if (activation) return activation;
  const known = [...ACTIVATIONS.keys()].join(', ');
  throw UnsupportedModelError.of(`activation_function ${JSON.stringify(name)} is not one of ${known}`);
}

function readAttentionScales(
  fields: Readonly<Record<string, unknown>>,
  numLayers: number,
  headSize: number,
): readonly number[] {
  const scale = fields['scale_attn_weights'] === false ? 1 : 1 / Math.sqrt(headSize);
  const isByLayer = fields['scale_attn_by_inverse_layer_idx'] === true;
  return Array.from({ length: numLayers }, (_, layer) => (isByLayer ? scale / (layer + 1) : scale));
}

function positiveInteger(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw ModelFileCorruptError.of(
    'config.json',
    `\`${name}\` is ${JSON.stringify(value)}, expected an integer >= 1`,
  );
}

function positiveNumber(fields: Readonly<Record<string, unknown>>, name: string, fallback: number): number {
  const value = fields[name] ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw ModelFileCorruptError.of(
    'config.json',
    `\`${name}\` is ${JSON.stringify(value)}, expected a number > 0`,
  );
}

function tokenIds(value: unknown): readonly number[] {
  const ids = Array.isArray(value) ? value : [value];
  return ids.filter((id): id is number => Number.isSafeInteger(id));
}
