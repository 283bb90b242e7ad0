import { LOCAL_OWNER } from '../../src/protocol/bridge-names.ts';
import type { LocalModel } from './local-model.ts';
import { isModelPath, readLocalModel } from './read-local-model.ts';

const OPTIONS = ['model', 'embedder', 'reranker'] as const;

type ModelOptions = Readonly<Partial<Record<(typeof OPTIONS)[number], string | undefined>>>;

/**
 * Finds the models that options name by their paths.
 *
 * @returns The models, and the options with IDs in place of paths.
 * @throws BridgeError as `readLocalModel`.
 */
export async function findLocalModels<Options extends ModelOptions>(
  options: Options,
): Promise<{ readonly localModels: readonly LocalModel[]; readonly options: Options }> {
  const localModels: LocalModel[] = [];
  const ids: { model?: string; embedder?: string; reranker?: string } = {};
  for (const option of OPTIONS) {
    const path = options[option];
    if (path === undefined || !isModelPath(path)) continue;
    const isTaken = (name: string): boolean => localModels.some(({ id }) => id === `${LOCAL_OWNER}/${name}`);
    const model = await readLocalModel(option, path, isTaken);
    localModels.push(model);
    ids[option] = model.id;
  }
  return { localModels, options: { ...options, ...ids } };
}
