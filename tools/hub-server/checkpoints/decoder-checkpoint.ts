import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import type { GeneratedTensor } from './generated-tensor.ts';

/** The fields of `config.json` that tensors follow from, and any others. */
export interface DecoderConfig {
  readonly model_type: string;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim?: number;
  readonly vocab_size: number;
  readonly max_position_embeddings: number;
  readonly [field: string]: unknown;
}

export interface DecoderSpec {
  readonly config: DecoderConfig;
  readonly generationConfig: object;
  readonly tokenizerClass: string;
  /** Seed of the values. Some seeds make texts that repeat a few tokens. */
  readonly seed: number;
  /** Whether the logits have no matrix of their own. */
  readonly isTied: boolean;
  /** Whether q, k and v have biases. */
  readonly hasQkvBias?: boolean;
  /** Whether each head of queries and keys has a norm. */
  readonly hasHeadNorms?: boolean;
  /** Whether q4 and q8 store the matrices without an error. */
  readonly isQuantized?: boolean;
  /** Whether branches have norms, and the model adds one to the weights of all norms. */
  readonly isGemma?: boolean;
}

const NUM_SHARDS = 2;

/** Standard deviation of the values that `steps` gives. */
const DEVIATION_IN_STEPS = 4.5;

/**
 * Scales at which a small random model behaves like a trained one: texts vary, far tokens matter, and the error of
 * quantized weights is not amplified from layer to layer.
 */
const SCALES = {
  /** Deviation of the logits. Sampling at temperature 1 then picks among most of the tokens. */
  logits: 1.25,
  /** Deviation of the elements of queries and keys. Each token then attends mostly to a few others. */
  queriesAndKeys: 1.2,
  /** Deviation of a layer's addition to the residual stream, relative to the embeddings. */
  attention: 1,
  mlp: 0.5,
};

export function decoderCheckpoint(spec: DecoderSpec): GeneratedCheckpoint {
  const { config, generationConfig, tokenizerClass } = spec;
  return generateCheckpoint({
    config,
    generationConfig,
    tokenizerConfig: { tokenizer_class: tokenizerClass, model_max_length: config.max_position_embeddings },
    tensors: tensorsOf(spec).map((tensor) => ({
      ...tensor,
      seed: spec.seed,
      ...(spec.isQuantized && tensor.shape.length === 2 && { fill: inSteps(tensor.fill) }),
    })),
    numShards: NUM_SHARDS,
  });
}

/** About the same deviation. Powers of two are exact in each precision. */
function inSteps(fill: GeneratedTensor['fill']): GeneratedTensor['fill'] {
  if (fill.kind !== 'normal') return fill;
  return { kind: 'steps', step: 2 ** Math.round(Math.log2(fill.deviation / DEVIATION_IN_STEPS)) };
}

/** In the order in which huggingface/transformers saves them. */
function tensorsOf(spec: DecoderSpec): readonly GeneratedTensor[] {
  const { config, isTied } = spec;
  const { hidden_size: width, vocab_size: vocabSize, num_hidden_layers: numLayers } = config;
  const layers = Array.from({ length: numLayers }, (_, layer) => layerTensors(spec, `model.layers.${layer}`));
  return [
    matrix('model.embed_tokens.weight', vocabSize, width, SCALES.logits),
    ...layers.flat(),
    // Gains of both signs: with a tied head, gains around 1 would make the last token its own likeliest successor.
    norm('model.norm.weight', width, spec, { center: 0, deviation: 1 }),
    ...(isTied ? [] : [matrix('lm_head.weight', vocabSize, width, SCALES.logits)]),
  ];
}

function layerTensors(spec: DecoderSpec, layer: string): readonly GeneratedTensor[] {
  const { config, hasQkvBias = false, hasHeadNorms = false, isGemma = false } = spec;
  const { hidden_size: width, intermediate_size: inner, num_attention_heads: numHeads } = config;
  const headSize = config.head_dim ?? width / numHeads;
  const [querySize, keySize] = [numHeads * headSize, config.num_key_value_heads * headSize];
  const [attention, mlp] = [`${layer}.self_attn`, `${layer}.mlp`];
  const qkvTensors = (name: string, size: number, scale: number): readonly GeneratedTensor[] => [
    ...(hasQkvBias ? [vector(`${attention}.${name}.bias`, size, { center: 0, deviation: scale / 2 })] : []),
    matrix(`${attention}.${name}.weight`, size, width, scale),
  ];
  const normOf = (name: string, center = 1): GeneratedTensor =>
    norm(`${layer}.${name}.weight`, width, spec, { center, deviation: 1 / 8 });
  const headNormOf = (name: string): GeneratedTensor =>
    norm(`${attention}.${name}.weight`, headSize, spec, {
      center: SCALES.queriesAndKeys,
      deviation: 1 / 8,
    });
  // Elements of an embedding have this scale. Branches with norms get their scale from those.
  const stream = isGemma ? 1 : SCALES.logits / Math.sqrt(width);
  return [
    normOf('input_layernorm'),
    matrix(`${mlp}.down_proj.weight`, width, inner, SCALES.mlp * stream),
    matrix(`${mlp}.gate_proj.weight`, inner, width, 1),
    matrix(`${mlp}.up_proj.weight`, inner, width, 1),
    normOf('post_attention_layernorm', isGemma ? SCALES.attention : 1),
    ...(isGemma
      ? [normOf('pre_feedforward_layernorm'), normOf('post_feedforward_layernorm', SCALES.mlp)]
      : []),
    ...(hasHeadNorms ? [headNormOf('q_norm'), headNormOf('k_norm')] : []),
    ...qkvTensors('k_proj', keySize, SCALES.queriesAndKeys),
    matrix(`${attention}.o_proj.weight`, width, querySize, SCALES.attention * stream),
    ...qkvTensors('q_proj', querySize, SCALES.queriesAndKeys),
    ...qkvTensors('v_proj', keySize, 1),
  ];
}

/** A bell curve. */
interface Spread {
  readonly center: number;
  readonly deviation: number;
}

/** @param scale Deviation of what it makes of normalized inputs. */
function matrix(name: string, outputSize: number, inputSize: number, scale: number): GeneratedTensor {
  const deviation = scale / Math.sqrt(inputSize);
  return {
    name,
    dtype: 'BF16',
    shape: [outputSize, inputSize],
    fill: { kind: 'normal', center: 0, deviation },
  };
}

function vector(name: string, size: number, spread: Spread): GeneratedTensor {
  return { name, dtype: 'BF16', shape: [size], fill: { kind: 'normal', ...spread } };
}

/** @param gain What the norm multiplies by; Gemma's weights are less by one. */
function norm(name: string, size: number, { isGemma = false }: DecoderSpec, gain: Spread): GeneratedTensor {
  return vector(name, size, { ...gain, center: gain.center - (isGemma ? 1 : 0) });
}
