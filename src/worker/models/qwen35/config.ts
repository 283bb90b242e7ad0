import { textOf } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import {
  layerCount,
  positiveInteger,
  positiveNumber,
  readBoolean,
  readEosTokenIds,
  requireLayerTypes,
  withDefaults,
  refuseNonCausal,
  type Fields,
} from '../config-fields.ts';
import { isAskedFor } from '../llama/refusals.ts';
import { readRope, ropeParametersOf } from '../llama/rope.ts';
import type { DeltaHeads, Heads, ModelConfig } from '../program/model-config.ts';
import { readActivation, type Activation } from '../program/activation.ts';
import type { Rope } from '../program/rope.ts';

/** Whether a layer attends to tokens, or keeps matrices that each token changes. */
type LayerType = 'full_attention' | 'linear_attention';

export interface Qwen35Config extends ModelConfig, Heads {
  /** Values of a token's hidden state. */
  readonly width: number;
  /** Width of the MLP between its matrices. */
  readonly innerSize: number;
  readonly layerTypes: readonly LayerType[];
  readonly deltaHeads: DeltaHeads;
  /** Tokens that a convolution reads. */
  readonly convLength: number;
  readonly rope: Rope;
  readonly normEpsilon: number;
  readonly activation: Activation;
  /** Whether the logits have a matrix of their own. */
  readonly isHeadSeparate: boolean;
}

const ARCHITECTURES: readonly unknown[] = ['Qwen3_5ForCausalLM', 'Qwen3_5ForConditionalGeneration'];

/** Values of huggingface/transformers for fields that `config.json` leaves out. */
const DEFAULTS: Fields = {
  head_dim: 256,
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: 128,
  linear_value_head_dim: 128,
  linear_num_key_heads: 16,
  linear_num_value_heads: 32,
  full_attention_interval: 4,
  partial_rotary_factor: 0.25,
  rope_theta: 1e4,
};

/** onnxruntime-web has a thread for each value of a key. */
const LARGEST_KEY = 256;
const HEAD_SIZE_STEP = 16;

/** Bytes of what a layer keeps of a sequence, which no device holds for several. */
const LARGEST_STATE = 2 ** 28;

/** The longest convolution that has a kernel on GPUs. */
const LONGEST_CONVOLUTION = 16;

/** Fields that change what a model computes, in a way that the program does not. */
const UNCOMPUTED: readonly (readonly [field: string, meaning: string])[] = [
  ['quantization_config', 'its weights are quantized already'],
  ['attention_bias', 'attention adds biases'],
  ['sliding_window', 'attention has a window'],
  ['num_experts', 'the MLP is a mixture of experts'],
];

/**
 * @param given Of the text model, or with that as `text_config`.
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the program cannot compute this variant.
 */
export function readQwen35Config(given: Fields, generationConfig: unknown): Qwen35Config {
  const config = withDefaults(DEFAULTS, textFields(given));
  refuseUncomputed(given, config);
  const numLayers = layerCount(config, 'num_hidden_layers');
  const heads = readHeads(config);
  const contextLength = positiveInteger(config, 'max_position_embeddings');
  const rope = readTextRope(config, heads, contextLength);
  return {
    vocabSize: positiveInteger(config, 'vocab_size'),
    contextLength: Math.min(contextLength, rope.maxLength ?? Infinity),
    numLayers,
    ...heads,
    eosTokenIds: readEosTokenIds(config, generationConfig),
    width: positiveInteger(config, 'hidden_size'),
    innerSize: positiveInteger(config, 'intermediate_size'),
    layerTypes: readLayerTypes(config, numLayers),
    deltaHeads: readDeltaHeads(config),
    convLength: readConvLength(config),
    rope,
    normEpsilon: positiveNumber(config, 'rms_norm_eps', 1e-6),
    activation: readActivation('hidden_act', config['hidden_act'] ?? 'silu'),
    // The whole model's, as huggingface/transformers reads it.
    isHeadSeparate: !readBoolean(given, 'tie_word_embeddings'),
  };
}

/** A model that reads pictures too has the fields of its text model in a record of their own. */
function textFields(given: Fields): Fields {
  if (given['model_type'] === 'qwen3_5_text') return given;
  const text = given['text_config'];
  if (isRecord(text)) return text;
  throw ModelFileCorruptError.of('config.json', 'it has no `text_config`');
}

