import { isRecord } from '../is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from './errors.ts';

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
  /** `eos_token_id`: one or several ids that end a sequence; empty where the model has none. */
  readonly eosTokenIds: readonly number[];
}

/** Both names stand for the tanh approximation of GELU, which is what the graph computes. */
const SUPPORTED_ACTIVATIONS = ['gelu_new', 'gelu_pytorch_tanh'];

/**
 * Checks a parsed `config.json` and reads what the graph needs of it.
 *
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the model is sound but of another architecture or variant.
 */
export function readGpt2Config(config: unknown): Gpt2Config {
  if (!isRecord(config)) throw ModelFileCorruptError.of('config.json', 'it is not a JSON object');
  refuseOtherArchitectures(config);
  const embeddingSize = positiveInteger(config, 'n_embd');
  const numHeads = positiveInteger(config, 'n_head');
  if (embeddingSize % numHeads !== 0 || (embeddingSize / numHeads) % 4 !== 0) {
    throw UnsupportedModelError.of(
      `n_embd ${embeddingSize} over n_head ${numHeads} does not give heads of a multiple of 4`,
    );
  }
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: positiveInteger(config, 'n_positions'),
    embeddingSize,
    numLayers: positiveInteger(config, 'n_layer'),
    numHeads,
    headSize: embeddingSize / numHeads,
    innerSize: config['n_inner'] == null ? 4 * embeddingSize : positiveInteger(config, 'n_inner'),
    layerNormEpsilon: positiveNumber(config, 'layer_norm_epsilon', 1e-5),
    eosTokenIds: tokenIds(config['eos_token_id']),
  };
}

function refuseOtherArchitectures(fields: Readonly<Record<string, unknown>>): void {
  if (fields['model_type'] !== 'gpt2') {
    throw UnsupportedModelError.of(
      `config.json names model_type ${JSON.stringify(fields['model_type'])}, not "gpt2"`,
    );
  }
  const activation = fields['activation_function'] ?? 'gelu_new';
  if (!SUPPORTED_ACTIVATIONS.some((supported) => supported === activation)) {
    throw UnsupportedModelError.of(
      `activation_function ${JSON.stringify(activation)} is not one of ${SUPPORTED_ACTIVATIONS.join(', ')}`,
    );
  }
  if (fields['scale_attn_weights'] === false || fields['scale_attn_by_inverse_layer_idx'] === true) {
    throw UnsupportedModelError.of(
      'attention scores are scaled in an unusual way (scale_attn_* in config.json)',
    );
  }
  if (fields['tie_word_embeddings'] === false) {
    throw UnsupportedModelError.of(
      'the output embedding is not tied to the input embedding (tie_word_embeddings)',
    );
  }
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
