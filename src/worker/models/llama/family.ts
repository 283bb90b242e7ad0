import type { ModelFamily } from '../family.ts';
import { readLlamaConfig } from './config.ts';
import { buildLlamaGraph } from './graph.ts';
import { llamaTensors, TENSOR_PREFIX } from './tensors.ts';
import { VARIANTS } from './variants.ts';

/** Llama, SmolLM, Mistral, Qwen 2 and 3, and Gemma 3. */
export const llama: ModelFamily = {
  modelTypes: [...VARIANTS.keys()],
  readModel(fields, generationConfig) {
    const config = readLlamaConfig(fields, generationConfig);
    return {
      config,
      tensors: llamaTensors(config),
      tensorPrefix: TENSOR_PREFIX,
      ...(config.needsFloat32 && { needsFloat32: true }),
      skipTensor: () => undefined,
      buildGraph: (target) => buildLlamaGraph(config, target),
    };
  },
};