function refuseUncomputed(given: Fields, config: Fields): void {
  const names: readonly unknown[] = Array.isArray(given['architectures']) ? given['architectures'] : [];
  if (names.length > 0 && !names.some((name) => ARCHITECTURES.includes(name)))
    throw UnsupportedModelError.of(
      `config.json names the architecture ${names.map(textOf).join(', ')}, not ${ARCHITECTURES.join(' or ')}`,
    );
  refuseNonCausal(config);
  for (const [field, meaning] of UNCOMPUTED) {
    if (isAskedFor(given[field]) || isAskedFor(config[field]))
      throw UnsupportedModelError.of(`${meaning} (${field} in config.json), which Tabserve does not compute`);
  }
  if (!readBoolean(config, 'attn_output_gate', true))
    throw UnsupportedModelError.of('attn_output_gate in config.json is false, but attention has a gate');
}

function readHeads(config: Fields): Heads {
  const numHeads = positiveInteger(config, 'num_attention_heads');
  const numKvHeads = positiveInteger(config, 'num_key_value_heads');
  requireShares(numHeads, 'num_attention_heads', numKvHeads, 'num_key_value_heads');
  const headSize = positiveInteger(config, 'head_dim', LARGEST_KEY);
  if (headSize % HEAD_SIZE_STEP === 0) return { numHeads, numKvHeads, headSize };
  throw UnsupportedModelError.of(
    `head_dim is ${headSize}, but attention takes multiples of ${HEAD_SIZE_STEP} up to ${LARGEST_KEY}`,
  );
}

function readDeltaHeads(config: Fields): DeltaHeads {
  const numKeyHeads = positiveInteger(config, 'linear_num_key_heads');
  const numValueHeads = positiveInteger(config, 'linear_num_value_heads');
  requireShares(numValueHeads, 'linear_num_value_heads', numKeyHeads, 'linear_num_key_heads');
  const keySize = positiveInteger(config, 'linear_key_head_dim', LARGEST_KEY);
  const valueSize = positiveInteger(config, 'linear_value_head_dim');
  const bytes = numValueHeads * keySize * valueSize * Float32Array.BYTES_PER_ELEMENT;
  if (bytes > LARGEST_STATE)
    throw UnsupportedModelError.of(
      `linear_num_value_heads ${numValueHeads} of linear_key_head_dim ${keySize} by linear_value_head_dim ${valueSize} keep ${Math.ceil(bytes / 1e6)} MB of a sequence in each layer, more than the ${Math.floor(LARGEST_STATE / 1e6)} MB that a device has for it`,
    );
  return { numKeyHeads, numValueHeads, keySize, valueSize };
}

function readConvLength(config: Fields): number {
  const length = positiveInteger(config, 'linear_conv_kernel_dim', LONGEST_CONVOLUTION);
  if (length > 1) return length;
  throw UnsupportedModelError.of('linear_conv_kernel_dim in config.json is 1, so that nothing is convolved');
}

function requireShares(num: number, field: string, numShared: number, sharedField: string): void {
  if (num % numShared === 0) return;
  throw ModelFileCorruptError.of(
    'config.json',
    `its ${field} ${num} cannot share ${sharedField} ${numShared} evenly`,
  );
}

function readLayerTypes(config: Fields, numLayers: number): readonly LayerType[] {
  const given = config['layer_types'];
  const interval = positiveInteger(config, 'full_attention_interval');
  const types: readonly unknown[] = Array.isArray(given)
    ? given
    : Array.from({ length: numLayers }, (_, layer) =>
        (layer + 1) % interval === 0 ? 'full_attention' : 'linear_attention',
      );
  return requireLayerTypes(types, numLayers, 'linear_attention');
}

/** The three sections of a position are alike in text, so they don't matter. */
function readTextRope(config: Fields, { headSize }: Heads, contextLength: number): Rope {
  return readRope(
    {
      partial_rotary_factor: config['partial_rotary_factor'],
      ...ropeParametersOf(config),
    },
    {
      headSize,
      theta: positiveNumber(config, 'rope_theta'),
      contextLength,
      canTurnPart: true,
    },
  );
}
