import { modelNameOf } from '../../../protocol/models.ts';
import type { ChosenModel, ModelStore } from '../../models/store/model-store.ts';

/** The stored models that loads use now. Their files stay until the load is over. */
export class HeldModels {
  /** With the number of loads, by key. */
  readonly #held = new Map<string, number>();

  has(key: string): boolean {
    return this.#held.has(key);
  }

  async during<Result>(chosen: ChosenModel, load: () => Promise<Result>): Promise<Result> {
    const key = keyOf(chosen);
    if (key === undefined) return load();
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    try {
      return await load();
    } finally {
      const numLeft = (this.#held.get(key) ?? 0) - 1;
      if (numLeft > 0) this.#held.set(key, numLeft);
      else this.#held.delete(key);
    }
  }
}

/** Undefined for a model that is not stored on this device. */
export function keyOf(chosen: ChosenModel): string | undefined {
  return 'key' in chosen ? chosen.key : undefined;
}

export function idOf(chosen: ChosenModel): string {
  return 'source' in chosen ? modelNameOf(chosen.source) : chosen.manifest.id;
}

/** Whether it can be loaded again: not if it was deleted while it ran. */
export async function isThere(chosen: ChosenModel, store: Promise<ModelStore>): Promise<boolean> {
  const key = keyOf(chosen);
  if (key === undefined) return true;
  return (await (await store).folders()).some((folder) => folder.key === key);
}
