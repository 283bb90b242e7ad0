import { chooseDevice, type DeviceChoice } from '../../src/worker/runtime/create-backend.ts';

/** `webgpu-as-hardware` treats a software adapter as a GPU, so that the code for GPUs is tested without one. */
export type ProbeBackend = 'webgpu' | 'webgpu-as-hardware' | 'wasm';

export async function chooseProbeDevice(backend: ProbeBackend): Promise<DeviceChoice> {
  if (backend !== 'webgpu-as-hardware') return chooseDevice(backend);
  const device = await chooseDevice('webgpu');
  return 'gpu' in device ? { ...device, gpu: { ...device.gpu, isSoftwareAdapter: false } } : device;
}
