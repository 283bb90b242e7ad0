import { positiveNumber, type Fields } from '../config-fields.ts';

/** A model's factors: fixed ones, those of Gemma 3, or those that Granite's configuration names. */
export type ScaleRule = 'plain' | 'gemma' | 'granite';

export interface Scales {
  /** Factor of the attention scores. */
  readonly attentionScale: number;
  readonly embeddingScale: number;
  readonly logitScale: number;
  readonly normEpsilon: number;
}

interface Sizes {
  /** Values of a token's hidden state. */
  readonly width: number;
  readonly headSize: number;
}

/** @throws ModelFileCorruptError where a factor is missing or out of range. */
export function readScales(config: Fields, rule: ScaleRule, { width, headSize }: Sizes): Scales {
  const plain = {
    attentionScale: 1 / Math.sqrt(headSize),
    embeddingScale: 1,
    logitScale: 1,
    normEpsilon: positiveNumber(config, 'rms_norm_eps', 1e-6),
  };
  switch (rule) {
    case 'plain':
      return plain;
    case 'gemma':
      return {
        ...plain,
        attentionScale: 1 / Math.sqrt(positiveNumber(config, 'query_pre_attn_scalar')),
        embeddingScale: Math.sqrt(width),
      };
    case 'granite':
      return graniteScales(config, plain.normEpsilon);
  }
}

/**
 * Granite multiplies what it adds to the residual stream. Dividing the stream by this factor instead saves two products a layer: only
 * norms read the stream, and they divide by its size, so that their epsilon alone changes.
 */
function graniteScales(config: Fields, epsilon: number): Scales {
  const ofBranches = positiveNumber(config, 'residual_multiplier', 1);
  return {
    attentionScale: positiveNumber(config, 'attention_multiplier', 1),
    embeddingScale: positiveNumber(config, 'embedding_multiplier', 1) / ofBranches,
    logitScale: 1 / positiveNumber(config, 'logits_scaling', 1),
    normEpsilon: epsilon / ofBranches ** 2,
  };
}
