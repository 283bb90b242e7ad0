import type { ModelFamily } from '../family.ts';
import { readBertConfig } from './config.ts';
import { bertProgram } from './program.ts';

/** BERT and models of its architecture: MiniLM, BGE, GTE, E5, and cross-encoders with one label. */
export const bert: ModelFamily = {
  modelTypes: ['bert'],
  mayEncode: true,
  readModel(fields) {
    const config = readBertConfig(fields);
    return {
      config,
      encoder: config.encoder,
      program: bertProgram(config),
      tensorPrefix: 'bert.',
      skipTensor: () => undefined,
    };
  },
};
