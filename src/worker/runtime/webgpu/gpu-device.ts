import { noWebGpuAdapter, webGpuNeedsSecurePage } from '../../../protocol/errors/runtime-messages.ts';
import { RungUnavailableError, StepHangError } from '../faults/runtime-errors.ts';
import { orHang } from '../faults/step-watchdog.ts';
import { isSoftware } from '../software-adapter.ts';

export interface GpuDevice {
  readonly device: GPUDevice;
  /** The driver's name for it, shown to users. */
  readonly adapterName: string;
  /** SwiftShader, llvmpipe, WARP: WebGPU computed on the CPU. */
  readonly isSoftwareAdapter: boolean;
  readonly hasShaderF16: boolean;
}

/** The browser starts a process for the GPU, which takes many seconds on a loaded machine. */
const PATIENCE_MS = 180_000;

/** Limits raised to the adapter's: the defaults are too small for the tensors of real checkpoints. */
const RAISED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
] as const;

/**
 * Requests a device of our own: a device that onnxruntime-web creates is destroyed with its last session.
 *
 * @param allowsSoftware Whether a software adapter is taken too. It is slower than WASM on the same processor.
 * @throws NoWebGpuAdapterError where the browser has no WebGPU or no adapter, or does not answer.
 * @throws RungUnavailableError where the adapter is software, lacks the fp16 that was asked for, or refuses a device.
 */
export async function requestGpuDevice(
  precision: 'fp16' | 'fp32',
  { allowsSoftware = true }: { readonly allowsSoftware?: boolean } = {},
): Promise<GpuDevice> {
  // In browsers without WebGPU the property is missing, whatever the type says.
  const gpu = navigator.gpu as GPU | undefined;
  if (!gpu)
    throw globalThis.isSecureContext
      ? noWebGpuAdapter('this browser has no navigator.gpu')
      : webGpuNeedsSecurePage();
  const adapter = await requestAdapter(gpu);
  if (!adapter) throw noWebGpuAdapter('the browser found no GPU adapter');
  const adapterName = describeAdapter(adapter.info);
  const isSoftwareAdapter = isSoftware(adapter.info);
  if (isSoftwareAdapter && !allowsSoftware)
    throw new RungUnavailableError(
      `The only GPU adapter, ${adapterName}, computes on the CPU, where our own kernels are faster`,
    );
  if (precision === 'fp16' && !adapter.features.has('shader-f16'))
    throw new RungUnavailableError("fp16 isn't available: the GPU adapter has no shader-f16");
  const device = await requestFrom(adapter, precision === 'fp16' ? ['shader-f16'] : []);
  return {
    device,
    adapterName,
    isSoftwareAdapter,
    hasShaderF16: device.features.has('shader-f16'),
  };
}

async function requestAdapter(gpu: GPU): Promise<GPUAdapter | null> {
  try {
    return await orHang(gpu.requestAdapter({ powerPreference: 'high-performance' }), PATIENCE_MS);
  } catch (cause) {
    if (!(cause instanceof StepHangError)) throw cause;
    throw noWebGpuAdapter('the browser gave no answer about a GPU adapter');
  }
}

/**
 * @param requiredFeatures Never `subgroups`. With it onnxruntime-web 1.30 prefills 32 tokens or more with a shader that gives
 * wrong logits and no error in two cases: on subgroups of less than 8 lanes, and on Dawn with Vulkan (seen in Chromium 156),
 * which does not zero a variable that is declared in a loop.
 */
async function requestFrom(adapter: GPUAdapter, requiredFeatures: GPUFeatureName[]): Promise<GPUDevice> {
  const requiredLimits = Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]]));
  try {
    return await orHang(adapter.requestDevice({ requiredFeatures, requiredLimits }), PATIENCE_MS);
  } catch (cause) {
    throw new RungUnavailableError(`The GPU adapter gave no device (${String(cause)})`, { cause });
  }
}

function describeAdapter({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  return description || [vendor, architecture, device].filter(Boolean).join(' ') || 'unnamed GPU';
}
