import { ModelTooLargeError, UnsupportedDtypeError } from '../../../protocol/errors/model.ts';
import {
  DTYPES,
  isFetched,
  modelNameOf,
  type ModelSource,
  type PrecisionPlan,
} from '../../../protocol/models.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { chooseDtype, planModel } from '../../models/checkpoint/model-plan.ts';
import { deploymentOf } from '../../models/encoder/encoder-config.ts';
import type { Model } from '../../models/family.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { describeModel } from './describe-model.ts';
import { checkDeployment, checkServes } from './example-models.ts';
import { findStored, findStoredInAny } from './obtain-model.ts';

/**
 * Says what a model takes in each precision. Its weights are not fetched.
 *
 * @throws What `load-model` throws where the model can't be read or serves another deployment.
 */
export async function planPrecisions(
  { source, deployment }: { readonly source: ModelSource; readonly deployment?: string | undefined },
  device: DeviceLimits,
  store: ModelStore,
): Promise<readonly PrecisionPlan[]> {
  if (deployment !== undefined) checkDeployment(deployment);
  const stored = isFetched(source) ? undefined : await findStoredInAny(source, store);
  const model = await leavingNothing(store, source, () =>
    describeModel(source, stored, store, new AbortController().signal),
  );
  checkServes(modelNameOf(source), deploymentOf(model.encoder), deployment);
  const auto = chooseDtype(model, 'auto', device).plan.layout.dtype;
  return Promise.all(
    DTYPES.map(async (dtype) => ({
      dtype,
      isAuto: dtype === auto,
      ...planOf(model, dtype, device),
      isStored: isFetched(source) || (await findStored(source, dtype, device, store)) !== undefined,
    })),
  );
}

/** The small files of a model that was only looked at don't stay, as those of a download do. */
async function leavingNothing<Result>(
  store: ModelStore,
  source: ModelSource,
  read: () => Promise<Result>,
): Promise<Result> {
  if (source.type !== 'hub') return read();
  const keys = async () =>
    (await store.list()).filter(({ id, dtype }) => id === source.id && !dtype).map(({ key }) => key);
  const before = new Set(await keys());
  try {
    return await read();
  } finally {
    for (const key of await keys()) if (!before.has(key)) await store.delete(key);
  }
}

function planOf(
  model: Model,
  dtype: PrecisionPlan['dtype'],
  device: DeviceLimits,
): Pick<PrecisionPlan, 'memoryBytes' | 'obstacle'> {
  try {
    return { memoryBytes: planModel({ model }, dtype, device).deviceBytes, obstacle: '' };
  } catch (error) {
    if (!(error instanceof ModelTooLargeError || error instanceof UnsupportedDtypeError)) throw error;
    return { memoryBytes: 0, obstacle: error.message };
  }
}
