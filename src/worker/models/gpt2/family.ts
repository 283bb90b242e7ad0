import type { ModelFamily } from '../family.ts';
import { skipCausalMask } from './causal-mask.ts';
import { readGpt2Config } from './config.ts';
import { buildGpt2Graph } from './graph.ts';
import { gpt2Tensors } from './tensors.ts';

/** GPT-2 and models of its architecture. */
export const gpt2: ModelFamily = {
  modelTypes: ['gpt2'],
  readModel(fields, generationConfig) {
    const config = readGpt2Config(fields, generationConfig);
    return {
      config,
      tensors: gpt2Tensors(config),
      tensorPrefix: 'transformer.',
      skipTensor: skipCausalMask,
      buildGraph: (target) => buildGpt2Graph(config, target),
    };
  },
};
