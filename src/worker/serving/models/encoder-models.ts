import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import type { EncoderInfo } from '../../../protocol/models.ts';
import type { ChosenModel, ModelStore, StartFacts } from '../../models/store/model-store.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { SharedDevice } from '../../runtime/devices/shared-device.ts';
import type { EncoderDeployment } from '../deployments/encoder-deployment.ts';
import { exampleFor } from './example-models.ts';
import { idOf, isThere, keyOf, type HeldModels } from './held-models.ts';
import { loadModel } from './load-model.ts';
import { deletedModel } from '../../models/model-errors.ts';
import { encoderNotLoaded, noEncoder } from '../../../protocol/errors/deployment-messages.ts';

export interface EncoderModelsOptions {
  /** By name. */
  readonly deployments: ReadonlyMap<string, Pick<EncoderDeployment, 'use' | 'eject' | 'fail' | 'isAsking'>>;
  /** Called after each change with the models that serve. */
  readonly onChange: (infos: readonly EncoderInfo[]) => void;
}

/** What all loads of a worker share. */
export interface LoadParts {
  readonly store: Promise<ModelStore>;
  readonly device: SharedDevice;
  readonly held: HeldModels;
  readonly start: StartFacts;
}

/** The models of the embedder and the reranker, which serve beside the text generator's on the same device. */
export class EncoderModels {
  readonly #options: EncoderModelsOptions;
  readonly #parts: LoadParts;
  readonly #infos = new Map<string, EncoderInfo>();
  /** By deployment. */
  readonly #chosen = new Map<string, ChosenModel>();

  constructor(options: EncoderModelsOptions, parts: LoadParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** The deployments with a model, and the IDs of their models. */
  get names(): readonly string[] {
    return [...this.#infos].flatMap(([deployment, { id }]) => [deployment, id]);
  }

  /** The deployment of this name, or whose model has this ID. */
  deploymentOf(name: string): string | undefined {
    if (this.#options.deployments.has(name)) return name;
    return [...this.#infos.values()].find(({ id }) => id === name)?.deployment;
  }

  /** Serves with this model, and remembers it for the next workers. If that fails, the model still serves. */
  async use(model: LoadedEncoder, chosen: ChosenModel): Promise<void> {
    const { deployment, id } = model.encoderInfo;
    this.#parts.device.count(deployment, { id, isEncoder: true, bytes: model.deviceBytes });
    const old = this.#options.deployments.get(deployment)?.use(model);
    this.#chosen.set(deployment, chosen);
    this.#tell(deployment, model.encoderInfo);
    const store = await this.#parts.store.catch(() => undefined);
    await store?.serve('', chosen, deployment).catch(() => {});
    await old?.backend.release();
  }

  /** Whether a deployment serves with the stored model of this key. */
  uses(key: string): boolean {
    return [...this.#chosen].some(
      ([deployment, chosen]) => keyOf(chosen) === key && !this.#isEjected(deployment),
    );
  }

  /** Frees the memory of a deployment's model, once its requests have ended. The next request loads it again. */
  async eject(deployment: string): Promise<void> {
    const model = await this.#options.deployments.get(deployment)?.eject();
    if (!model) return;
    const { device, store } = this.#parts;
    device.discount(deployment);
    this.#tell(deployment, { ...model.encoderInfo, isEjected: true });
    const chosen = this.#chosen.get(deployment);
    if (chosen && !(await isThere(chosen, store))) this.#lose(deployment, chosen);
    await model.backend.release();
  }

  /** The stored model of this key was deleted. One that still runs goes on. */
  lose(key: string): void {
    for (const [deployment, chosen] of this.#chosen)
      if (keyOf(chosen) === key && this.#isEjected(deployment)) this.#lose(deployment, chosen);
  }

  /** Requests of a deployment without a model in memory fail with this error until another one is loaded. */
  fail(deployment: string, error: unknown): void {
    if (this.#infos.has(deployment) && !this.#isEjected(deployment)) return;
    this.#chosen.delete(deployment);
    this.#options.deployments.get(deployment)?.fail(error);
    if (this.#infos.has(deployment)) this.#tell(deployment, undefined);
  }

  /** Loads the model that was ejected, or with which an earlier worker served. Without one, requests that wait fail. */
  async restore(deployment: string): Promise<void> {
    // Another model may have come, or the one that the app names has failed.
    if (this.#options.deployments.get(deployment)?.isAsking !== true) return;
    const { device, held } = this.#parts;
    const chosen = this.#chosen.get(deployment) ?? (await this.#chosenBefore(deployment));
    if (!chosen) {
      this.fail(deployment, noEncoder(deployment, exampleFor(deployment)));
      return;
    }
    try {
      await held.during(chosen, async () => {
        const model = await loadModel(chosen, await device.get(), () => {});
        if ('encoder' in model) await this.use(model, chosen);
        else this.fail(deployment, noEncoder(deployment, exampleFor(deployment)));
      });
    } catch (cause) {
      this.fail(deployment, cause instanceof RuntimeLostError ? cause : encoderNotLoaded(deployment, cause));
    }
  }

  #lose(deployment: string, chosen: ChosenModel): void {
    this.fail(deployment, encoderNotLoaded(deployment, deletedModel(idOf(chosen))));
  }

  #isEjected(deployment: string): boolean {
    return this.#infos.get(deployment)?.isEjected === true;
  }

  /** @param info Undefined where no model is left. */
  #tell(deployment: string, info: EncoderInfo | undefined): void {
    if (info) this.#infos.set(deployment, info);
    else this.#infos.delete(deployment);
    this.#options.onChange([...this.#infos.values()]);
  }

  /** Undefined without storage, and for a model whose starts did not end. */
  async #chosenBefore(deployment: string): Promise<ChosenModel | undefined> {
    try {
      const store = await this.#parts.store;
      return await store.served('', this.#parts.start, deployment);
    } catch {
      return undefined;
    }
  }
}
