import { CpuEncoder } from '../../cpu/cpu-encoder.ts';
import type { RuntimeLimits } from '../../models/checkpoint/device-fit.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import type { EncoderBackend } from '../encoder-backend.ts';
import { OrtEncoder } from '../encoder/ort-encoder.ts';
import type { ModelBackend, PackedModel } from '../model-backend.ts';
import { loadOrt } from '../ort/ort.ts';
import type { Runtime, RuntimeInfo } from '../runtime.ts';
import type { GpuDevice } from './gpu-device.ts';
import { gpuLimits } from './gpu-limits.ts';
import { WebGpuBackend } from './webgpu-backend.ts';

/**
 * Weights of an encoder that are kept on the CPU as well as on the GPU, in bytes: those of small models, for which the CPU is
 * faster where a batch is small.
 */
const MAX_BYTES_ON_BOTH = 2 ** 28;

/** onnxruntime-web on a GPU. */
export class WebGpuRuntime implements Runtime {
  readonly gpu: GpuDevice;
  readonly isChecked = true;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
  }

  describe(): RuntimeInfo {
    const { adapterName: adapter, isSoftwareAdapter } = this.gpu;
    return { name: 'webgpu', adapter, ...(isSoftwareAdapter && { isSoftwareAdapter }) };
  }

  get limits(): RuntimeLimits {
    const { hasShaderF16, device } = this.gpu;
    const { maxBufferSize, maxStorageBufferBindingSize } = device.limits;
    return gpuLimits({ hasShaderF16, maxBufferSize, maxStorageBufferBindingSize });
  }

  get lost(): Promise<unknown> {
    return this.gpu.device.lost;
  }

  createGenerator(model: PackedModel): Promise<ModelBackend> {
    return WebGpuBackend.create({ gpu: this.gpu, ...model });
  }

  /** On the CPU too if that is exact: with float16 on the GPU, the vector of a text would depend on where its batch runs. */
  async createEncoders(model: PackedModel, encoder: EncoderConfig): Promise<readonly EncoderBackend[]> {
    const main = await OrtEncoder.create(await loadOrt(), model, encoder, this.gpu.device);
    const { precision, dtype, size } = model.packed;
    const isExact = precision === 'float32' && dtype === 'fp32';
    if (!isExact || size > MAX_BYTES_ON_BOTH) return [main];
    return [main, await CpuEncoder.create(model, encoder)];
  }
}
