import { isRecord } from '../../../platform/is-record.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { layerCount, positiveInteger, positiveNumber, readBoolean, type Fields } from '../config-fields.ts';
import { readEmbedding, type EncoderConfig } from '../encoder/encoder-config.ts';
import { readActivation, type Activation } from '../program/activation.ts';
import type { Heads, ModelConfig } from '../program/model-config.ts';

export interface BertConfig extends ModelConfig, Heads {
  /** Values of a token's hidden state. */
  readonly width: number;
  /** Width of the MLP between its matrices. */
  readonly innerSize: number;
  readonly numPositions: number;
  /** Token types: 1 for the second text of a pair, else 0. */
  readonly numTypes: number;
  readonly normEpsilon: number;
  readonly activation: Activation;
  readonly encoder: EncoderConfig;
}

const CROSS_ENCODER = 'BertForSequenceClassification';

/**
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the graph cannot compute this variant.
 */
export function readBertConfig(config: Fields): BertConfig {
  refuseVariants(config);
  const width = positiveInteger(config, 'hidden_size');
  const numHeads = positiveInteger(config, 'num_attention_heads');
  if (width % numHeads !== 0)
    throw UnsupportedModelError.of(`hidden_size ${width} is not a multiple of its ${numHeads} heads`);
  const numPositions = positiveInteger(config, 'max_position_embeddings');
  const encoder = readEncoder(config, width, numPositions);
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: encoder.maxTokens,
    isEncoder: true,
    numLayers: layerCount(config, 'num_hidden_layers'),
    numHeads,
    numKvHeads: numHeads,
    headSize: width / numHeads,
    eosTokenIds: [],
    width,
    innerSize: positiveInteger(config, 'intermediate_size'),
    numPositions,
    numTypes: positiveInteger(config, 'type_vocab_size'),
    normEpsilon: positiveNumber(config, 'layer_norm_eps', 1e-12),
    activation: readActivation('hidden_act', config['hidden_act'] ?? 'gelu'),
    encoder,
  };
}

/** A model without the files of sentence-transformers is pooled by the mean, as that library does. */
function readEncoder(config: Fields, width: number, maxTokens: number): EncoderConfig {
  const shape = { maxTokens, dimensions: width };
  const own = { ...shape, pooling: 'mean', isNormalized: false, prompts: {} } as const;
  if (!architecturesOf(config).includes(CROSS_ENCODER))
    return readEmbedding(config, shape) ?? { ...own, task: 'embed' };
  const labels = config['id2label'];
  const numLabels = isRecord(labels) ? Object.keys(labels).length : Number(config['num_labels'] ?? 2);
  if (numLabels === 1) return { ...own, task: 'rerank', dimensions: 1, pooling: 'cls' };
  throw UnsupportedModelError.of(
    `config.json names ${numLabels} labels, but a cross-encoder that ranks has one`,
  );
}

function architecturesOf(config: Fields): readonly unknown[] {
  const given = config['architectures'];
  return Array.isArray(given) ? given : [];
}

function refuseVariants(config: Fields): void {
  const type = config['position_embedding_type'] ?? 'absolute';
  if (type !== 'absolute')
    throw UnsupportedModelError.of(`position_embedding_type is ${JSON.stringify(type)}, not absolute`);
  if (readBoolean(config, 'is_decoder') || readBoolean(config, 'add_cross_attention'))
    throw UnsupportedModelError.of('config.json describes a BERT that generates (is_decoder)');
}
