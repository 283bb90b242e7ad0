import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { type BackendChoice, type Rung, LADDERS } from '../../../protocol/ladder.ts';
import type { BackendInfo } from '../../../protocol/models.ts';
import { describeBackend, type DeviceChoice } from '../device-choice.ts';
import { type WorkerPast, NO_PAST } from '../../../protocol/recovery.ts';
import { NoWebGpuAdapterError } from '../../../protocol/errors/runtime.ts';
import { AdapterGoneError, RungUnavailableError } from '../faults/runtime-errors.ts';
import type { ModelBackend, PackedModel } from '../model-backend.ts';
import { requireWebGpuBuild } from '../ort/ort.ts';
import { requestGpuDevice } from '../webgpu/gpu-device.ts';
import type { Runtime } from '../runtime.ts';
import { WebGpuRuntime } from '../webgpu/webgpu-runtime.ts';

/**
 * Chooses the first rung that this device offers and that no earlier worker left.
 *
 * @throws NoWebGpuAdapterError where WebGPU is asked for and there is none.
 * @throws AdapterGoneError where the adapter of the worker before is gone.
 */
export async function chooseDevice(choice: BackendChoice, past: WorkerPast = NO_PAST): Promise<DeviceChoice> {
  const reasons = new Set(choice === 'wasm' ? ['Set by ?backend=wasm'] : []);
  let refusal: Error | undefined;
  for (const rung of LADDERS[choice]) {
    const left = past.leftRungs.find((entry) => entry.rung === rung);
    try {
      if (left) throw new RungUnavailableError(left.reason);
      const runtime = await open(rung, choice);
      if (runtime) return { rung, runtime, fallbackReason: [...reasons].join('. ') };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The adapter may come back with its driver or its cable, so another worker tries before leaving the rung.
      if (past.recovery?.rung === rung && !left) throw AdapterGoneError.because(error);
      reasons.add(error instanceof NoWebGpuAdapterError ? error.reason : error.message);
      refusal = error;
    }
  }
  throw refusal ?? new RungUnavailableError('No backend is available');
}

/** @returns `undefined` where the rung would be the same as the next one. */
async function open(rung: Rung, choice: BackendChoice): Promise<Runtime | undefined> {
  if (rung.startsWith('webgpu')) requireWebGpuBuild();
  const allowsSoftware = choice === 'webgpu';
  if (rung === 'webgpu-fp16') return new WebGpuRuntime(await requestGpuDevice('fp16', { allowsSoftware }));
  if (rung === 'webgpu-fp32') return new WebGpuRuntime(await requestGpuDevice('fp32', { allowsSoftware }));
  if (rung === 'wasm') return new CpuRuntime(1);
  const numThreads = numWasmThreads();
  return numThreads > 1 ? new CpuRuntime(numThreads) : undefined;
}

const MAX_WASM_THREADS = 4;

/** One for every two cores. @throws RungUnavailableError where threads are not allowed. */
function numWasmThreads(): number {
  if (!globalThis.crossOriginIsolated)
    throw new RungUnavailableError("The CPU has one thread: this page isn't cross-origin isolated");
  // WebKitGTK has none, isolated or not.
  if (!('SharedArrayBuffer' in globalThis))
    throw new RungUnavailableError('The CPU has one thread: this browser has no SharedArrayBuffer');
  return Math.min(MAX_WASM_THREADS, Math.ceil((navigator.hardwareConcurrency || 1) / 2));
}

function isRefusal(error: unknown): error is Error {
  return error instanceof NoWebGpuAdapterError || error instanceof RungUnavailableError;
}

/** The limits of a device that a plan for a model respects. */
export function limitsOf(device: DeviceChoice): DeviceLimits {
  const memoryBytes = device.isTrial ? memoryOfTrial() : memoryOfMachine();
  return { ...device.runtime.limits, memoryBytes, serving: device.serving ?? [] };
}

const GIBIBYTE = 2 ** 30;

/** Only Chromium has it, as a power of two. Most versions stop at 8, which may then stand for more. */
function reportedGibibytes(): number | undefined {
  return 'deviceMemory' in navigator ? Number(navigator.deviceMemory) : undefined;
}

function memoryOfMachine(): number | undefined {
  const gibibytes = reportedGibibytes() ?? NaN;
  return gibibytes < 8 ? gibibytes * GIBIBYTE : undefined;
}

/** A check must not take the memory of the page that it runs in. Where the browser reports none, this is what a phone has. */
const UNKNOWN_GIBIBYTES = 4;

function memoryOfTrial(): number {
  return ((reportedGibibytes() ?? UNKNOWN_GIBIBYTES) * GIBIBYTE) / 2;
}

/** Makes packed weights ready to run. Once it resolves, `weights` is no longer read. */
export async function createBackend(
  model: PackedModel,
  device: DeviceChoice,
): Promise<{ readonly backend: ModelBackend; readonly backendInfo: BackendInfo }> {
  const backend = await device.runtime.createGenerator(model);
  return { backend, backendInfo: describeBackend(device, model.packed.dtype) };
}
