import { systemClock } from '../../../batching/base/clock.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import type { Model } from '../../models/family.ts';
import { hasFloat16 } from '../../models/checkpoint/model-plan.ts';
import { stampOf } from '../../models/formats/checkpoint-files.ts';
import type { ModelFolder, ModelManifest } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { importPart } from '../../base/import-part.ts';
import { LOCAL_OWNER } from '../../../protocol/bridge-names.ts';
import type { DtypeChoice, StoredSource } from '../../../protocol/models.ts';
import type { LoadJob } from './load-job.ts';

type HubSource = Extract<StoredSource, { type: 'hub' }>;

/**
 * Stores a model, unless it is stored already.
 *
 * @param accept Throws for a model that is not wanted, before it is stored.
 */
export async function obtainModel(
  source: StoredSource,
  dtype: DtypeChoice,
  device: DeviceLimits,
  store: ModelStore,
  job: LoadJob,
  accept: (model: Model) => void = () => {},
): Promise<ModelFolder> {
  const options = { store, dtype, device, clock: systemClock, report: job.report, accept };
  const stored = await findStored(source, dtype, device, store);
  if (stored) return stored;
  const { fetchHubModel, importModel } = await importFetching();
  if (source.type === 'files')
    return job.attempt((signal) => importModel(source.name, source.files, { ...options, signal }));
  const folder = await job.attempt((signal) => fetchHubModel(source, { ...options, signal }));
  if (source.id.startsWith(`${LOCAL_OWNER}/`)) await deleteOthers(source, store);
  return folder;
}

/** Files of the server's disk that have changed are another revision, and the copy of the one before is of no use. */
async function deleteOthers({ hub, id, revision }: HubSource, store: ModelStore): Promise<void> {
  for (const { key, manifest } of await store.folders())
    if (manifest.hub === hub && manifest.id === id && manifest.revision !== revision) await store.delete(key);
}

/** The stored model that a load would yield. */
export async function findStored(
  source: StoredSource,
  dtype: DtypeChoice,
  device: DeviceLimits,
  store: ModelStore,
): Promise<ModelFolder | undefined> {
  return (await store.folders()).find((folder) => isWanted(folder, source, dtype, device));
}

/** A model that is stored, in whatever precision. */
export async function findStoredInAny(
  source: StoredSource,
  store: ModelStore,
): Promise<ModelFolder | undefined> {
  return (await store.folders()).find(({ manifest }) => isFrom(manifest, source));
}

function isWanted(
  { manifest }: ModelFolder,
  source: StoredSource,
  dtype: DtypeChoice,
  device: DeviceLimits,
): boolean {
  const { packed, dtypeChoice, hadFloat16 } = manifest;
  const isFloat16 = hasFloat16(device);
  const runsHere = packed.precision === 'float32' || isFloat16;
  // The model was stored on a device without fp16. Here, `auto` would choose a better precision.
  const isBest = dtypeChoice === 'auto' && (hadFloat16 || !isFloat16);
  const hasDtype = dtype === 'auto' ? isBest : packed.dtype === dtype;
  return runsHere && hasDtype && isFrom(manifest, source);
}

function isFrom({ hub, id, revision, commit }: ModelManifest, source: StoredSource): boolean {
  if (source.type === 'files') return hub === '' && id === source.name && commit === stampOf(source.files);
  return hub === source.hub && id === source.id && revision === source.revision;
}

/** Imported on demand, because a stored model needs neither the hub nor a digest. */
function importFetching() {
  return importPart(() => import('../../models/hub/fetch-model.ts'));
}
