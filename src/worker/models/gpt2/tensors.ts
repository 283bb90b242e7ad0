import { plainTensor, type ModelTensor } from '../model-config.ts';
import type { Gpt2Config } from './config.ts';

export const TOKEN_EMBEDDING = 'wte.weight';
export const POSITION_EMBEDDING = 'wpe.weight';
export const HEAD = 'lm_head.weight';

const isSensitive = true;

export function gpt2Tensors(config: Gpt2Config): readonly ModelTensor[] {
  const { embeddingSize, innerSize, vocabSize, contextLength } = config;
  const layers = Array.from({ length: config.numLayers }, (_, layer): ModelTensor[] => {
    const h = `h.${layer}`;
    return [
      ...norm(`${h}.ln_1`, embeddingSize),
      ...conv1d(`${h}.attn.c_attn`, embeddingSize, 3 * embeddingSize, { isSensitive }),
      ...conv1d(`${h}.attn.c_proj`, embeddingSize, embeddingSize),
      ...norm(`${h}.ln_2`, embeddingSize),
      ...conv1d(`${h}.mlp.c_fc`, embeddingSize, innerSize),
      ...conv1d(`${h}.mlp.c_proj`, innerSize, embeddingSize, { isSensitive }),
    ];
  });
  const head: ModelTensor = { name: HEAD, shape: [vocabSize, embeddingSize], role: 'linear', isSensitive };
  return [
    { name: TOKEN_EMBEDDING, shape: [vocabSize, embeddingSize], role: 'embedding', isSensitive },
    plainTensor(POSITION_EMBEDDING, contextLength, embeddingSize),
    ...layers.flat(),
    ...norm('ln_f', embeddingSize),
    ...(config.isHeadSeparate ? [head] : []),
  ];
}

function norm(name: string, size: number): ModelTensor[] {
  return [plainTensor(`${name}.weight`, size), plainTensor(`${name}.bias`, size)];
}

function conv1d(
  name: string,
  inputSize: number,
  outputSize: number,
  bits: Pick<ModelTensor, 'isSensitive'> = {},
): ModelTensor[] {
  return [
    { name: `${name}.weight`, shape: [inputSize, outputSize], role: 'conv1d', ...bits },
    plainTensor(`${name}.bias`, outputSize),
  ];
}
