import type { BackendInfo, Dtype } from '../../protocol/models.ts';
import type { RuntimeLimits } from '../models/checkpoint/device-fit.ts';
import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { EncoderBackend } from './encoder-backend.ts';
import type { ModelBackend, PackedModel } from './model-backend.ts';

export type RuntimeInfo = Pick<BackendInfo, 'name' | 'adapter' | 'isSoftwareAdapter'>;

/** One device: it makes the backends of generators and of encoders. Only the choice of a rung knows its kind. */
export interface Runtime {
  /** How users see it run weights of this dtype, once a model is there. */
  describe(dtype: Dtype): RuntimeInfo;
  readonly limits: RuntimeLimits;
  /** Resolves when the device is lost; left out for a CPU. */
  readonly lost?: Promise<unknown>;
  /** Whether a driver computes: the first model of each kind is then compared with known values. */
  readonly isChecked: boolean;
  /** Once it resolves, the weights are no longer read. @throws GpuError, StepHangError. */
  createGenerator(model: PackedModel): Promise<ModelBackend>;
  /** Two where another one may be faster for small batches, and their vectors differ by rounding alone. @throws As `createGenerator`. */
  createEncoders(model: PackedModel, encoder: EncoderConfig): Promise<readonly EncoderBackend[]>;
}
