import type { Rung } from '../../protocol/ladder.ts';
import type { BackendInfo, Dtype } from '../../protocol/models.ts';
import type { ServingModel } from '../models/checkpoint/device-fit.ts';
import type { GpuDevice } from './webgpu/gpu-device.ts';

/** The rung to run on, with its device or its threads. */
export type DeviceChoice = {
  readonly rung: Rung;
  /** Why no higher rung is used; empty on the highest. */
  readonly fallbackReason: string;
  /** The models that serve on it. */
  readonly serving?: readonly ServingModel[];
} & Device;

export type Device = { readonly gpu: GpuDevice } | { readonly numThreads: number };

/** @param precision How the weights are stored. */
export function describeBackend(device: DeviceChoice, precision: Dtype): BackendInfo {
  const { rung, fallbackReason } = device;
  const shared = { rung, precision, fallbackReason };
  if ('gpu' in device) {
    const { adapterName: adapter, isSoftwareAdapter } = device.gpu;
    return { ...shared, name: 'webgpu', adapter, ...(isSoftwareAdapter && { isSoftwareAdapter }) };
  }
  const { numThreads } = device;
  return { ...shared, name: 'wasm', adapter: `CPU, ${numThreads} thread${numThreads === 1 ? '' : 's'}` };
}
