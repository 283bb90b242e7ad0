import { connect, type Serve } from '../client/index.ts';
import type { TabserveOptions } from './options.ts';

/** The client of a provider, and the loads that its calls wait for. */
export class ModelHost {
  readonly #options: TabserveOptions;
  #serve: Promise<Serve> | undefined;
  /** Of calls that come in at a time, the first one loads the model. */
  readonly #loads = new Map<string, Promise<unknown>>();

  constructor(options: TabserveOptions) {
    this.#options = options;
  }

  /** Resolves when the model serves, whatever model served before. Rejects as `connect`, `ready` and `loadModel` do. */
  async open(modelId: string): Promise<Serve> {
    const serve = await this.#connected();
    const { model } = await serve.ready();
    if (model?.id !== modelId) await this.#load(serve, modelId);
    return serve;
  }

  async #load(serve: Serve, modelId: string): Promise<void> {
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

  /** A failed connection is tried anew by the next call. */
  #connected(): Promise<Serve> {
    const options = this.#options;
    this.#serve ??= 'serve' in options ? Promise.resolve(options.serve) : connect(options);
    this.#serve.catch(() => {
      this.#serve = undefined;
    });
    return this.#serve;
  }
}
