import type { InferenceSession } from 'onnxruntime-web/jspi';
import { WEIGHTS_LOCATION } from '../../models/onnx/graph-weights.ts';
import { writeGraph } from '../../models/onnx/write-graph.ts';
import { GpuSampler } from '../gpu-sampler/gpu-sampler.ts';
import type { PackedModel } from '../model-backend.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort/ort.ts';
import { orHang } from '../faults/step-watchdog.ts';
import { inErrorScope } from './error-scope.ts';
import type { GpuDevice } from './gpu-device.ts';

export interface WebGpuBackendOptions extends PackedModel {
  readonly gpu: Pick<GpuDevice, 'device'>;
}

/** The parts of a backend that take seconds to create, because they compile. */
export interface GpuParts {
  readonly ort: OrtModule;
  readonly session: InferenceSession;
  readonly sampler: GpuSampler;
}

/** A pipeline takes a minute on a software adapter of a loaded machine. */
const PIPELINE_PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime, 17 MB uncompressed, over any network. */
const SESSION_PATIENCE_MS = 1_800_000;

/** onnxruntime's severity 3. At 2, it warns about every graph that computes shapes on the CPU, as ours should. */
const ERRORS_ONLY = 3;

/** @throws StepHangError if creating a part hangs. */
export async function createGpuParts(options: WebGpuBackendOptions): Promise<GpuParts> {
  const { gpu, model } = options;
  const ort = await loadOrt('webgpu');
  const sampler = orHang(GpuSampler.create(gpu.device, model.config.vocabSize), PIPELINE_PATIENCE_MS);
  // Awaited after the session; until then a failure must not count as an unhandled rejection.
  sampler.catch(() => {});
  const session = await orHang(createSession(ort, options), SESSION_PATIENCE_MS);
  return { ort, session, sampler: await sampler };
}

function createSession(
  ort: OrtModule,
  { gpu, model, packed, weights }: WebGpuBackendOptions,
): Promise<InferenceSession> {
  const graph = writeGraph(model.program, {
    layout: packed,
    maxBindingBytes: gpu.device.limits.maxStorageBufferBindingSize,
    contextLength: model.config.contextLength,
    attention: 'fused',
  });
  return ortMutex.run(() =>
    inErrorScope(gpu.device, () =>
      ort.InferenceSession.create(graph, {
        // Outputs are pre-allocated. With preferredOutputLocation, one failed run would leave the session unusable.
        executionProviders: [{ name: 'webgpu', device: gpu.device, validationMode: 'wgpuOnly' }],
        externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
        logSeverityLevel: ERRORS_ONLY,
      }),
    ),
  );
}
