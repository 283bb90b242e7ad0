import { loadFetchedModel } from '../../src/worker/serving/models/load-model.ts';
import type { LoadedModel } from '../../src/worker/runtime/loaded-model.ts';
import { chooseDevice } from '../../src/worker/runtime/create-backend.ts';

export type ProbeBackend = 'webgpu' | 'wasm';

const models = new Map<ProbeBackend, Promise<LoadedModel>>();

/**
 * The embedded model, loaded once for all probes of the page: a software adapter compiles its shaders for ten seconds and
 * more. Calls of probes must not overlap.
 */
export function sharedModel(choice: ProbeBackend): Promise<LoadedModel> {
  const known = models.get(choice) ?? load(choice);
  models.set(choice, known);
  return known;
}

async function load(choice: ProbeBackend): Promise<LoadedModel> {
  const model = { source: { type: 'embedded' }, dtype: 'auto' } as const;
  const loaded = await loadFetchedModel(model, await chooseDevice(choice), () => {});
  if ('encoder' in loaded) throw new TypeError('Expected a model that generates');
  return loaded;
}
