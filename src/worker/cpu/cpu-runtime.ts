import type { Dtype } from '../../protocol/models.ts';
import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { EncoderBackend } from '../runtime/encoder-backend.ts';
import type { ModelBackend, PackedModel } from '../runtime/model-backend.ts';
import type { Runtime, RuntimeInfo } from '../runtime/runtime.ts';
import { CpuBackend } from './cpu-backend.ts';
import { CpuEncoder } from './cpu-encoder.ts';
import { CPU_LIMITS } from './cpu-limits.ts';
import type { KernelVariant } from './kernels/compile-kernels.ts';
import { fastestVariant } from './kernels/load-kernels.ts';

/** The form in which matrices are multiplied. */
const ENCODINGS: Readonly<Record<Dtype, string>> = { fp16: 'fp16', fp32: 'fp32', q8: 'int8', q4: '4 bits' };

/** The words for the kernels' modules. */
export const MODULE_NAMES: Readonly<Record<KernelVariant, string>> = {
  'relaxed-simd': 'relaxed SIMD',
  simd: 'plain SIMD',
};

/** Our kernels on the CPU. */
export class CpuRuntime implements Runtime {
  readonly numThreads: number;
  readonly isChecked = false;
  readonly limits = CPU_LIMITS;
  #variant: KernelVariant | undefined;

  /** @param numThreads More than one needs a cross-origin isolated page. */
  constructor(numThreads: number) {
    this.numThreads = numThreads;
    // Begins while the model is looked for. Whoever loads the kernels hears of a failure.
    fastestVariant().catch(() => {});
  }

  describe(dtype: Dtype): RuntimeInfo {
    const threads = `${this.numThreads} thread${this.numThreads === 1 ? '' : 's'}`;
    const module = this.#variant && MODULE_NAMES[this.#variant];
    return { name: 'wasm', adapter: ['CPU', ENCODINGS[dtype], module, threads].filter(Boolean).join(', ') };
  }

  async createGenerator(model: PackedModel): Promise<ModelBackend> {
    const backend = await CpuBackend.create(model, this.numThreads);
    this.#variant = await fastestVariant();
    return backend;
  }

  async createEncoders(model: PackedModel, encoder: EncoderConfig): Promise<readonly EncoderBackend[]> {
    const backend = await CpuEncoder.create(model, encoder, this.numThreads);
    this.#variant = await fastestVariant();
    return [backend];
  }
}
