import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import { countParameters } from '../../models/model-config.ts';
import type { Tokenizer } from '../../models/tokenizer/tokenizer.ts';
import { describeBackend, type DeviceChoice } from '../device-choice.ts';
import type { PackedModel } from '../model-backend.ts';
import { EncoderBackend } from './encoder-backend.ts';
import type { LoadedEncoder } from './loaded-encoder.ts';

/** Makes an encoder ready to run. Its first run compiles the shaders. */
export async function loadEncoder(
  id: string,
  given: EncoderConfig,
  tokenizer: Tokenizer,
  packed: PackedModel,
  device: DeviceChoice,
): Promise<LoadedEncoder> {
  const backend = await EncoderBackend.create(packed, given, device);
  await backend.run([{ tokenIds: [0], numFirst: 1 }]);
  const encoder = { ...given, maxTokens: Math.min(given.maxTokens, backend.maxTokens) };
  const { tensors, config } = packed.model;
  const encoderInfo = {
    deployment: encoder.task === 'embed' ? EMBEDDER : RERANKER,
    id,
    numParameters: countParameters(tensors),
    maxTokens: encoder.maxTokens,
    vocabSize: config.vocabSize,
    dimensions: encoder.dimensions,
    prompts: Object.keys(encoder.prompts),
    backend: describeBackend(device, packed.packed.dtype),
  };
  return { encoder, tokenizer, backend, encoderInfo };
}
