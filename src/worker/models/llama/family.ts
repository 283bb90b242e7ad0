import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import type { Fields } from '../config-fields.ts';
import { readEmbedding } from '../encoder/encoder-config.ts';
import type { ModelFamily } from '../family.ts';
import { readLlamaConfig } from './config.ts';
import { llamaProgram } from './program.ts';
import { refuseArchitecture } from './refusals.ts';
import { VARIANTS } from './variants.ts';

/** Models of text and pictures, whose text model runs by itself: what the names of its tensors begin with, by `model_type`. */
const TEXT_PREFIXES: ReadonlyMap<unknown, string> = new Map([['mistral3', 'language_model.model.']]);

/**
 * Llama and its relatives: SmolLM, Mistral, Qwen 2 and 3, Gemma 3, OLMo, Granite, Ministral 3, and Qwen 3's embedding models. Vision
 * towers are not read.
 */
export const llama: ModelFamily = {
  modelTypes: [...VARIANTS.keys(), 'mistral3'],
  mayEncode: true,
  readModel(given, generationConfig) {
    const textPrefix = TEXT_PREFIXES.get(given['model_type']);
    const fields = textPrefix === undefined ? given : textFields(given);
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
      tensorPrefix: textPrefix ?? 'model.',
      ...(config.needsFloat32 && { needsFloat32: true }),
      ...(textPrefix !== undefined && { skipsVision: true }),
      skipTensor: () => undefined,
    };
  },
};

/** The fields of the text model, and those that hold for the whole model. */
function textFields(given: Fields): Fields {
  refuseArchitecture(given['architectures'], 'Mistral3ForConditionalGeneration');
  const text = given['text_config'];
  if (!isRecord(text)) throw ModelFileCorruptError.of('config.json', 'it has no text_config');
  const { quantization_config, eos_token_id, tie_word_embeddings } = given;
  return {
    model_type: 'mistral',
    ...(eos_token_id !== undefined && { eos_token_id }),
    ...text,
    // The whole model's, as for Qwen3.5, and tied by default.
    tie_word_embeddings: tie_word_embeddings ?? true,
    ...(quantization_config !== undefined && { quantization_config }),
  };
}
