import type { ReportProgress } from './load-model.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { gpuWrongValues } from '../../../protocol/errors/runtime-messages.ts';
import { StepHangError } from '../../runtime/faults/runtime-errors.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { findWrongValuesOf } from '../../runtime/gpu-check/gpu-check.ts';
import { ortInUse } from '../../runtime/ort/ort.ts';
import { orHang } from '../../runtime/faults/step-watchdog.ts';

/** Raise this with each change of the reference or of the computation, so that GPUs are checked again. */
const CHECK_VERSION = 5;

/** A software adapter on a busy machine compiles for a minute. */
const PATIENCE_MS = 300_000;

/**
 * Before the first model of its kind serves on a GPU, compares the GPU's results with known values. The model is loaded by then, so
 * that both share their compiled shaders. Only a passed check is remembered, since a new driver may fix a failed one.
 *
 * @throws GpuWrongValuesError, StepHangError, or the error of a step. The model is then released, except after a hang.
 */
export async function checkGpu(
  { backend, checkedAs }: LoadedModel,
  { runtime }: DeviceChoice,
  openedStore: Promise<ModelStore>,
  report: ReportProgress,
): Promise<void> {
  if (!runtime.isChecked) return;
  // Without storage, each worker checks the GPU.
  const store = await openedStore.catch(() => undefined);
  const { modelType, dtype, precision } = checkedAs;
  const { env } = await ortInUse();
  const gpu = [
    runtime.describe(dtype).adapter,
    navigator.userAgent,
    `onnxruntime-web ${env.versions.web}`,
    `${modelType} ${dtype} ${precision}`,
    `check ${CHECK_VERSION}`,
  ].join(' | ');
  if (await store?.isChecked(gpu).catch(() => false)) return;
  try {
    const check = findWrongValuesOf(runtime, checkedAs, (loaded, total) =>
      report({ phase: 'check', loaded, total }),
    );
    const where = await orHang(check, PATIENCE_MS);
    if (where !== undefined) throw gpuWrongValues(precision, where);
  } catch (error) {
    // After a hang, the release would wait forever.
    if (!(error instanceof StepHangError)) await backend.release();
    throw error;
  }
  await store?.noteChecked(gpu).catch(() => {});
}
