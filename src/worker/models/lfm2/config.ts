import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import {
  layerCount,
  positiveInteger,
  positiveNumber,
  readBoolean,
  readEosTokenIds,
  requireLayerTypes,
  withDefaults,
  type Fields,
} from '../config-fields.ts';
import { readHeads } from '../llama/config.ts';
import { refuseUncomputed } from '../llama/refusals.ts';
import { readRope, ropeParametersOf } from '../llama/rope.ts';
import type { Heads, ModelConfig } from '../program/model-config.ts';
import type { Rope } from '../program/rope.ts';

type LayerType = 'conv' | 'full_attention';

export interface Lfm2Config extends ModelConfig, Heads {
  /** Values of a token's hidden state. */
  readonly width: number;
  /** Width of the MLP between its matrices. */
  readonly innerSize: number;
  readonly layers: readonly LayerType[];
  readonly rope: Rope;
  readonly normEpsilon: number;
  /** Tokens that an output of a convolution is made of. */
  readonly convLength: number;
  readonly hasConvBias: boolean;
  /** Whether the logits have a matrix of their own. */
  readonly isHeadSeparate: boolean;
}

const ARCHITECTURE = {
  architecture: 'Lfm2ForCausalLM',
  rotation: 'all',
  foreignFields: ['attention_bias', 'mlp_bias', 'sliding_window'],
} as const;

/** Defaults of huggingface/transformers. */
const DEFAULTS = {
  max_position_embeddings: 128_000,
  num_key_value_heads: 8,
  rope_theta: 1e6,
  eos_token_id: 2,
  conv_L_cache: 3,
  block_multiple_of: 256,
};

/**
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where a layer is not computed.
 */
export function readLfm2Config(given: Fields, generationConfig: unknown): Lfm2Config {
  refuseUncomputed(given, ARCHITECTURE);
  const config = withDefaults(DEFAULTS, given);
  const width = positiveInteger(config, 'hidden_size');
  const numLayers = layerCount(config, 'num_hidden_layers');
  const heads = readHeads(config, width);
  const contextLength = positiveInteger(config, 'max_position_embeddings');
  const rope = readRope(ropeParametersOf(config), {
    headSize: heads.headSize,
    theta: positiveNumber(config, 'rope_theta'),
    contextLength,
  });
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: Math.min(contextLength, rope.maxLength ?? Infinity),
    numLayers,
    ...heads,
    eosTokenIds: readEosTokenIds(config, generationConfig),
    width,
    innerSize: readInnerSize(config),
    layers: readLayerTypes(config, numLayers),
    rope,
    normEpsilon: positiveNumber(config, 'norm_eps', 1e-5),
    convLength: readConvLength(config),
    hasConvBias: readBoolean(config, 'conv_bias'),
    isHeadSeparate: !readBoolean(
      config,
      config['tie_embedding'] == null ? 'tie_word_embeddings' : 'tie_embedding',
      true,
    ),
  };
}

/** Two thirds of what the config says, times a factor, as the next multiple of a size, unless the config says that it is adjusted. */
function readInnerSize(config: Fields): number {
  const size = positiveInteger(config, config['block_ff_dim'] == null ? 'intermediate_size' : 'block_ff_dim');
  if (!readBoolean(config, 'block_auto_adjust_ff_dim', true)) return size;
  const factor = positiveNumber(config, 'block_ffn_dim_multiplier', 1);
  const multiple = positiveInteger(config, 'block_multiple_of');
  return multiple * Math.ceil(Math.floor(factor * Math.floor((2 * size) / 3)) / multiple);
}

/** `layer_types`, or the indices of the layers that attend. Without either, all do. */
function readLayerTypes(config: Fields, numLayers: number): readonly LayerType[] {
  const { layer_types: given, full_attn_idxs: attending } = config;
  const types: readonly unknown[] = Array.isArray(given)
    ? given
    : Array.from({ length: numLayers }, (_, layer) =>
        Array.isArray(attending) && !attending.includes(layer) ? 'conv' : 'full_attention',
      );
  return requireLayerTypes(types, numLayers, 'conv');
}

/** A row keeps all but one of these tokens in each layer. */
const LONGEST_CONV = 64;

function readConvLength(config: Fields): number {
  const length = positiveInteger(config, 'conv_L_cache', LONGEST_CONV);
  if (length > 1) return length;
  throw UnsupportedModelError.of('conv_L_cache in config.json is 1, so that layers see no other token');
}
