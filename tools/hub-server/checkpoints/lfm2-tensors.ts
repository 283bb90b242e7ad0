import { bell, matrix, SCALES, type GeneratedTensor } from './generated-tensor.ts';

interface Lfm2Config {
  readonly hidden_size: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly vocab_size: number;
  readonly [field: string]: unknown;
}

/** Of the MLP: two thirds, as the next multiple of `block_multiple_of`. */
export function lfm2InnerSize(config: Readonly<Record<string, unknown>>): number {
  const { intermediate_size: size, block_auto_adjust_ff_dim: isAdjusted, block_multiple_of: unit } = config;
  return isAdjusted === false
    ? Number(size)
    : Number(unit) * Math.ceil((2 * Number(size)) / 3 / Number(unit));
}

export function lfm2Tensors(config: Lfm2Config): readonly GeneratedTensor[] {
  const innerSize = lfm2InnerSize(config);
  const { hidden_size: width, num_attention_heads: numHeads, num_key_value_heads: numKvHeads } = config;
  const { conv_L_cache: convLength, conv_bias: hasBias, layer_types: types } = config;
  const headSize = width / numHeads;
  const stream = SCALES.logits / Math.sqrt(width);
  const norm = (name: string, size = width, gain = 1): GeneratedTensor =>
    bell('BF16', `${name}.weight`, [size], 1 / 8, gain);
  const bias = (name: string, size: number): readonly GeneratedTensor[] =>
    hasBias === true ? [bell('BF16', `${name}.bias`, [size], 1 / 4)] : [];
  const conv = (name: string): readonly GeneratedTensor[] => [
    ...bias(`${name}.conv`, width),
    bell('BF16', `${name}.conv.weight`, [width, 1, Number(convLength)], 1 / Math.sqrt(Number(convLength))),
    ...bias(`${name}.in_proj`, 3 * width),
    matrix(`${name}.in_proj`, 3 * width, width, 1),
    ...bias(`${name}.out_proj`, width),
    matrix(`${name}.out_proj`, width, width, SCALES.attention * stream),
  ];
  const attention = (name: string): readonly GeneratedTensor[] => [
    norm(`${name}.k_layernorm`, headSize, SCALES.queriesAndKeys),
    matrix(`${name}.k_proj`, numKvHeads * headSize, width, 1),
    matrix(`${name}.out_proj`, width, width, SCALES.attention * stream),
    norm(`${name}.q_layernorm`, headSize, SCALES.queriesAndKeys),
    matrix(`${name}.q_proj`, width, width, 1),
    matrix(`${name}.v_proj`, numKvHeads * headSize, width, 1),
  ];
  const layers = (Array.isArray(types) ? types : []).flatMap((type: unknown, index) => {
    const layer = `model.layers.${index}`;
    return [
      ...(type === 'conv' ? conv(`${layer}.conv`) : attention(`${layer}.self_attn`)),
      matrix(`${layer}.feed_forward.w1`, innerSize, width, 1),
      matrix(`${layer}.feed_forward.w2`, width, innerSize, SCALES.mlp * stream),
      matrix(`${layer}.feed_forward.w3`, innerSize, width, 1),
      norm(`${layer}.ffn_norm`),
      norm(`${layer}.operator_norm`),
    ];
  });
  return [
    matrix('model.embed_tokens', config.vocab_size, width, SCALES.logits),
    // Gains of both signs: with a tied head, gains around 1 would make the last token its own likeliest successor.
    bell('BF16', 'model.embedding_norm.weight', [width], 1),
    ...layers,
    ...(config['tie_word_embeddings'] === false
      ? [matrix('lm_head', config.vocab_size, width, SCALES.logits)]
      : []),
  ];
}
