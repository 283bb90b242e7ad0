import type { ModelFamily } from '../family.ts';
import { readQwen35Config } from './config.ts';
import { qwen35Program } from './program.ts';

/**
 * Qwen3.5: most layers are linear attention by the gated delta rule, the others attend to all tokens. Of a model that reads pictures, its
 * text model runs. The vision tower and the layers that guess several tokens (`mtp`) are not read.
 */
export const qwen35: ModelFamily = {
  modelTypes: ['qwen3_5', 'qwen3_5_text'],
  readModel(fields, generationConfig) {
    const config = readQwen35Config(fields, generationConfig);
    return {
      config,
      program: qwen35Program(config),
      tensorPrefix: fields['model_type'] === 'qwen3_5' ? 'model.language_model.' : 'model.',
      ...(fields['vision_config'] !== undefined && { skipsVision: true }),
      skipTensor: () => undefined,
    };
  },
};
