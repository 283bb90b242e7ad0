import { fastestVariant } from '../../cpu/kernels/load-kernels.ts';
import { measureMemory } from '../../cpu/kernels/memory-rate.ts';
import type { DeviceCheck } from '../../../protocol/device-check.ts';
import { findWrongValuesOf, hasKnownValues } from '../../runtime/gpu-check/gpu-check.ts';
import type { CheckedModel } from '../../runtime/loaded-model.ts';
import type { Runtime } from '../../runtime/runtime.ts';

const MEASURED_MS = 100;

/**
 * Holds any device against known values, as a GPU is at its first start, and measures the memory.
 *
 * @throws RuntimeLostError if a step fails.
 */
export async function checkDevice(
  runtime: Pick<Runtime, 'createGenerator'>,
  model: CheckedModel,
): Promise<DeviceCheck> {
  const bytesPerSecond = await measureMemory(await fastestVariant(), MEASURED_MS);
  if (!(await hasKnownValues(model))) return { values: 'unknown', where: '', bytesPerSecond };
  const where = await findWrongValuesOf(runtime, model, () => {});
  return where === undefined
    ? { values: 'right', where: '', bytesPerSecond }
    : { values: 'wrong', where, bytesPerSecond };
}
