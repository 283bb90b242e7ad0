import { createStore } from 'zustand/vanilla';

import type { StoredModel, TabserveClient, WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';

/** How long a deletion can be taken back, ms. */
const UNDO_MS = 20_000;

interface RemovalView {
  /** The model of the last deletion, while it can be taken back. */
  readonly undoable?: StoredModel | undefined;
  /** The IDs of models that no list shows, by key: their files are gone, or go soon. */
  readonly hidden: ReadonlyMap<string, string>;
  /** Why the last deletion failed. */
  readonly refusal?: WireError | undefined;
}

/**
 * Deletes stored models. The files go when the time for Undo is over, at the next deletion, or when the page is left. A load of the model, by any
 * tab, keeps them.
 */
export class ModelRemoval {
  readonly store = createStore<RemovalView>(() => ({ hidden: new Map() }));
  readonly #serve: Pick<TabserveClient, 'deleteModel'>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(serve: Pick<TabserveClient, 'deleteModel' | 'subscribe'>) {
    this.#serve = serve;
    serve.subscribe('status', ({ load }) => {
      for (const [key, id] of this.store.getState().hidden) if (id === load?.id) this.#show(key);
    });
  }

  remove(model: StoredModel): void {
    void this.settle();
    this.store.setState(({ hidden }) => ({
      undoable: model,
      hidden: new Map(hidden).set(model.key, model.id),
      refusal: undefined,
    }));
    this.#timer = setTimeout(() => void this.settle(), UNDO_MS);
  }

  undo(): void {
    const { undoable } = this.store.getState();
    if (undoable) this.#show(undoable.key);
  }

  /** Removes the files now. */
  async settle(): Promise<void> {
    clearTimeout(this.#timer);
    const { undoable } = this.store.getState();
    if (!undoable) return;
    this.store.setState({ undoable: undefined });
    try {
      // The user was asked before a model in use was removed.
      await this.#serve.deleteModel(undoable.key, { force: undoable.isInUse });
    } catch (error) {
      this.#show(undoable.key);
      this.store.setState({ refusal: toWireError(error) });
    }
  }

  #show(key: string): void {
    this.store.setState(({ hidden, undoable }) => ({
      hidden: new Map([...hidden].filter(([other]) => other !== key)),
      undoable: undoable?.key === key ? undefined : undoable,
    }));
  }
}

let opened: ModelRemoval | undefined;

/** The page's own. */
export function openRemoval(serve: TabserveClient): ModelRemoval {
  if (!opened) {
    const removal = new ModelRemoval(serve);
    window.addEventListener('pagehide', () => void removal.settle());
    opened = removal;
  }
  return opened;
}
