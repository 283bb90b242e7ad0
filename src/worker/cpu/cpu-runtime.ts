import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { EncoderBackend } from '../runtime/encoder/encoder-backend.ts';
import type { ModelBackend, PackedModel } from '../runtime/model-backend.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { CpuBackend } from './cpu-backend.ts';
import { CpuEncoder } from './cpu-encoder.ts';
import { CPU_LIMITS } from './cpu-limits.ts';

/** Our kernels on the CPU. */
export class CpuRuntime implements Runtime {
  readonly numThreads: number;
  readonly isChecked = false;
  readonly limits = CPU_LIMITS;

  /** @param numThreads More than one needs a cross-origin isolated page. */
  constructor(numThreads: number) {
    this.numThreads = numThreads;
  }

  get info(): Runtime['info'] {
    const { numThreads } = this;
    return { name: 'wasm', adapter: `CPU, ${numThreads} thread${numThreads === 1 ? '' : 's'}` };
  }

  createGenerator(model: PackedModel): Promise<ModelBackend> {
    return CpuBackend.create(model, this.numThreads);
  }

  async createEncoders(model: PackedModel, encoder: EncoderConfig): Promise<readonly EncoderBackend[]> {
    return [await CpuEncoder.create(model, encoder, this.numThreads)];
  }
}
