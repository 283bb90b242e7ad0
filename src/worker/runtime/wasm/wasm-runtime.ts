import type { RuntimeLimits } from '../../models/checkpoint/device-fit.ts';
import { asInt8 } from '../../models/checkpoint/int8-weights.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import type { EncoderBackend } from '../encoder/encoder-backend.ts';
import { OrtEncoder } from '../encoder/ort-encoder.ts';
import type { ModelBackend, PackedModel } from '../model-backend.ts';
import { loadOrt, type OrtModule } from '../ort/ort.ts';
import type { Runtime } from '../runtime.ts';
import { WasmBackend } from './wasm-backend.ts';

/** onnxruntime-web on the CPU. */
export class WasmRuntime implements Runtime {
  readonly numThreads: number;
  readonly isChecked = false;
  readonly limits: RuntimeLimits = { kind: 'wasm' };

  /** @param numThreads More than one needs a cross-origin isolated page. */
  constructor(numThreads: number) {
    this.numThreads = numThreads;
  }

  get info(): Runtime['info'] {
    const { numThreads } = this;
    return { name: 'wasm', adapter: `CPU, ${numThreads} thread${numThreads === 1 ? '' : 's'}` };
  }

  async createGenerator(model: PackedModel): Promise<ModelBackend> {
    return WasmBackend.create(await this.#load(), { ...model, ...asInt8(model) });
  }

  async createEncoders(model: PackedModel, encoder: EncoderConfig): Promise<readonly EncoderBackend[]> {
    return [await OrtEncoder.create(await this.#load(), { ...model, ...asInt8(model) }, encoder)];
  }

  async #load(): Promise<OrtModule> {
    const ort = await loadOrt('wasm');
    ort.env.wasm.numThreads = this.numThreads;
    return ort;
  }
}
