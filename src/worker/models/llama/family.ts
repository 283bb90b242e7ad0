import { readEmbedding } from '../encoder/encoder-config.ts';
import type { ModelFamily } from '../family.ts';
import { readLlamaConfig } from './config.ts';
import { llamaProgram } from './program.ts';
import { VARIANTS } from './variants.ts';

/** Llama, SmolLM, Mistral, Qwen 2 and 3, Gemma 3, and Qwen 3's embedding models. */
export const llama: ModelFamily = {
  modelTypes: [...VARIANTS.keys()],
  mayEncode: true,
  readModel(fields, generationConfig) {
    const decoder = readLlamaConfig(fields, generationConfig);
    const encoder = readEmbedding(fields, {
      maxTokens: decoder.contextLength,
      dimensions: decoder.width,
    });
    const config = encoder
      ? { ...decoder, isEncoder: true as const, contextLength: encoder.maxTokens }
      : decoder;
    return {
      config,
      ...(encoder && { encoder }),
      program: llamaProgram(config),
      tensorPrefix: 'model.',
      ...(config.needsFloat32 && { needsFloat32: true }),
      skipTensor: () => undefined,
    };
  },
};
