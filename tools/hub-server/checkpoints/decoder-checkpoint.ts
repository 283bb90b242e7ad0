import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { bell, type GeneratedTensor } from './generated-tensor.ts';

/** The fields of `config.json` that tensors follow from, and any others. */
export interface DecoderConfig {
  /** The family. */
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
  /** Whether q4 and q8 store the matrices without an error. */
  readonly isQuantized?: boolean;
}

/** What a family has that Llama's layers lack. */
interface Family {
  /** q, k and v have biases. */
  readonly hasQkvBias?: boolean;
  /** Each head of queries and keys has a norm. */
  readonly hasHeadNorms?: boolean;
  /** Branches have norms, and the model adds one to the weights of all norms. */
  readonly hasBranchNorms?: boolean;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  llama: {},
  mistral: {},
  qwen2: { hasQkvBias: true },
  qwen3: { hasHeadNorms: true },
  gemma3_text: { hasHeadNorms: true, hasBranchNorms: true },
};

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
  const { config, generationConfig, tokenizerClass, seed, isQuantized = false } = spec;
  return generateCheckpoint({
    config,
    generationConfig,
    tokenizerConfig: { tokenizer_class: tokenizerClass, model_max_length: config.max_position_embeddings },
    tensors: tensorsOf(config).map((tensor) => ({
      ...tensor,
      seed,
      ...(isQuantized && tensor.shape.length === 2 && { fill: inSteps(tensor.fill) }),
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
function tensorsOf(config: DecoderConfig): readonly GeneratedTensor[] {
  const { hidden_size: width, vocab_size: vocabSize, intermediate_size: inner } = config;
  const { num_hidden_layers: numLayers, num_attention_heads: numHeads } = config;
  const headSize = config.head_dim ?? width / numHeads;
  const [querySize, keySize] = [numHeads * headSize, config.num_key_value_heads * headSize];
  const { hasQkvBias, hasHeadNorms, hasBranchNorms } = FAMILIES[config.model_type] ?? {};
  const bias = (name: string, size: number, scale: number): readonly GeneratedTensor[] =>
    hasQkvBias ? [bell('BF16', `${name}.bias`, [size], scale / 2)] : [];
  const norm = (name: string, gain = 1, size = width, deviation = 1 / 8): GeneratedTensor =>
    bell('BF16', `${name}.weight`, [size], deviation, gain - (hasBranchNorms ? 1 : 0));
  // Elements of an embedding have this scale. Branches with norms get their scale from those.
  const stream = hasBranchNorms ? 1 : SCALES.logits / Math.sqrt(width);
  const layers = Array.from({ length: numLayers }, (_, index): readonly GeneratedTensor[] => {
    const layer = `model.layers.${index}`;
    const [attention, mlp] = [`${layer}.self_attn`, `${layer}.mlp`];
    return [
      norm(`${layer}.input_layernorm`),
      matrix(`${mlp}.down_proj`, width, inner, SCALES.mlp * stream),
      matrix(`${mlp}.gate_proj`, inner, width, 1),
      matrix(`${mlp}.up_proj`, inner, width, 1),
      norm(`${layer}.post_attention_layernorm`, hasBranchNorms ? SCALES.attention : 1),
      ...(hasBranchNorms
        ? [
            norm(`${layer}.pre_feedforward_layernorm`),
            norm(`${layer}.post_feedforward_layernorm`, SCALES.mlp),
          ]
        : []),
      ...(hasHeadNorms
        ? ['q', 'k'].map((part) => norm(`${attention}.${part}_norm`, SCALES.queriesAndKeys, headSize))
        : []),
      ...bias(`${attention}.k_proj`, keySize, SCALES.queriesAndKeys),
      matrix(`${attention}.k_proj`, keySize, width, SCALES.queriesAndKeys),
      matrix(`${attention}.o_proj`, width, querySize, SCALES.attention * stream),
      ...bias(`${attention}.q_proj`, querySize, SCALES.queriesAndKeys),
      matrix(`${attention}.q_proj`, querySize, width, SCALES.queriesAndKeys),
      ...bias(`${attention}.v_proj`, keySize, 1),
      matrix(`${attention}.v_proj`, keySize, width, 1),
    ];
  });
  return [
    matrix('model.embed_tokens', vocabSize, width, SCALES.logits),
    ...layers.flat(),
    // Gains of both signs: with a tied head, gains around 1 would make the last token its own likeliest successor.
    norm('model.norm', 0, width, 1),
    ...(config['tie_word_embeddings'] === false ? [matrix('lm_head', vocabSize, width, SCALES.logits)] : []),
  ];
}

/** @param scale Deviation of what it makes of normalized inputs. */
function matrix(name: string, outputSize: number, inputSize: number, scale: number): GeneratedTensor {
  return bell('BF16', `${name}.weight`, [outputSize, inputSize], scale / Math.sqrt(inputSize));
}
