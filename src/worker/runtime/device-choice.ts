import type { Rung } from '../../protocol/ladder.ts';
import type { BackendInfo, Dtype } from '../../protocol/models.ts';
import type { ServingModel } from '../models/checkpoint/device-fit.ts';
import type { Runtime } from './runtime.ts';

/** The rung to run on. */
export interface DeviceChoice {
  readonly rung: Rung;
  readonly runtime: Runtime;
  /** Why no higher rung is used; empty on the highest. */
  readonly fallbackReason: string;
  /** The models that serve on it. */
  readonly serving?: readonly ServingModel[];
  /** Whether another worker runs the same model, so that this one has half of the memory. */
  readonly isTrial?: boolean | undefined;
}

/** @param precision How the weights are stored. */
export function describeBackend(
  { rung, runtime, fallbackReason }: DeviceChoice,
  precision: Dtype,
): BackendInfo {
  return { ...runtime.describe(precision), rung, precision, fallbackReason };
}
