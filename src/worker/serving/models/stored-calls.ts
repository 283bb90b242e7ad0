import { InvalidOptionError } from '../../../batching/base/errors.ts';
import type { CallHandlers } from '../../../protocol/calls.ts';
import type { StoredModel } from '../../../protocol/models.ts';
import { modelInUse, modelIsLoaded } from '../../models/model-errors.ts';
import type { ModelStore } from '../../models/store/model-store.ts';

interface StoredCallsOptions {
  readonly store: Promise<ModelStore>;
  /** Whether the text generator, or a deployment of encoders, runs the stored model of this key. */
  readonly isInUse: (key: string) => boolean;
  /** Whether a load reads or writes its files now. */
  readonly isLoaded: (stored: StoredModel) => boolean;
  readonly onDeleted: (key: string) => void;
}

/** Lists and deletes the models on this device. */
export class StoredCalls {
  readonly #options: StoredCallsOptions;
  #deletions: Promise<unknown> = Promise.resolve();
  readonly calls: CallHandlers<'list-models' | 'delete-model'> = {
    'list-models': async () => {
      const { store, isInUse } = this.#options;
      return (await (await store).list()).map((stored) => ({
        ...stored,
        ...(isInUse(stored.key) && { isInUse: true }),
      }));
    },
    'delete-model': ({ key, force = false }) => {
      const deletion = this.#delete(key, force);
      this.#deletions = Promise.allSettled([this.#deletions, deletion]);
      return deletion;
    },
  };

  constructor(options: StoredCallsOptions) {
    this.#options = options;
  }

  /** Resolves when the deletions that were asked for are over: a load begins behind them. */
  get deletions(): Promise<unknown> {
    return this.#deletions;
  }

  async #delete(key: string, force: boolean): Promise<void> {
    const { isInUse, isLoaded, onDeleted } = this.#options;
    const store = await this.#options.store;
    const stored = (await store.list()).find((model) => model.key === key);
    if (!stored) throw InvalidOptionError.of('key', 'the `key` of a model that storedModels() lists', key);
    if (isLoaded(stored)) throw modelIsLoaded(stored.id);
    if (!force && isInUse(key)) throw modelInUse(stored.id);
    await store.delete(key);
    onDeleted(key);
  }
}
