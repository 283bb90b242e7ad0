import { textOf } from '../../../batching/base/errors.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import {
  layerCount,
  positiveInteger,
  readBoolean,
  readEosTokenIds,
  withDefaults,
  type Fields,
} from '../config-fields.ts';
import { readActivation, type Activation } from '../program/activation.ts';
import type { Heads, ModelConfig } from '../program/model-config.ts';
import { readLayers, type LayerConfig } from './layers.ts';
import { refuseUncomputed } from './refusals.ts';
import { readScales, type Scales } from './scales.ts';
import { VARIANTS, type Variant } from './variants.ts';

export interface LlamaConfig
  extends ModelConfig, Heads, Scales, Pick<Variant, 'norms' | 'modules' | 'needsFloat32'> {
  /** Values of a token's hidden state. */
  readonly width: number;
  /** Width of the MLP between its matrices. */
  readonly innerSize: number;
  readonly layers: readonly LayerConfig[];
  readonly activation: Activation;
  /** Whether linear layers add a bias. */
  readonly biases: Readonly<Record<keyof Variant['biases'], boolean>>;
  /** Whether the logits have a matrix of their own. */
  readonly isHeadSeparate: boolean;
}

/** GroupQueryAttention of onnxruntime-web rotates no other head sizes. */
const HEAD_SIZE_STEP = 16;
const LARGEST_HEAD_SIZE = 256;

/**
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the graph cannot compute this variant.
 */
export function readLlamaConfig(given: Fields, generationConfig: unknown): LlamaConfig {
  const modelType = textOf(given['model_type']);
  const variant = VARIANTS.get(modelType);
  if (!variant)
    throw UnsupportedModelError.of(`config.json names model_type ${modelType}, which is not known`);
  const config = withDefaults(variant.defaults, given);
  refuseUncomputed(config, variant);
  const { activationField, biases, norms, modules, scales, needsFloat32 } = variant;
  const width = positiveInteger(config, 'hidden_size');
  const numLayers = layerCount(config, 'num_hidden_layers');
  const heads = readHeads(config, width);
  const isSet = (rule: boolean | string): boolean =>
    typeof rule === 'boolean' ? rule : readBoolean(config, rule);
  const layers = readLayers(config, variant, { numLayers, ...heads });
  const longest = layers.map(({ rope }) => rope?.maxLength ?? Infinity);
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: Math.min(positiveInteger(config, 'max_position_embeddings'), ...longest),
    numLayers,
    ...heads,
    eosTokenIds: readEosTokenIds(config, generationConfig),
    width,
    innerSize: positiveInteger(config, modules.innerSizeField),
    layers,
    norms,
    modules,
    activation: readActivation(activationField, config[activationField] ?? 'silu'),
    ...readScales(config, scales, { width, ...heads }),
    biases: { qkv: isSet(biases.qkv), output: isSet(biases.output), mlp: isSet(biases.mlp) },
    isHeadSeparate: !readBoolean(config, 'tie_word_embeddings'),
    needsFloat32,
  };
}

export function readHeads(config: Fields, width: number): Heads {
  const numHeads = positiveInteger(config, 'num_attention_heads');
  const numKvHeads =
    config['num_key_value_heads'] == null ? numHeads : positiveInteger(config, 'num_key_value_heads');
  if (numHeads % numKvHeads !== 0) {
    throw ModelFileCorruptError.of(
      'config.json',
      `its ${numHeads} query heads cannot share num_key_value_heads ${numKvHeads} evenly`,
    );
  }
  const headSize = config['head_dim'] == null ? width / numHeads : positiveInteger(config, 'head_dim');
  if (headSize % HEAD_SIZE_STEP !== 0 || headSize > LARGEST_HEAD_SIZE) {
    throw UnsupportedModelError.of(
      `head_dim, or hidden_size over num_attention_heads, is ${headSize}, but attention takes multiples of ${HEAD_SIZE_STEP} up to ${LARGEST_HEAD_SIZE}`,
    );
  }
  return { numHeads, numKvHeads, headSize };
}
