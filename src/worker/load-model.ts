import { readGpt2Config, type Gpt2Config } from './model/gpt2-config.ts';
import { buildGpt2CpuModel, buildGpt2Model, gpt2WeightShapes } from './model/gpt2-graph.ts';
import { readGenerationDefaults } from './model/generation-config.ts';
import { fetchModelFiles, type ModelFiles } from './model/model-files.ts';
import { readSafetensorsIndex, type SafetensorsIndex } from './model/safetensors.ts';
import { createTokenizer, type Tokenizer } from './model/tokenizer.ts';
import { isStoredAsFloat16, placeWeights } from './model/weights.ts';
import type { BackendChoice, BackendInfo, LoadProgress, ModelInfo } from './protocol.ts';
import { NoWebGpuAdapterError } from './runtime/errors.ts';
import type { Gpt2Backend } from './runtime/gpt2-backend.ts';
import { requestGpuDevice, type GpuDevice } from './runtime/gpu-device.ts';
import { WasmBackend } from './runtime/wasm-backend.ts';
import { WebGpuBackend } from './runtime/webgpu-backend.ts';

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
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError, NoWebGpuAdapterError.
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
  const files = await fetchModelFiles(modelUrl, (loaded, total) =>
    report({ phase: 'download', loaded, total }),
  );
  report({ phase: 'prepare', loaded: 0, total: 2 });
  const config = readGpt2Config(files.config);
  const tokenizer = await createTokenizer(files.tokenizer, files.tokenizerConfig);
  report({ phase: 'prepare', loaded: 1, total: 2 });
  const { backend, backendInfo, numParameters } = await createBackend(config, files, device);
  report({ phase: 'prepare', loaded: 2, total: 2 });
  const modelInfo: ModelInfo = {
    id: new URL(modelUrl).pathname.split('/').at(-2) ?? modelUrl,
    numParameters,
    numLayers: config.numLayers,
    contextLength: config.contextLength,
    vocabSize: config.vocabSize,
    generationDefaults: readGenerationDefaults(files.generationConfig, config.contextLength),
  };
  return { config, tokenizer, backend, modelInfo, backendInfo };
}

/** A GPU, or why there is none and WASM runs instead. */
type DeviceChoice = { readonly gpu: GpuDevice } | { readonly fallbackReason: string };

async function chooseDevice(choice: BackendChoice): Promise<DeviceChoice> {
  if (choice === 'wasm') return { fallbackReason: 'WASM was asked for' };
  try {
    return { gpu: await requestGpuDevice() };
  } catch (error) {
    if (choice === 'auto' && error instanceof NoWebGpuAdapterError) return { fallbackReason: error.message };
    throw error;
  }
}

interface CreatedBackend {
  readonly backend: Gpt2Backend;
  readonly backendInfo: BackendInfo;
  readonly numParameters: number;
}

function createBackend(config: Gpt2Config, files: ModelFiles, device: DeviceChoice): Promise<CreatedBackend> {
  const index = readSafetensorsIndex(files.weights, 'model.safetensors');
  return 'gpu' in device
    ? createWebGpuBackend(config, files, index, device.gpu)
    : createWasmBackend(config, files, index, device.fallbackReason);
}

async function createWebGpuBackend(
  config: Gpt2Config,
  files: ModelFiles,
  index: SafetensorsIndex,
  gpu: GpuDevice,
): Promise<CreatedBackend> {
  const shapes = gpt2WeightShapes(config);
  const precision = gpu.hasShaderF16 && isStoredAsFloat16(index, shapes.keys()) ? 'float16' : 'float32';
  const weights = placeWeights(files.weights, index, shapes, precision);
  const model = buildGpt2Model(config, weights.initializers, precision);
  const backend = await WebGpuBackend.create({ gpu, config, model, weights, precision });
  const backendInfo: BackendInfo = {
    name: 'webgpu',
    precision: precision === 'float16' ? 'fp16' : 'fp32',
    adapter: gpu.adapterName,
    isSoftwareAdapter: gpu.isSoftwareAdapter,
    fallbackReason: precision === 'float16' ? '' : whyNotFloat16(gpu),
  };
  return { backend, backendInfo, numParameters: weights.numParameters };
}

function whyNotFloat16(gpu: GpuDevice): string {
  return gpu.hasShaderF16
    ? 'The checkpoint is not stored as fp16'
    : 'This GPU adapter does not offer shader-f16';
}

async function createWasmBackend(
  config: Gpt2Config,
  files: ModelFiles,
  index: SafetensorsIndex,
  fallbackReason: string,
): Promise<CreatedBackend> {
  const weights = placeWeights(files.weights, index, gpt2WeightShapes(config), 'float32');
  const model = buildGpt2CpuModel(config, weights.initializers);
  const backend = await WasmBackend.create({ config, model, weights });
  const threads = backend.numThreads === 1 ? '1 thread' : `${backend.numThreads} threads`;
  const backendInfo: BackendInfo = {
    name: 'wasm',
    precision: 'fp32',
    adapter: `CPU, ${threads}`,
    isSoftwareAdapter: false,
    fallbackReason,
  };
  return { backend, backendInfo, numParameters: weights.numParameters };
}
