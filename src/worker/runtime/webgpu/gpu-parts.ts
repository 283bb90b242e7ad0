import type { InferenceSession } from 'onnxruntime-web/jspi';
import { GpuSampler } from '../gpu-sampler/gpu-sampler.ts';
import type { PackedModel } from '../model-backend.ts';
import { createSession } from '../ort/create-session.ts';
import { loadOrt, type OrtModule } from '../ort/ort.ts';
import { orHang } from '../faults/step-watchdog.ts';
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

/** @throws StepHangError if creating a part hangs. */
export async function createGpuParts(options: WebGpuBackendOptions): Promise<GpuParts> {
  const { gpu, model } = options;
  const ort = await loadOrt();
  const sampler = orHang(GpuSampler.create(gpu.device, model.config.vocabSize), PIPELINE_PATIENCE_MS);
  // Awaited after the session; until then a failure must not count as an unhandled rejection.
  sampler.catch(() => {});
  const session = await orHang(createSession(ort, options, 'fused', gpu.device), SESSION_PATIENCE_MS);
  return { ort, session, sampler: await sampler };
}
