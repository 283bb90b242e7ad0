import { findWrongValuesOf, type CheckedModel } from '../../src/worker/runtime/gpu-check/gpu-check.ts';
import { requestGpuDevice } from '../../src/worker/runtime/webgpu/gpu-device.ts';

/** @returns Where this GPU computes wrong values; '' where it computes right ones. */
export async function checkGpuFor(model: CheckedModel): Promise<string> {
  const { device } = await requestGpuDevice('fp32', { allowsSoftware: true });
  const where = await findWrongValuesOf(device, model, () => {});
  device.destroy();
  return where ?? '';
}
