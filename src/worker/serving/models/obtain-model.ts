import { systemClock } from '../../../batching/base/clock.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { hasFloat16 } from '../../models/checkpoint/model-plan.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { importPart } from '../../base/import-part.ts';
import { LOCAL_OWNER } from '../../../protocol/bridge-names.ts';
import type { DtypeChoice, FetchedSource, ModelSource } from '../../../protocol/models.ts';
import type { LoadJob } from './load-job.ts';

type HubSource = Extract<ModelSource, { type: 'hub' }>;

/** Stores a model, unless it is stored already. */
export async function obtainModel(
  source: Exclude<ModelSource, FetchedSource>,
  dtype: DtypeChoice,
  device: DeviceLimits,
  store: ModelStore,
  job: LoadJob,
): Promise<ModelFolder> {
  const options = { store, dtype, device, clock: systemClock, report: job.report };
  if (source.type === 'files') {
    const { importModel } = await importFetching();
    return job.attempt((signal) => importModel(source.name, source.files, { ...options, signal }));
  }
  const stored = await findStored(source, dtype, device, store);
  if (stored) return stored;
  const { fetchHubModel } = await importFetching();
  const folder = await job.attempt((signal) => fetchHubModel(source, { ...options, signal }));
  if (source.id.startsWith(`${LOCAL_OWNER}/`)) await deleteOthers(source, store);
  return folder;
}

/** Files of the server's disk that have changed are another revision, and the copy of the one before is of no use. */
async function deleteOthers({ hub, id, revision }: HubSource, store: ModelStore): Promise<void> {
  for (const { key, manifest } of await store.folders())
    if (manifest.hub === hub && manifest.id === id && manifest.revision !== revision) await store.delete(key);
}

/** The stored model that a load from the hub would yield. */
export async function findStored(
  source: HubSource,
  dtype: DtypeChoice,
  device: DeviceLimits,
  store: ModelStore,
): Promise<ModelFolder | undefined> {
  return (await store.folders()).find((folder) => isWanted(folder, source, dtype, device));
}

/** Whether a load from the hub would yield this stored model. */
function isWanted(
  { manifest }: ModelFolder,
  { hub, id, revision }: HubSource,
  dtype: DtypeChoice,
  device: DeviceLimits,
): boolean {
  const { packed, dtypeChoice, hadFloat16 } = manifest;
  const isFloat16 = hasFloat16(device);
  const runsHere = packed.precision === 'float32' || isFloat16;
  // The model was stored on a device without fp16. Here, `auto` would choose a better precision.
  const isBest = dtypeChoice === 'auto' && (hadFloat16 || !isFloat16);
  const hasDtype = dtype === 'auto' ? isBest : packed.dtype === dtype;
  return runsHere && hasDtype && manifest.hub === hub && manifest.id === id && manifest.revision === revision;
}

/** Imported on demand, because a stored model needs neither the hub nor a digest. */
function importFetching() {
  return importPart(() => import('../../models/hub/fetch-model.ts'));
}
