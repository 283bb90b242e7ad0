import { NoWebGpuAdapterError, RungUnavailableError, StepHangError } from '../../protocol/errors/runtime.ts';
import { orHang } from '../or-hang.ts';

export interface GpuDevice {
  readonly device: GPUDevice;
  /** As the driver names it, for people. */
  readonly adapterName: string;
  /** SwiftShader, llvmpipe, WARP: WebGPU computed on the CPU. */
  readonly isSoftwareAdapter: boolean;
  readonly hasShaderF16: boolean;
}

/** The process that the browser starts for it takes seconds, and on a loaded machine many. */
const PATIENCE_MS = 180_000;

/** Raised to the adapter's own: the defaults are below what a real checkpoint's tensors need. */
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
 * Asks for a device of our own: one that onnxruntime-web makes by itself dies with its last session.
 *
 * @param precision What it has to compute in; left out, fp16 where the adapter can.
 * @throws NoWebGpuAdapterError where the browser has no WebGPU or no adapter, or does not say.
 * @throws RungUnavailableError where the adapter does not compute in fp16, which was asked for, or refuses a device.
 */
export async function requestGpuDevice(precision?: 'fp16' | 'fp32'): Promise<GpuDevice> {
  // In browsers without WebGPU the property is missing, whatever the type says.
  const gpu = navigator.gpu as GPU | undefined;
  if (!gpu) throw NoWebGpuAdapterError.because('this browser does not offer navigator.gpu');
  const adapter = await requestAdapter(gpu);
  if (!adapter) throw NoWebGpuAdapterError.because('the browser found no GPU adapter');
  if (precision === 'fp16' && !adapter.features.has('shader-f16'))
    throw new RungUnavailableError('This GPU adapter does not offer shader-f16');
  const device = await requestFrom(adapter, precision === 'fp32' ? [] : chooseFeatures(adapter));
  return {
    device,
    adapterName: describeAdapter(adapter.info),
    isSoftwareAdapter: isSoftware(adapter.info),
    hasShaderF16: device.features.has('shader-f16'),
  };
}

async function requestAdapter(gpu: GPU): Promise<GPUAdapter | null> {
  try {
    return await orHang(gpu.requestAdapter({ powerPreference: 'high-performance' }), PATIENCE_MS);
  } catch (cause) {
    if (!(cause instanceof StepHangError)) throw cause;
    throw NoWebGpuAdapterError.because('the browser does not answer when it is asked for a GPU adapter');
  }
}

async function requestFrom(adapter: GPUAdapter, requiredFeatures: GPUFeatureName[]): Promise<GPUDevice> {
  const requiredLimits = Object.fromEntries(RAISED_LIMITS.map((name) => [name, adapter.limits[name]]));
  try {
    return await orHang(adapter.requestDevice({ requiredFeatures, requiredLimits }), PATIENCE_MS);
  } catch (cause) {
    throw new RungUnavailableError(`This GPU adapter gave no device (${String(cause)})`, { cause });
  }
}

/**
 * Never `subgroups`: with it onnxruntime-web 1.30 prefills 32 tokens or more with a shader that expects a variable
 * declared in a loop to be zero in each pass, which Dawn on Vulkan does not do (seen in Chromium 156), and that expects
 * subgroups of 8 lanes or more. Both give wrong logits and no error.
 */
function chooseFeatures(adapter: GPUAdapter): GPUFeatureName[] {
  return adapter.features.has('shader-f16') ? ['shader-f16'] : [];
}

function describeAdapter({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  return description || [vendor, architecture, device].filter(Boolean).join(' ') || 'unnamed GPU';
}

function isSoftware(info: GPUAdapterInfo): boolean {
  const names = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|warp|basic render/.test(names);
}
