import { systemClock } from '../../../batching/base/clock.ts';
import { isFetched, type ModelSource } from '../../../protocol/models.ts';
import { importPart } from '../../base/import-part.ts';
import { readModelFiles } from '../../models/checkpoint/open-checkpoint.ts';
import { servedFiles } from '../../models/checkpoint/served-files.ts';
import { readModel } from '../../models/families/families.ts';
import type { Model } from '../../models/family.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { addressOfFile } from './load-model.ts';

/**
 * Reads what a model is. Its weights are not fetched.
 *
 * @param stored Where it is on this device.
 */
export async function describeModel(
  source: ModelSource,
  stored: ModelFolder | undefined,
  store: ModelStore,
  signal: AbortSignal,
): Promise<Model> {
  if (stored) {
    const { config, generationConfig } = await stored.readTexts();
    return readModel(config, generationConfig);
  }
  if (isFetched(source)) {
    const { model } = await readModelFiles(servedFiles(addressOfFile(source), () => {}));
    return model;
  }
  const { readHubModel, readPickedModel } = await importPart(() => import('../../models/hub/fetch-model.ts'));
  const { model } = await (source.type === 'files'
    ? readPickedModel(source.files)
    : readHubModel(source, { store, clock: systemClock, signal }));
  return model;
}
