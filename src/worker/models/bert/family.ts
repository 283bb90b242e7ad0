import type { ModelFamily } from '../family.ts';
import { readBertConfig } from './config.ts';
import { buildBertGraph } from './graph.ts';
import { bertTensors, TENSOR_PREFIX } from './tensors.ts';

/** BERT and models of its architecture: MiniLM, BGE, GTE, E5, and cross-encoders with one label. */
export const bert: ModelFamily = {
  modelTypes: ['bert'],
  mayEncode: true,
  readModel(fields) {
    const config = readBertConfig(fields);
    return {
      config,
      encoder: config.encoder,
      tensors: bertTensors(config),
      tensorPrefix: TENSOR_PREFIX,
      skipTensor: () => undefined,
      buildGraph: (target) => buildBertGraph(config, target),
    };
  },
};
