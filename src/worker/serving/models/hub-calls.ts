import type { CallHandlers } from '../../../protocol/calls.ts';
import { importPart } from '../../base/import-part.ts';
import type { LoadParts } from './encoder-models.ts';

type HubCall = 'plan-model' | 'suggest-models' | 'list-gguf-files' | 'search-models';

/** Answers what models there are, and what they would take here. Nothing is loaded. */
export function createHubCalls({
  device,
  store,
}: Pick<LoadParts, 'device' | 'store'>): CallHandlers<HubCall> {
  return {
    'plan-model': async (request) => {
      const { planPrecisions } = await importPart(() => import('./plan-precisions.ts'));
      return planPrecisions(request, await device.limits(), await store);
    },
    'suggest-models': async () => {
      const { suggestModels } = await importPart(() => import('../../models/hub/suggestions.ts'));
      return suggestModels(await device.limits());
    },
    'list-gguf-files': async (repository) => {
      const { listGgufFiles } = await importPart(() => import('../../models/hub/list-gguf-files.ts'));
      return listGgufFiles(repository, await device.limits());
    },
    'search-models': async (search) => {
      const { searchModels } = await importPart(() => import('../../models/hub/search-models.ts'));
      return searchModels(search, await device.limits());
    },
  };
}
