import type { ModelFamily } from '../family.ts';
import { skipCausalMask } from './causal-mask.ts';
import { readGpt2Config } from './config.ts';
import { gpt2Program } from './program.ts';

/** GPT-2 and models of its architecture. */
export const gpt2: ModelFamily = {
  modelTypes: ['gpt2'],
  readModel(fields, generationConfig) {
    const config = readGpt2Config(fields, generationConfig);
    return {
      config,
      program: gpt2Program(config),
      tensorPrefix: 'transformer.',
      skipTensor: skipCausalMask,
    };
  },
};
