import type { ModelFamily } from '../family.ts';
import { readLfm2Config } from './config.ts';
import { lfm2Program } from './program.ts';

/** LFM2 and LFM2.5 of Liquid AI: most layers are short convolutions, and the others attend. */
export const lfm2: ModelFamily = {
  modelTypes: ['lfm2'],
  readModel(fields, generationConfig) {
    const config = readLfm2Config(fields, generationConfig);
    return { config, program: lfm2Program(config), tensorPrefix: 'model.', skipTensor: () => undefined };
  },
};
