import { chooseDevice, createBackend, limitsOf, type DeviceChoice } from './create-backend.ts';
import { packInMemory } from './model/checkpoint/convert-weights.ts';
import { planModel } from './model/checkpoint/model-plan.ts';
import { openCheckpoint } from './model/checkpoint/open-checkpoint.ts';
import { readGenerationDefaults } from './model/generation-config.ts';
import type { Gpt2Config } from './model/gpt2-config.ts';
import { servedFolder } from './model/model-files.ts';
import { createTokenizer, type Tokenizer } from './model/tokenizer.ts';
import type { BackendChoice, BackendInfo, LoadProgress, ModelInfo } from './protocol.ts';
import type { Gpt2Backend } from './runtime/gpt2-backend.ts';

export interface LoadedModel {
  readonly config: Gpt2Config;
  readonly tokenizer: Tokenizer;
  readonly backend: Gpt2Backend;
  readonly modelInfo: ModelInfo;
  readonly backendInfo: BackendInfo;
}

export type ReportProgress = (progress: LoadProgress) => void;

/**
 * Fetches a model folder and makes it ready to run on the chosen backend.
 *
 * @param modelUrl Absolute URL of the folder, ending in `/`.
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError, NoWebGpuAdapterError, ModelTooLargeError.
 */
export async function loadModel(
  modelUrl: string,
  choice: BackendChoice,
  report: ReportProgress,
): Promise<LoadedModel> {
  const device = await chooseDevice(choice);
  try {
    return await loadOnto(device, modelUrl, report);
  } catch (error) {
    if ('gpu' in device) device.gpu.device.destroy();
    throw error;
  }
}

async function loadOnto(
  device: DeviceChoice,
  modelUrl: string,
  report: ReportProgress,
): Promise<LoadedModel> {
  const files = servedFolder(modelUrl, (loaded, total) => report({ phase: 'download', loaded, total }));
  const checkpoint = await openCheckpoint(files);
  report({ phase: 'prepare', loaded: 0, total: 2 });
  const { config } = checkpoint;
  const tokenizer = await createTokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
  report({ phase: 'prepare', loaded: 1, total: 2 });
  const plan = planModel(checkpoint, 'auto', limitsOf(device));
  const { packed, weights } = await packInMemory(checkpoint, plan);
  const { backend, backendInfo } = await createBackend({ config, packed, weights }, device);
  report({ phase: 'prepare', loaded: 2, total: 2 });
  const modelInfo: ModelInfo = {
    id: new URL(modelUrl).pathname.split('/').at(-2) ?? modelUrl,
    numParameters: packed.numParameters,
    numLayers: config.numLayers,
    contextLength: config.contextLength,
    vocabSize: config.vocabSize,
    generationDefaults: readGenerationDefaults(checkpoint.generationConfig, config.contextLength),
  };
  return { config, tokenizer, backend, modelInfo, backendInfo };
}
