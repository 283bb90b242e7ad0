import type { InferenceSession } from 'onnxruntime-web/webgpu';
import type { AttentionKind } from '../../models/graph/model-graph.ts';
import { WEIGHTS_LOCATION } from '../../models/graph/graph-weights.ts';
import { GpuSampler } from '../gpu-sampler/gpu-sampler.ts';
import type { ForwardTarget, PackedModel } from '../model-backend.ts';
import { loadOrt, ortMutex, type OrtModule } from '../ort.ts';
import { orHang } from '../step-watchdog.ts';
import type { GpuDevice } from './gpu-device.ts';
import { KvAppender } from './kv-appender.ts';

export interface WebGpuBackendOptions extends PackedModel {
  readonly gpu: Pick<GpuDevice, 'device' | 'isSoftwareAdapter'>;
}

/** The parts of a backend that take seconds to create, because they compile. */
export interface GpuParts {
  readonly ort: OrtModule;
  /**
   * One session for both targets, or two that each hold the weights: on a software adapter, fused attention is faster for prompts
   * (`staging`) but slower for decode steps (`slots`).
   */
  readonly sessions: Readonly<Record<ForwardTarget, InferenceSession>>;
  readonly sampler: GpuSampler;
  /** `undefined` if attention is fused for the slots too: fused attention writes into the cache itself. */
  readonly appender: KvAppender | undefined;
}

/** A pipeline takes a minute on a software adapter of a loaded machine. */
const PIPELINE_PATIENCE_MS = 300_000;
/** The first session waits for the download of the runtime, 27 MB uncompressed, over any network. */
const SESSION_PATIENCE_MS = 1_800_000;

/** Threads that sample one row. A software adapter runs them one after the other and pays for each at every barrier. */
const SAMPLER_WORKGROUP_SIZE = { hardware: 256, software: 16 } as const;

/** onnxruntime's severity 3. At 2, it warns about every graph that computes shapes on the CPU, as ours should. */
const ERRORS_ONLY = 3;

/** @throws StepHangError if creating a part hangs. */
export async function createGpuParts(options: WebGpuBackendOptions): Promise<GpuParts> {
  const { device, isSoftwareAdapter } = options.gpu;
  const { config } = options.model;
  const ort = await loadOrt('webgpu');
  const workgroupSize = SAMPLER_WORKGROUP_SIZE[isSoftwareAdapter ? 'software' : 'hardware'];
  const isFused = !isSoftwareAdapter || options.packed.precision === 'float16';
  const pipelines = orHang(
    Promise.all([
      GpuSampler.create(device, config.vocabSize, workgroupSize),
      isFused ? undefined : KvAppender.create(device, config),
    ]),
    PIPELINE_PATIENCE_MS,
  );
  // Awaited after the session; until then a failure must not count as an unhandled rejection.
  pipelines.catch(() => {});
  const staging = await orHang(createSession(ort, options, 'fused'), SESSION_PATIENCE_MS);
  const slots = isFused
    ? staging
    : await orHang(createSession(ort, options, 'products-on-software-gpu'), SESSION_PATIENCE_MS);
  const [sampler, appender] = await pipelines;
  return { ort, sessions: { staging, slots }, sampler, appender };
}

function createSession(
  ort: OrtModule,
  { gpu, model, packed, weights }: WebGpuBackendOptions,
  attention: AttentionKind,
): Promise<InferenceSession> {
  const graph = model.buildGraph({
    layout: packed,
    maxBindingBytes: gpu.device.limits.maxStorageBufferBindingSize,
    contextLength: model.config.contextLength,
    attention,
  });
  return ortMutex.run(() =>
    ort.InferenceSession.create(graph, {
      // Outputs are pre-allocated. With preferredOutputLocation, one failed run would leave the session unusable.
      executionProviders: [{ name: 'webgpu', device: gpu.device, validationMode: 'wgpuOnly' }],
      externalData: [{ path: WEIGHTS_LOCATION, data: weights }],
      logSeverityLevel: ERRORS_ONLY,
    }),
  );
}
