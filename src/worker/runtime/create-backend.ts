import type { DeviceLimits } from '../models/checkpoint/model-plan.ts';
import type { PackedWeights } from '../models/checkpoint/packed-weights.ts';
import type { Model } from '../models/family.ts';
import type { BackendChoice, BackendInfo, Rung, WorkerPast } from '../protocol/protocol.ts';
import { ladderOf, NO_PAST } from '../protocol/ladder.ts';
import { AdapterGoneError, NoWebGpuAdapterError, RungUnavailableError } from '../protocol/errors/runtime.ts';
import type { ModelBackend } from './model-backend.ts';
import { requestGpuDevice, type GpuDevice } from './webgpu/gpu-device.ts';
import { WasmBackend } from './wasm/wasm-backend.ts';
import { WebGpuBackend } from './webgpu/webgpu-backend.ts';

/** The rung to run on, with what it takes, and why those above it are not used; empty where there is none. */
export type DeviceChoice = { readonly rung: Rung; readonly fallbackReason: string } & (
  | { readonly gpu: GpuDevice }
  | { readonly numThreads: number }
);

/**
 * The first rung that this device has, and that no worker has had to leave.
 *
 * @throws NoWebGpuAdapterError where WebGPU is asked for and there is none.
 * @throws AdapterGoneError where the worker before ran on an adapter that is not there any more.
 */
export async function chooseDevice(choice: BackendChoice, past: WorkerPast = NO_PAST): Promise<DeviceChoice> {
  const reasons = new Set(choice === 'wasm' ? ['Set by ?backend=wasm'] : []);
  let refusal: Error | undefined;
  for (const rung of ladderOf(choice)) {
    const left = past.leftRungs.find((entry) => entry.rung === rung);
    try {
      if (left) throw new RungUnavailableError(left.reason);
      const device = await open(rung);
      if (device) return { ...device, rung, fallbackReason: [...reasons].join('; ') };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It may come back, with its driver or its cable: worth another worker before the rung is left.
      if (past.recovery?.rung === rung && !left) throw AdapterGoneError.because(error);
      reasons.add(error instanceof NoWebGpuAdapterError ? error.reason : error.message);
      refusal = error;
    }
  }
  throw refusal ?? new RungUnavailableError('There is nothing to run on.');
}

/** Undefined where the rung would be no other than the next one. */
async function open(
  rung: Rung,
): Promise<{ readonly gpu: GpuDevice } | { readonly numThreads: number } | undefined> {
  switch (rung) {
    case 'webgpu-fp16':
      return { gpu: await requestGpuDevice('fp16') };
    case 'webgpu-fp32':
      return { gpu: await requestGpuDevice('fp32') };
    case 'wasm-threads': {
      const numThreads = numWasmThreads();
      return numThreads > 1 ? { numThreads } : undefined;
    }
    case 'wasm':
      return { numThreads: 1 };
    default:
      return rung satisfies never;
  }
}

const MAX_WASM_THREADS = 4;

/** As many as onnxruntime-web takes by itself: one of two cores. @throws RungUnavailableError in a page that can have none. */
function numWasmThreads(): number {
  if (!globalThis.crossOriginIsolated)
    throw new RungUnavailableError('this page is not cross-origin isolated, so WASM has one thread');
  return Math.min(MAX_WASM_THREADS, Math.ceil((navigator.hardwareConcurrency || 1) / 2));
}

function isRefusal(error: unknown): error is Error {
  return error instanceof NoWebGpuAdapterError || error instanceof RungUnavailableError;
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
  readonly backend: ModelBackend;
  readonly backendInfo: BackendInfo;
}

export interface PackedModel {
  readonly model: Model;
  readonly packed: PackedWeights;
  /** The packed file, or what reads it (`lazyBytes`). */
  readonly weights: Uint8Array;
}

/** Makes packed weights ready to run. `weights` is not read any more when it resolves. */
export async function createBackend(model: PackedModel, device: DeviceChoice): Promise<CreatedBackend> {
  const { rung, fallbackReason } = device;
  const shared = { rung, precision: model.packed.dtype, fallbackReason };
  if ('gpu' in device) {
    const { adapterName: adapter, isSoftwareAdapter } = device.gpu;
    const backend = await WebGpuBackend.create({ gpu: device.gpu, ...model });
    return { backend, backendInfo: { ...shared, name: 'webgpu', adapter, isSoftwareAdapter } };
  }
  const backend = await WasmBackend.create({ ...model, numThreads: device.numThreads });
  const adapter = `CPU, ${backend.numThreads} thread${backend.numThreads === 1 ? '' : 's'}`;
  return { backend, backendInfo: { ...shared, name: 'wasm', adapter, isSoftwareAdapter: false } };
}
