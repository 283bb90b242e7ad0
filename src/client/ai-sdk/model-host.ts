import { connect } from '../index.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { TabserveOptions, TextClient } from './options.ts';

/** The client of a provider, and the loads that its calls wait for. */
export class ModelHost {
  readonly #options: TabserveOptions;
  #serve: Promise<TextClient> | undefined;
  /** Concurrent calls share one load of a model. */
  readonly #loads = new Map<string, Promise<unknown>>();

  constructor(options: TabserveOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the model serves, whatever model served before. Rejects as `connect` and `loadModel` do, or with the signal's
   * reason when it aborts; the load goes on, since other tabs may wait for it.
   */
  open(modelId: string, signal: AbortSignal | undefined): Promise<TextClient> {
    const opened = this.#open(modelId);
    return signal ? untilAborted(opened, signal) : opened;
  }

  async #open(modelId: string): Promise<TextClient> {
    const serve = await this.#connected();
    // The model may load where the first one could not.
    const { state, model } = await serve.ready().catch(() => serve.status());
    if (state !== 'ready' || model?.id !== modelId) await this.#load(serve, modelId);
    return serve;
  }

  async #load(serve: TextClient, modelId: string): Promise<void> {
    const running = this.#loads.get(modelId);
    if (running) return void (await running);
    const load = serve.loadModel(modelId, this.#options.load);
    this.#loads.set(modelId, load);
    try {
      await load;
    } finally {
      this.#loads.delete(modelId);
    }
  }

  /** After a failed connection, the next call tries again. */
  #connected(): Promise<TextClient> {
    const options = this.#options;
    this.#serve ??= 'serve' in options ? Promise.resolve(options.serve) : connect(options);
    this.#serve.catch(() => {
      this.#serve = undefined;
    });
    return this.#serve;
  }
}
