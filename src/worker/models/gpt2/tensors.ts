import type { Gpt2Config } from './config.ts';

/** One of the checkpoint's tensors that the forward pass reads. */
export interface Gpt2Tensor {
  /** As in the checkpoint, without `transformer.`. */
  readonly name: string;
  readonly shape: readonly number[];
  /**
   * `matrix`: multiplied from the right, [in, out] as `Conv1D` has it; `embedding`: looked up by row, and multiplied as
   * its transpose for the logits, [vocab, in]; `plain`: neither.
   */
  readonly role: 'matrix' | 'embedding' | 'plain';
}

export const TOKEN_EMBEDDING = 'wte.weight';
export const HEAD = 'lm_head.weight';

/** In the order in which they are read and packed. */
export function gpt2Tensors(config: Gpt2Config): readonly Gpt2Tensor[] {
  const { embeddingSize: e, innerSize: inner, vocabSize, contextLength } = config;
  const layers = Array.from({ length: config.numLayers }, (_, layer): Gpt2Tensor[] => {
    const h = `h.${layer}`;
    return [
      plain(`${h}.ln_1.weight`, e),
      plain(`${h}.ln_1.bias`, e),
      { name: `${h}.attn.c_attn.weight`, shape: [e, 3 * e], role: 'matrix' },
      plain(`${h}.attn.c_attn.bias`, 3 * e),
      { name: `${h}.attn.c_proj.weight`, shape: [e, e], role: 'matrix' },
      plain(`${h}.attn.c_proj.bias`, e),
      plain(`${h}.ln_2.weight`, e),
      plain(`${h}.ln_2.bias`, e),
      { name: `${h}.mlp.c_fc.weight`, shape: [e, inner], role: 'matrix' },
      plain(`${h}.mlp.c_fc.bias`, inner),
      { name: `${h}.mlp.c_proj.weight`, shape: [inner, e], role: 'matrix' },
      plain(`${h}.mlp.c_proj.bias`, e),
    ];
  });
  return [
    { name: TOKEN_EMBEDDING, shape: [vocabSize, e], role: 'embedding' },
    plain('wpe.weight', contextLength, e),
    ...layers.flat(),
    plain('ln_f.weight', e),
    plain('ln_f.bias', e),
    ...(config.isHeadSeparate ? [{ name: HEAD, shape: [vocabSize, e], role: 'embedding' } as const] : []),
  ];
}

function plain(name: string, ...shape: number[]): Gpt2Tensor {
  return { name, shape, role: 'plain' };
}
