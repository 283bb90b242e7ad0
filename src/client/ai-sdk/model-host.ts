import { connect } from '../index.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { TabserveOptions, TextClient } from './options.ts';

/** A provider's client, and the model loads that its calls wait for. */
export class ModelHost {
  readonly #options: TabserveOptions;
  #serve: Promise<TextClient> | undefined;
  /** Concurrent calls share one load. */
  readonly #loads = new Map<string, Promise<unknown>>();

  constructor(options: TabserveOptions) {
    this.#options = options;
  }

  /**
   * Resolves when this model serves. Rejects as `connect` and `loadModel` do, or with the signal's reason if it aborts. The load then
   * continues, since other tabs may wait for it.
   */
  open(modelId: string, signal: AbortSignal | undefined): Promise<TextClient> {
    const opened = this.#open(modelId);
    return signal ? untilAborted(opened, signal) : opened;
  }

  async #open(modelId: string): Promise<TextClient> {
    const serve = await this.#connected();
    // This model may load even if the first one failed.
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

  /** After a failure, the next call connects again. */
  #connected(): Promise<TextClient> {
    const options = this.#options;
    this.#serve ??= 'serve' in options ? Promise.resolve(options.serve) : connect(options);
    this.#serve.catch(() => {
      this.#serve = undefined;
    });
    return this.#serve;
  }
}
