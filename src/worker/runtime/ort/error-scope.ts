import { GpuError } from '../../../protocol/errors/runtime.ts';

const FILTERS: readonly GPUErrorFilter[] = ['internal', 'out-of-memory', 'validation'];

/**
 * Runs the work that loads a model. Errors of the GPU are then the load's, and not those of the models that serve on the same
 * device.
 *
 * @throws GpuError, or the error of the work.
 */
export async function inErrorScope<Result>(device: GPUDevice, work: () => Promise<Result>): Promise<Result> {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  let result: PromiseSettledResult<Result>;
  try {
    result = { status: 'fulfilled', value: await work() };
  } catch (reason) {
    result = { status: 'rejected', reason };
  }
  // It rejects if the device is lost, which is reported elsewhere.
  const errors = await Promise.all(FILTERS.map(() => device.popErrorScope().catch(() => null)));
  const error = errors.find((found) => found !== null);
  if (error) throw GpuError.of(error);
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
