import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import {
  layerCount,
  positiveInteger,
  positiveNumber,
  readBoolean,
  readEosTokenIds,
  refuseNonCausal,
  type Fields,
} from '../config-fields.ts';
import { readActivation, type Activation } from '../program/activation.ts';
import type { Heads, ModelConfig } from '../program/model-config.ts';

export interface Gpt2Config extends ModelConfig, Heads {
  readonly embeddingSize: number;
  /** Width of the MLP between its two matrices. */
  readonly innerSize: number;
  readonly layerNormEpsilon: number;
  readonly activation: Activation;
  /** Factor of the attention scores, for each layer. */
  readonly attentionScales: readonly number[];
  /** Whether the logits have a matrix of their own, `lm_head.weight`. */
  readonly isHeadSeparate: boolean;
}

/** GroupQueryAttention of onnxruntime-web takes no other head sizes. */
const HEAD_SIZE_STEP = 8;
const LARGEST_HEAD_SIZE = 256;

/**
 * `reorder_and_upcast_attn` is not read: it changes the order of PyTorch's operations, not what they compute.
 *
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the graph cannot compute this variant.
 */
export function readGpt2Config(config: Fields, generationConfig: unknown): Gpt2Config {
  if (readBoolean(config, 'add_cross_attention')) {
    throw UnsupportedModelError.of('the model attends to an encoder (add_cross_attention in config.json)');
  }
  refuseNonCausal(config);
  const embeddingSize = positiveInteger(config, 'n_embd');
  const numHeads = positiveInteger(config, 'n_head');
  const numLayers = layerCount(config, 'n_layer');
  const headSize = requireHeadSize(embeddingSize, numHeads);
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: positiveInteger(config, 'n_positions'),
    embeddingSize,
    numLayers,
    numHeads,
    numKvHeads: numHeads,
    headSize,
    innerSize: config['n_inner'] == null ? 4 * embeddingSize : positiveInteger(config, 'n_inner'),
    layerNormEpsilon: positiveNumber(config, 'layer_norm_epsilon', 1e-5),
    activation: readActivation('activation_function', config['activation_function'] ?? 'gelu_new'),
    attentionScales: readAttentionScales(config, numLayers, headSize),
    isHeadSeparate: !readBoolean(config, 'tie_word_embeddings', true),
    eosTokenIds: readEosTokenIds(config, generationConfig),
  };
}

function requireHeadSize(embeddingSize: number, numHeads: number): number {
  const headSize = embeddingSize / numHeads;
  if (headSize % HEAD_SIZE_STEP === 0 && headSize <= LARGEST_HEAD_SIZE) return headSize;
  throw UnsupportedModelError.of(
    `n_embd ${embeddingSize} over n_head ${numHeads} gives heads of ${headSize}, but attention takes multiples of ` +
      `${HEAD_SIZE_STEP} up to ${LARGEST_HEAD_SIZE}`,
  );
}

function readAttentionScales(config: Fields, numLayers: number, headSize: number): readonly number[] {
  const scale = readBoolean(config, 'scale_attn_weights', true) ? 1 / Math.sqrt(headSize) : 1;
  const isByLayer = readBoolean(config, 'scale_attn_by_inverse_layer_idx');
  return Array.from({ length: numLayers }, (_, layer) => (isByLayer ? scale / (layer + 1) : scale));
}
