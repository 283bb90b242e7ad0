import { plainTensor, type ModelTensor } from '../model-config.ts';
import type { BertConfig } from './config.ts';

export const TENSOR_PREFIX = 'bert.';
export const WORDS = 'embeddings.word_embeddings.weight';
export const POSITIONS = 'embeddings.position_embeddings.weight';
export const TYPES = 'embeddings.token_type_embeddings.weight';
export const FIRST_NORM = 'embeddings.LayerNorm';
export const POOLER = 'pooler.dense';
/** Checkpoints have it without the prefix. */
export const CLASSIFIER = 'classifier';

/** Names of a layer's modules. Its q, k and v are one matrix here. */
export function layerNames(layer: number) {
  const name = `encoder.layer.${layer}`;
  const attention = `${name}.attention`;
  return {
    attention,
    qkv: `${attention}.self.qkv`,
    parts: ['query', 'key', 'value'].map((part) => `${attention}.self.${part}`),
    output: `${attention}.output.dense`,
    outputNorm: `${attention}.output.LayerNorm`,
    inner: `${name}.intermediate.dense`,
    outer: `${name}.output.dense`,
    outerNorm: `${name}.output.LayerNorm`,
  };
}

export function bertTensors(config: BertConfig): readonly ModelTensor[] {
  const { vocabSize, width, innerSize, numPositions, numTypes, numLayers, encoder } = config;
  const layers = Array.from({ length: numLayers }, (_, layer) => {
    const names = layerNames(layer);
    return [
      ...linear(names.qkv, 3 * width, width).map((tensor) => ({
        ...tensor,
        sources: names.parts.map((part) => ({
          name: tensor.name.replace(names.qkv, part),
          numRows: width,
        })),
      })),
      ...linear(names.output, width, width),
      ...norm(names.outputNorm, width),
      ...linear(names.inner, innerSize, width),
      ...linear(names.outer, width, innerSize),
      ...norm(names.outerNorm, width),
    ];
  });
  return [
    { name: WORDS, shape: [vocabSize, width], role: 'embedding' },
    plainTensor(POSITIONS, numPositions, width),
    plainTensor(TYPES, numTypes, width),
    ...norm(FIRST_NORM, width),
    ...layers.flat(),
    ...(encoder.task === 'rerank' ? [...linear(POOLER, width, width), ...linear(CLASSIFIER, 1, width)] : []),
  ];
}

function norm(name: string, size: number): ModelTensor[] {
  return [plainTensor(`${name}.weight`, size), plainTensor(`${name}.bias`, size)];
}

function linear(name: string, outputSize: number, inputSize: number): ModelTensor[] {
  return [
    { name: `${name}.weight`, shape: [outputSize, inputSize], role: 'linear' },
    plainTensor(`${name}.bias`, outputSize),
  ];
}
