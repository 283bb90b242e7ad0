import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import type { EncoderInfo } from '../../../protocol/models.ts';
import type { WorkerPast } from '../../../protocol/recovery.ts';
import type { ChosenModel, ModelStore } from '../../models/store/model-store.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { SharedDevice } from '../../runtime/devices/shared-device.ts';
import type { EncoderDeployment } from '../deployments/encoder-deployment.ts';
import { exampleFor } from './example-models.ts';
import { loadModel } from './load-model.ts';
import { encoderNotLoaded, noEncoder } from '../../../protocol/errors/deployment-messages.ts';

export interface EncoderModelsOptions {
  /** By name. */
  readonly deployments: ReadonlyMap<string, Pick<EncoderDeployment, 'use' | 'fail' | 'isListed'>>;
  /** Called after each change with the models that serve. */
  readonly onChange: (infos: readonly EncoderInfo[]) => void;
}

/** The models of the embedder and the reranker, which serve beside the text generator's on the same device. */
export class EncoderModels {
  readonly #options: EncoderModelsOptions;
  readonly #past: WorkerPast;
  readonly #store: Promise<ModelStore>;
  readonly #device: SharedDevice;
  readonly #infos = new Map<string, EncoderInfo>();
  /** By deployment. */
  readonly #chosen = new Map<string, ChosenModel>();

  constructor(
    options: EncoderModelsOptions,
    past: WorkerPast,
    store: Promise<ModelStore>,
    device: SharedDevice,
  ) {
    this.#options = options;
    this.#past = past;
    this.#store = store;
    this.#device = device;
  }

  /** Serves with this model, and remembers it for the next workers. If that fails, the model still serves. */
  async use(model: LoadedEncoder, chosen: ChosenModel): Promise<void> {
    const { deployment, id } = model.encoderInfo;
    this.#device.count(deployment, { id, isEncoder: true, bytes: model.deviceBytes });
    const old = this.#options.deployments.get(deployment)?.use(model);
    this.#infos.set(deployment, model.encoderInfo);
    this.#chosen.set(deployment, chosen);
    this.#options.onChange([...this.#infos.values()]);
    const store = await this.#store.catch(() => undefined);
    await store?.serve('', chosen, deployment).catch(() => {});
    await old?.backend.release();
  }

  /** Whether a deployment serves with the stored model of this key. */
  uses(key: string): boolean {
    return [...this.#chosen.values()].some((chosen) => 'key' in chosen && chosen.key === key);
  }

  /** Loads the model with which an earlier worker served. Without one, requests that wait fail. */
  async restore(deployment: string): Promise<void> {
    const waiting = this.#options.deployments.get(deployment);
    if (!waiting || waiting.isListed) return;
    const chosen = await this.#chosenBefore(deployment);
    try {
      const model = chosen && (await loadModel(chosen, await this.#device.get(), () => {}));
      if (model && 'encoder' in model) await this.use(model, chosen);
      else waiting.fail(noEncoder(deployment, exampleFor(deployment)));
    } catch (cause) {
      waiting.fail(cause instanceof RuntimeLostError ? cause : encoderNotLoaded(deployment, cause));
    }
  }

  /** Undefined without storage, and for a model whose starts did not end. */
  async #chosenBefore(deployment: string): Promise<ChosenModel | undefined> {
    try {
      const store = await this.#store;
      return await store.served('', this.#past.recovery !== undefined, deployment);
    } catch {
      return undefined;
    }
  }
}
