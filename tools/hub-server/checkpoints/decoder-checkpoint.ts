import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { bell, matrix, SCALES, type GeneratedTensor } from './generated-tensor.ts';
import { lfm2Tensors } from './lfm2-tensors.ts';

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
  /** Whether q4 and q8 store the matrices without an error. */
  readonly isQuantized?: boolean;
}

/** What a family has that Llama's layers lack. */
interface Family {
  readonly hasQkvBias?: boolean;
  /** Queries and keys have norms: each head by itself, or all heads together. */
  readonly qkNorms?: 'heads' | 'whole';
  /** What attention and MLP give has norms. */
  readonly hasOutputNorms?: boolean;
  /** What attention and MLP take has none. */
  readonly hasNoInputNorms?: boolean;
  /** The model adds one to the weights of all norms, and multiplies embeddings by the square root of their width. */
  readonly isGemma?: boolean;
  readonly hasJoinedQkv?: boolean;
  /** Modules of the MLP, where one matrix gives both the gate and what it multiplies. */
  readonly mlp?: { readonly name: string; readonly input: string; readonly output: string };
}

const OLMO: Family = { qkNorms: 'whole', hasOutputNorms: true, hasNoInputNorms: true };

const FAMILIES: Readonly<Record<string, Family>> = {
  llama: {},
  mistral: {},
  qwen2: { hasQkvBias: true },
  qwen3: { qkNorms: 'heads' },
  gemma3_text: { qkNorms: 'heads', hasOutputNorms: true, isGemma: true },
  smollm3: {},
  olmo2: OLMO,
  olmo3: OLMO,
  granite: {},
  granitemoehybrid: { mlp: { name: 'shared_mlp', input: 'input_linear', output: 'output_linear' } },
  phi3: { hasJoinedQkv: true, mlp: { name: 'mlp', input: 'gate_up_proj', output: 'down_proj' } },
  ministral3: {},
};

const NUM_SHARDS = 2;

/** Standard deviation of the values that `steps` gives. */
const DEVIATION_IN_STEPS = 4.5;

export function decoderCheckpoint(spec: DecoderSpec): GeneratedCheckpoint {
  const { config, generationConfig, tokenizerClass, seed, isQuantized = false } = spec;
  return generateCheckpoint({
    config,
    generationConfig,
    tokenizerConfig: { tokenizer_class: tokenizerClass, model_max_length: config.max_position_embeddings },
    tensors: (config.model_type === 'lfm2' ? lfm2Tensors(config) : tensorsOf(config)).map((tensor) => ({
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
  const family = FAMILIES[config.model_type] ?? {};
  const { hasQkvBias, qkNorms, hasOutputNorms, hasNoInputNorms, isGemma, hasJoinedQkv, mlp } = family;
  const norm = (name: string, gain = 1, size = width, deviation = 1 / 8): GeneratedTensor =>
    bell('BF16', `${name}.weight`, [size], deviation, gain - (isGemma ? 1 : 0));
  const inputNorm = (name: string): readonly GeneratedTensor[] => (hasNoInputNorms ? [] : [norm(name)]);
  const multiplier = (field: string): number => Number(config[field] ?? 1);
  const logits = SCALES.logits * multiplier('logits_scaling');
  // Elements of the embeddings have this scale. Branches with norms get their scale from those.
  const embedded = isGemma ? 1 : (logits / Math.sqrt(width)) * multiplier('embedding_multiplier');
  const stream = hasOutputNorms ? 1 : embedded / multiplier('residual_multiplier');
  const input = hasNoInputNorms ? embedded : 1;
  const outputNorm = (name: string, scale: number): GeneratedTensor =>
    isGemma ? norm(name, scale) : norm(name, scale * embedded, width, (scale * embedded) / 8);
  const mlpOf = (layer: string): readonly GeneratedTensor[] => {
    const { name, output } = mlp ?? { name: 'mlp', output: 'down_proj' };
    const down = matrix(`${layer}.${name}.${output}`, width, inner, SCALES.mlp * stream);
    if (mlp) return [matrix(`${layer}.${name}.${mlp.input}`, 2 * inner, width, 1 / input), down];
    const parts = ['gate_proj', 'up_proj'].map((part) => `${layer}.mlp.${part}`);
    return [down, ...parts.map((part) => matrix(part, inner, width, 1 / input))];
  };
  const attentionOf = (name: string): readonly GeneratedTensor[] => {
    const output = matrix(`${name}.o_proj`, width, querySize, SCALES.attention * stream);
    if (hasJoinedQkv)
      return [
        output,
        matrix(`${name}.qkv_proj`, querySize + 2 * keySize, width, SCALES.queriesAndKeys / input),
      ];
    const projection = (part: string, size: number, scale: number): readonly GeneratedTensor[] => [
      ...(hasQkvBias ? [bell('BF16', `${name}.${part}.bias`, [size], scale / 2)] : []),
      matrix(`${name}.${part}`, size, width, scale / input),
    ];
    return [
      ...projection('k_proj', keySize, SCALES.queriesAndKeys),
      output,
      ...projection('q_proj', querySize, SCALES.queriesAndKeys),
      ...projection('v_proj', keySize, 1),
    ];
  };
  const layers = Array.from({ length: numLayers }, (_, index): readonly GeneratedTensor[] => {
    const layer = `model.layers.${index}`;
    const attention = `${layer}.self_attn`;
    return [
      ...inputNorm(`${layer}.input_layernorm`),
      ...mlpOf(layer),
      ...(hasOutputNorms
        ? [
            outputNorm(`${layer}.post_attention_layernorm`, SCALES.attention),
            ...inputNorm(`${layer}.pre_feedforward_layernorm`),
            outputNorm(`${layer}.post_feedforward_layernorm`, SCALES.mlp),
          ]
        : inputNorm(`${layer}.post_attention_layernorm`)),
      ...(['q_norm', 'k_norm'] as const).flatMap((name) => {
        const size = qkNorms === 'heads' ? headSize : name === 'q_norm' ? querySize : keySize;
        return qkNorms ? [norm(`${attention}.${name}`, SCALES.queriesAndKeys, size)] : [];
      }),
      ...attentionOf(attention),
    ];
  });
  return [
    matrix('model.embed_tokens', vocabSize, width, logits),
    ...layers.flat(),
    // Gains of both signs: with a tied head, gains around 1 would make the last token its own likeliest successor.
    norm('model.norm', 0, width, 1),
    ...(config['tie_word_embeddings'] === false ? [matrix('lm_head', vocabSize, width, logits)] : []),
  ];
}
