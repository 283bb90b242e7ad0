import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import { countParameters } from '../../models/model-config.ts';
import type { Tokenizer } from '../../models/tokenizer/tokenizer.ts';
import { describeBackend, type DeviceChoice } from '../device-choice.ts';
import type { PackedModel } from '../model-backend.ts';
import { EncoderBackend } from './encoder-backend.ts';
import { EncoderRunner } from './encoder-runner.ts';
import type { LoadedEncoder } from './loaded-encoder.ts';

/**
 * Weights of an encoder that are kept on the CPU as well as on the GPU, in bytes: those of small models, for which the CPU is
 * faster where a batch is small.
 */
const MAX_BYTES_ON_BOTH = 2 ** 28;

/** Makes an encoder ready to run, and measures it. @throws GpuError, StepHangError. */
export async function loadEncoder(
  id: string,
  given: EncoderConfig,
  tokenizer: Tokenizer,
  packed: PackedModel,
  device: DeviceChoice,
): Promise<Omit<LoadedEncoder, 'deviceBytes'>> {
  const backend = new EncoderRunner(await createBackends(packed, given, device));
  await backend.measure();
  const encoder = { ...given, maxTokens: Math.min(given.maxTokens, backend.maxTokens) };
  const { program, config } = packed.model;
  const { crossover } = backend;
  const encoderInfo = {
    deployment: encoder.task === 'embed' ? EMBEDDER : RERANKER,
    id,
    numParameters: countParameters(program.weights),
    maxTokens: encoder.maxTokens,
    vocabSize: config.vocabSize,
    dimensions: encoder.dimensions,
    prompts: Object.keys(encoder.prompts),
    backend: describeBackend(device, packed.packed.dtype),
    ...(crossover !== undefined && { crossoverTokens: crossover }),
  };
  return { encoder, tokenizer, backend, encoderInfo };
}

/** With float16 on the GPU, the vector of a text would depend on where its batch runs. */
async function createBackends(
  packed: PackedModel,
  encoder: EncoderConfig,
  device: DeviceChoice,
): Promise<readonly EncoderBackend[]> {
  const main = await EncoderBackend.create(packed, encoder, device);
  const { precision, dtype, size } = packed.packed;
  const isExact = precision === 'float32' && dtype === 'fp32';
  if (!('gpu' in device) || !isExact || size > MAX_BYTES_ON_BOTH) return [main];
  return [main, await EncoderBackend.create(packed, encoder, 'beside-gpu')];
}
