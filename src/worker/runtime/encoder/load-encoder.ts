import { deploymentOf, type EncoderConfig } from '../../models/encoder/encoder-config.ts';
import { countParameters } from '../../models/program/model-config.ts';
import type { Tokenizer } from '../../models/tokenizer/tokenizer.ts';
import { describeBackend, type DeviceChoice } from '../device-choice.ts';
import type { PackedModel } from '../model-backend.ts';
import { EncoderRunner } from './encoder-runner.ts';
import type { LoadedEncoder } from './loaded-encoder.ts';

/** Makes an encoder ready to run, and measures it. @throws GpuError, StepHangError. */
export async function loadEncoder(
  id: string,
  given: EncoderConfig,
  tokenizer: Tokenizer,
  packed: PackedModel,
  device: DeviceChoice,
): Promise<Omit<LoadedEncoder, 'deviceBytes'>> {
  const backend = new EncoderRunner(await device.runtime.createEncoders(packed, given));
  await backend.measure();
  const encoder = { ...given, maxTokens: Math.min(given.maxTokens, backend.maxTokens) };
  const { program, config } = packed.model;
  const { crossover } = backend;
  const encoderInfo = {
    deployment: deploymentOf(encoder),
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
