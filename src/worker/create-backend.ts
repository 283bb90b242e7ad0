import type { DeviceLimits } from './model/checkpoint/model-plan.ts';
import type { PackedWeights } from './model/checkpoint/packed-weights.ts';
import type { Gpt2Config } from './model/gpt2-config.ts';
import type { BackendChoice, BackendInfo } from './protocol.ts';
import { NoWebGpuAdapterError } from './runtime/errors.ts';
import type { Gpt2Backend } from './runtime/gpt2-backend.ts';
import { requestGpuDevice, type GpuDevice } from './runtime/gpu-device.ts';
import { WasmBackend } from './runtime/wasm-backend.ts';
import { WebGpuBackend } from './runtime/webgpu-backend.ts';

/** A GPU, or why there is none and WASM runs instead. */
export type DeviceChoice = { readonly gpu: GpuDevice } | { readonly fallbackReason: string };

/** @throws NoWebGpuAdapterError where WebGPU is asked for and there is none. */
export async function chooseDevice(choice: BackendChoice): Promise<DeviceChoice> {
  if (choice === 'wasm') return { fallbackReason: 'WASM was asked for' };
  try {
    return { gpu: await requestGpuDevice() };
  } catch (error) {
    if (choice === 'auto' && error instanceof NoWebGpuAdapterError) return { fallbackReason: error.message };
    throw error;
  }
}

/** What a plan for a model has to know of the device. */
export function limitsOf(device: DeviceChoice): DeviceLimits {
  const memoryBytes = memoryOfMachine();
  if (!('gpu' in device)) return { kind: 'wasm', memoryBytes };
  const { hasShaderF16 } = device.gpu;
  const { maxBufferSize, maxStorageBufferBindingSize } = device.gpu.device.limits;
  return { kind: 'webgpu', hasShaderF16, maxBufferSize, maxStorageBufferBindingSize, memoryBytes };
}

/** In Chromium alone, as a power of two of GiB, 8 at most in most versions: then it says nothing of larger machines. */
function memoryOfMachine(): number | undefined {
  const gibibytes = 'deviceMemory' in navigator ? Number(navigator.deviceMemory) : NaN;
  return gibibytes < 8 ? gibibytes * 2 ** 30 : undefined;
}

export interface CreatedBackend {
  readonly backend: Gpt2Backend;
  readonly backendInfo: BackendInfo;
}

export interface PackedModel {
  readonly config: Gpt2Config;
  readonly packed: PackedWeights;
  /** The packed file, or what reads it (`lazyBytes`). */
  readonly weights: Uint8Array;
}

/** Makes packed weights ready to run; when it resolves, nobody reads `weights` any more. */
export async function createBackend(model: PackedModel, device: DeviceChoice): Promise<CreatedBackend> {
  const { dtype } = model.packed;
  if ('gpu' in device) {
    const { adapterName, isSoftwareAdapter, hasShaderF16 } = device.gpu;
    const backend = await WebGpuBackend.create({ gpu: device.gpu, ...model });
    const fallbackReason =
      dtype === 'fp32' && !hasShaderF16 ? 'This GPU adapter does not offer shader-f16' : '';
    const backendInfo: BackendInfo = {
      name: 'webgpu',
      precision: dtype,
      adapter: adapterName,
      isSoftwareAdapter,
      fallbackReason,
    };
    return { backend, backendInfo };
  }
  const backend = await WasmBackend.create(model);
  const threads = backend.numThreads === 1 ? '1 thread' : `${backend.numThreads} threads`;
  const backendInfo: BackendInfo = {
    name: 'wasm',
    precision: dtype,
    adapter: `CPU, ${threads}`,
    isSoftwareAdapter: false,
    fallbackReason: device.fallbackReason,
  };
  return { backend, backendInfo };
}
