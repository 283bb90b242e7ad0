import type { InferenceSession } from 'onnxruntime-web/jspi';
import type { AttentionKind } from '../../models/onnx/graph-builder.ts';
import { WEIGHTS_LOCATION } from '../../models/onnx/graph-weights.ts';
import { writeGraph } from '../../models/onnx/write-graph.ts';
import type { PackedModel } from '../model-backend.ts';
import { ortMutex, type OrtModule } from './ort.ts';
import { GpuError } from '../faults/runtime-errors.ts';

/** onnxruntime's severity 3. At 2, it warns about every graph that computes shapes on the CPU, as ours should. */
const ERRORS_ONLY = 3;

/** Writes a model's graph and makes a session of it. @throws GpuError. */
export async function createSession(
  ort: OrtModule,
  { model, packed, weights }: PackedModel,
  attention: AttentionKind,
  gpu: GPUDevice,
): Promise<InferenceSession> {
  const graph = writeGraph(model.program, {
    layout: packed,
    maxBindingBytes: gpu.limits.maxStorageBufferBindingSize,
    contextLength: model.config.contextLength,
    attention,
  });
  const data = await weights.bytes();
  const create = (): Promise<InferenceSession> =>
    ort.InferenceSession.create(graph, {
      // A generator's outputs are pre-allocated. With preferredOutputLocation, one failed run would leave the session unusable.
      executionProviders: [{ name: 'webgpu', device: gpu, validationMode: 'wgpuOnly' }],
      externalData: [{ path: WEIGHTS_LOCATION, data }],
      logSeverityLevel: ERRORS_ONLY,
    });
  return ortMutex.run(() => inErrorScope(gpu, create));
}

const FILTERS: readonly GPUErrorFilter[] = ['internal', 'out-of-memory', 'validation'];

/**
 * Runs the work that loads a model. Errors of the GPU are then the load's, and not those of the models that serve on the same
 * device.
 *
 * @throws GpuError, or the error of the work.
 */
async function inErrorScope<Result>(device: GPUDevice, work: () => Promise<Result>): Promise<Result> {
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
