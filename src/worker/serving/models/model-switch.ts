import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { systemClock } from '../../../batching/base/clock.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { loadModel } from './load-model.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import { deletedModel, modelInUse } from '../../models/model-errors.ts';
import { ModelStore, type ChosenModel } from '../../models/store/model-store.ts';
import { importPart } from '../../base/import-part.ts';
import { suggestModels } from '../../models/hub/suggestions.ts';
import type { CallHandlers, CallMessage } from '../../../protocol/calls.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import { LoadCancelledError } from '../../../protocol/errors/hub.ts';
import { NoModelError } from '../../../protocol/errors/model.ts';
import { StepHangError } from '../../runtime/faults/runtime-errors.ts';
import { isFetched, modelNameOf, type ModelLoad } from '../../../protocol/models.ts';
import type { ClientId } from '../../../protocol/ids.ts';
import type { EncoderInit } from '../../../protocol/host-messages.ts';
import { namesOf } from '../../../protocol/names.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import { serveModel } from '../../text-generation/serve-model.ts';
import { limitsOf } from '../../runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { warmUp } from '../../runtime/warm-up.ts';
import { checkDevice } from './check-device.ts';
import { checkGpu } from './check-gpu.ts';
import { checkServes } from './example-models.ts';
import { EncoderModels } from './encoder-models.ts';
import { FirstModel, idOf, type ModelOptions, type ServedModel } from './first-model.ts';
import { LoadJob, nameOfLoad } from './load-job.ts';
import { obtainModel } from './obtain-model.ts';
import type { ModelCall } from '../deployments/own-calls.ts';
import { createTokenCalls, textsOfTokens } from './token-calls.ts';

export type LoadRequest = Pick<CallMessage<'load-model'>, 'source' | 'dtype' | 'whenBusy' | 'deployment'> &
  Partial<Pick<CallMessage<'load-model'>, 'isTemporary' | 'clientId'>>;

/** A model that has served before. */
type RestoreRequest = Pick<LoadRequest, 'deployment'> & { readonly chosen: ChosenModel };

interface RestoreOptions {
  /** Another load came between. If it failed, the status still says why. */
  readonly isRepeated: boolean;
  /** For the model before the temporary ones. */
  readonly isLasting?: boolean;
}

/** The clients that want a temporary model. It ends when the last of them has left. */
type Owners = Set<ClientId>;

interface CurrentJob {
  readonly job: LoadJob;
  readonly done: Promise<void>;
  readonly isOfStart?: boolean;
  /** For the model before the temporary ones. Only another load cancels it, and then it comes after that one. */
  readonly isLasting?: boolean;
  /** Set for a temporary model. */
  readonly owners?: Owners | undefined;
}

/** What serves again after the temporary models. */
interface Lasting {
  /** Undefined if no model has served before. */
  readonly chosen: ChosenModel | undefined;
  /** The name of the temporary model that serves. */
  readonly name: string;
  /** Of that model. */
  readonly owners: Owners;
}

/** Holds the model that serves all tabs. Prepares another model beside it, and then switches to it. */
export class ModelSwitch {
  /** Resolves when the first model serves, or has failed. @throws RuntimeLostError if another worker may succeed. */
  readonly started: Promise<void>;
  readonly #options: ModelOptions;
  readonly #store: Promise<ModelStore>;
  readonly #device: SharedDevice;
  readonly #encoders: EncoderModels;
  readonly #first: FirstModel;
  #served: ServedModel | undefined;
  /** The next request loads it. */
  #ejected: ChosenModel | undefined;
  /** Set while a temporary model serves. */
  #lasting: Lasting | undefined;
  #job: CurrentJob | undefined;
  /** Whether encoders of the start are still to be loaded. A load that waits for them isn't shown yet. */
  #hasEncodersAhead: boolean;
  /** The end of the last load: loads run one after another. */
  #last: Promise<void>;
  readonly calls: CallHandlers<ModelCall> = {
    ...createTokenCalls(() => this.#servedModel()),
    'load-model': (request) => this.load(request),
    'eject-model': () => this.#afterLoads((before) => before.then(() => this.#eject())),
    'restore-model': ({ clientId }) => this.#endTemporary(clientId),
    'plan-model': async (request) => {
      const { planPrecisions } = await importPart(() => import('./plan-precisions.ts'));
      return planPrecisions(request, await this.#device.limits(), await this.#store);
    },
    'list-models': async () =>
      (await (await this.#store).list()).map((stored) => ({
        ...stored,
        ...(this.#isInUse(stored.key) && { isInUse: true }),
      })),
    'suggest-models': async () => suggestModels(await this.#device.limits()),
    'list-gguf-files': async (repository) => {
      const { listGgufFiles } = await importPart(() => import('../../models/hub/list-gguf-files.ts'));
      return listGgufFiles(repository, await this.#device.limits());
    },
    'search-models': async (search) => {
      const { searchModels } = await importPart(() => import('../../models/hub/search-models.ts'));
      return searchModels(search, await this.#device.limits());
    },
    'check-device': async () => {
      const { checkedAs } = await this.#servedModel();
      return checkDevice((await this.#device.get()).runtime, checkedAs);
    },
    'delete-model': async ({ key, force }) => {
      const store = await this.#store;
      const stored = (await store.list()).find((model) => model.key === key);
      if (!stored) throw InvalidOptionError.of('key', 'the `key` of a model that storedModels() lists', key);
      if (force !== true && this.#isInUse(key)) throw modelInUse(stored.id);
      await store.delete(key);
      if (this.#ejected && keyOf(this.#ejected) === key) this.#loseEjected(this.#ejected);
    },
  };

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#store = ModelStore.open(namesOf(options.app).storageFolder);
    // The embedded model serves without storage too.
    this.#store.catch(() => {});
    this.#device = new SharedDevice(options.backend, options.past, options.isTrial);
    this.#encoders = new EncoderModels(options.encoders, options.past, this.#store, this.#device);
    this.#first = new FirstModel(options, this.#store, this.#device, this.#encoders);
    const { encoders = [] } = options.first;
    this.#hasEncodersAhead = encoders.length > 0;
    this.started = this.#start(encoders);
    this.#last = encoders.length === 0 ? this.started : this.started.then(() => this.#loadEncoders(encoders));
  }

  /** Of the model that serves. */
  tokenTexts(tokenIds: readonly number[]): readonly string[] {
    return textsOfTokens(tokenIds, this.#served?.model);
  }

  /**
   * Prepares a model and switches to it. An equal request shares the current load, also that of the first model, and any other
   * request cancels it, or waits for the encoders that the app names. If the load fails, the current model keeps serving.
   *
   * @throws InvalidOptionError for a temporary encoder; RuntimeLostError if no model can run in this worker any more; else the reason why the
   *   load failed.
   */
  async load(request: LoadRequest): Promise<void> {
    const { source, deployment = TEXT_GENERATOR, isTemporary, clientId } = request;
    if (isTemporary && deployment !== TEXT_GENERATOR)
      throw InvalidOptionError.of(
        'deployment',
        `${TEXT_GENERATOR} or left out with isTemporary, since only a model that generates can be temporary`,
        deployment,
      );
    const id = modelNameOf(source);
    const name = nameOf(request);
    if (this.#first.job?.name === name) return this.#whenFirstServes();
    // An encoder serves beside the first model.
    if (deployment === TEXT_GENERATOR) this.#first.replaceWith(id);
    const last = this.#job;
    if (last && !last.job.isCancelled && last.job.name === name) {
      if (clientId) last.owners?.add(clientId);
      return last.done;
    }
    if (last?.isOfStart !== true) last?.job.cancel(insteadOf(id));
    this.#job = undefined;
    return this.#afterLoads((before) => this.#begin(request, before));
  }

  /** @param before Resolves when the load may run. */
  #begin(request: LoadRequest, before: Promise<void>, isOfStart = false): Promise<void> {
    const { source, isTemporary, clientId } = request;
    const report = (load: ModelLoad): void => {
      if (isOfStart || !this.#hasEncodersAhead) this.#options.onStatus({ load }, ['loadFailure']);
    };
    const job = new LoadJob(nameOf(request), modelNameOf(source), systemClock, report);
    const owners = isTemporary ? new Set(clientId && [clientId]) : undefined;
    const done = before.then(() => this.#run(job, request, owners));
    // A load that waits is cancelled by the next one, and not by an encoder of the start.
    this.#job ??= { job, done, isOfStart, owners };
    return done;
  }

  /** Loads the model with which this deployment of encoders served before. */
  restoreEncoder(deployment: string): void {
    this.#last = this.#last.then(() => this.#encoders.restore(deployment));
  }

  steer(action: 'pause' | 'resume' | 'cancel'): void {
    const job = this.#first.job ?? this.#job?.job;
    if (action !== 'cancel') job?.[action]();
    // Otherwise a temporary model could stay for good, also after its tab.
    else if (!this.#job?.isLasting) job?.cancel('cancelled');
  }

  /** The model that serves. One that was ejected is loaded again. */
  /** @throws The reason why no model serves, as prompts get it. */
  async #servedModel(): Promise<LoadedModel> {
    await this.started;
    if (this.#ejected) await this.#restore();
    if (this.#served) return this.#served.model;
    throw this.#first.failure ?? NoModelError.of();
  }

  /** Frees the memory of the model that generates, once its requests have ended. */
  async #eject(): Promise<void> {
    const { generator, onStatus } = this.#options;
    const served = this.#served;
    if (!served) return;
    await generator.eject(() => void this.#restore());
    this.#ejected = served.chosen;
    onStatus({ isEjected: true }, []);
    await this.#free(served);
  }

  async #free({ model }: ServedModel): Promise<void> {
    this.#served = undefined;
    this.#device.discount(TEXT_GENERATOR);
    await model.backend.release();
  }

  /** Behind all other loads: if one of them serves, there is nothing to do. */
  #restore(isRepeated = false): Promise<void> {
    return this.#afterLoads((before) => before.then(() => this.#restoreEjected(isRepeated)));
  }

  async #restoreEjected(isRepeated: boolean): Promise<void> {
    const chosen = this.#ejected;
    if (!chosen) return;
    const { generator } = this.#options;
    try {
      await this.#serveAgain({ chosen }, { isRepeated });
    } catch (cause) {
      if (cause instanceof RuntimeLostError) throw cause;
      // Requests wait for the model that is loaded instead, or else for this one.
      if (this.#job) void this.#restore(true);
      else {
        generator.fail(toWireError(cause));
        await generator.eject(() => void this.#restore());
      }
    }
  }

  /**
   * Serves with an earlier model.
   *
   * @throws LoadCancelledError if another load waits, or comes meanwhile; else as `load`.
   */
  async #serveAgain(
    request: LoadRequest | RestoreRequest,
    { isRepeated, isLasting = false }: RestoreOptions,
  ): Promise<void> {
    const id = 'chosen' in request ? idOf(request.chosen) : modelNameOf(request.source);
    const waiting = this.#job?.job;
    if (waiting) throw LoadCancelledError.of(id, insteadOf(waiting.id));
    const over = isRepeated ? [] : (['loadFailure'] as const);
    const isRestore = isLasting && ({ isRestore: true } as const);
    const report = (load: ModelLoad): void =>
      this.#options.onStatus({ load: { ...load, ...isRestore } }, over);
    const job = new LoadJob('', id, systemClock, report);
    const done = this.#run(job, request);
    this.#job = { job, done, isLasting };
    await done;
  }

  /**
   * Ends the temporary models of this client, and those of clients that are gone: the model before them serves again, unless another one was
   * loaded since.
   *
   * @throws As `load`.
   */
  #endTemporary(clientId: ClientId): Promise<void> {
    const { job, owners } = this.#job ?? {};
    if (owners?.delete(clientId) && owners.size === 0) job?.cancel('it was temporary');
    this.#lasting?.owners.delete(clientId);
    return this.#restoreLasting(false);
  }

  /** Behind all other loads: if one of them serves for good, or for another client, there is nothing to do. */
  async #restoreLasting(isRepeated: boolean): Promise<void> {
    try {
      await this.#afterLoads((before) => before.then(() => this.#serveLasting(isRepeated)));
    } catch (cause) {
      if (!(cause instanceof LoadCancelledError)) throw cause;
      await this.#restoreLasting(true);
    }
  }

  async #serveLasting(isRepeated: boolean): Promise<void> {
    if (!this.#lasting || this.#lasting.owners.size > 0) return;
    const { chosen } = this.#lasting;
    const request = chosen ? { chosen } : this.#first.replaced;
    await (request ? this.#serveAgain(request, { isRepeated, isLasting: true }) : this.#serveNone());
  }

  /** A temporary model was the first that served. */
  async #serveNone(): Promise<void> {
    const served = this.#served;
    if (served) await this.#options.generator.eject(() => {});
    this.#lasting = undefined;
    this.#ejected = undefined;
    this.#first.serveNone();
    if (served) await this.#free(served);
  }

  /** Runs the loads, and what else changes the model that generates, one after another. */
  #afterLoads(run: (before: Promise<void>) => Promise<void>): Promise<void> {
    const done = run(this.#last);
    this.#last = done.catch(() => {});
    return done;
  }

  #loseEjected(chosen: ChosenModel): void {
    this.#ejected = undefined;
    this.#first.fail(deletedModel(idOf(chosen)));
  }

  async #start(encoders: readonly EncoderInit[]): Promise<void> {
    if (encoders.length > 0 && !(await this.#first.reserve(encoders))) return;
    const served = await this.#first.serve();
    if (served) this.#serveWith(served);
  }

  /** The status says why one failed. Without the first model, none is loaded. */
  async #loadEncoders(encoders: readonly EncoderInit[]): Promise<void> {
    const loaded = this.#first.failure === undefined ? encoders : [];
    for (const { deployment, source } of loaded) {
      this.#device.discount(deployment);
      const request: LoadRequest = { source, deployment, dtype: 'auto', whenBusy: 'finish' };
      await this.#begin(request, Promise.resolve(), true).catch((error: unknown) => {
        if (error instanceof RuntimeLostError) throw error;
      });
    }
    this.#hasEncodersAhead = false;
  }

  #serveWith(served: ServedModel): void {
    this.#served = served;
    this.#ejected = undefined;
    const { modelInfo, deviceBytes } = served.model;
    this.#device.count(TEXT_GENERATOR, { id: modelInfo.id, isEncoder: false, bytes: deviceBytes });
  }

  /** Whether the text generator, or a deployment of encoders, runs the stored model of this key. */
  #isInUse(key: string): boolean {
    const chosen = [this.#served?.chosen, this.#lasting?.chosen];
    return chosen.some((one) => one && keyOf(one) === key) || this.#encoders.uses(key);
  }

  async #whenFirstServes(): Promise<void> {
    await this.started;
    if (!this.#served) throw this.#first.failure;
  }

  async #run(job: LoadJob, request: LoadRequest | RestoreRequest, owners?: Owners): Promise<void> {
    const { onStatus } = this.#options;
    try {
      const { model, chosen } = await this.#prepare(job, request, await this.#device.get());
      if ('encoder' in model) await this.#addEncoder(job, model, chosen);
      else await this.#takeOver(job, request, { model, chosen }, owners);
    } catch (cause) {
      // The runtime runs one call at a time, so a hung call blocks all others.
      if (cause instanceof StepHangError) throw new RuntimeLostError(cause);
      if (cause instanceof RuntimeLostError) throw cause;
      job.end();
      const isReplaced = this.#job?.job !== job;
      // The caller cancelled it, so there is no failure to report.
      const isFailure = !(cause instanceof LoadCancelledError) && !(isReplaced && job.isCancelled);
      const loadFailure = { id: job.id, error: toWireError(cause) };
      if (isFailure || !isReplaced) onStatus(isFailure ? { loadFailure } : {}, isReplaced ? [] : ['load']);
      if (!isReplaced && !this.#served && !this.#ejected && this.#first.replaced) this.#first.fail(cause);
      throw cause;
    } finally {
      if (this.#job?.job === job) this.#job = undefined;
    }
  }

  async #prepare(job: LoadJob, request: LoadRequest | RestoreRequest, device: DeviceChoice) {
    // An encoder serves beside the model that generates, so there is nothing to restore.
    const isTemporary = !('chosen' in request) && request.isTemporary;
    const deployment = isTemporary ? TEXT_GENERATOR : request.deployment;
    const chosen = 'chosen' in request ? request.chosen : await this.#choose(job, request, device);
    // This part is short and cannot be resumed, so a pause does not abort it.
    const model = await job.attempt(() => loadModel(chosen, device, job.report));
    try {
      checkServes(job.id, 'encoder' in model ? model.encoderInfo.deployment : TEXT_GENERATOR, deployment);
    } catch (error) {
      await model.backend.release();
      throw error;
    }
    if ('encoder' in model) return { model, chosen };
    await checkGpu(model, device, this.#store, job.report);
    try {
      await warmUp(model.backend, model.config, (loaded, total) =>
        job.report({ phase: 'compile', loaded, total }),
      );
    } catch (error) {
      // After a hang, the release would wait forever.
      if (!(error instanceof StepHangError)) await model.backend.release();
      throw error;
    }
    return { model, chosen };
  }

  async #choose(job: LoadJob, { source, dtype }: LoadRequest, device: DeviceChoice): Promise<ChosenModel> {
    if (isFetched(source)) return { source, dtype };
    return obtainModel(source, dtype, limitsOf(device), await this.#store, job);
  }

  async #addEncoder(job: LoadJob, model: LoadedEncoder, chosen: ChosenModel): Promise<void> {
    if (job.isCancelled) {
      await model.backend.release();
      await job.attempt(() => Promise.resolve());
    }
    await this.#encoders.use(model, chosen);
    job.succeed();
    this.#options.onStatus({}, ['load']);
  }

  async #takeOver(
    job: LoadJob,
    request: LoadRequest | RestoreRequest,
    next: ServedModel,
    owners: Owners | undefined,
  ): Promise<void> {
    const { model, chosen } = next;
    const { generator, onStatus } = this.#options;
    job.report({ phase: 'drain', loaded: 0, total: 1 });
    const old = this.#served;
    const before = old?.chosen ?? this.#ejected;
    try {
      // A cancelled load must not switch the model.
      const whenBusy = 'chosen' in request ? undefined : request.whenBusy;
      await job.attempt((signal) => serveModel(generator, model, whenBusy, signal));
    } catch (error) {
      if (!(error instanceof RuntimeLostError)) await model.backend.release();
      throw error;
    }
    this.#serveWith(next);
    if (owners) this.#keepLasting(before, job.name, owners);
    else if (!('chosen' in request) || chosen === this.#lasting?.chosen) this.#lasting = undefined;
    job.succeed();
    const shown = { ...model.modelInfo, ...(this.#lasting && ({ isTemporary: true } as const)) };
    const over = ['error', 'load', 'isEjected'] as const;
    onStatus({ state: 'ready', model: shown, backend: model.backendInfo }, over);
    if (!owners && !('chosen' in request))
      await this.#note(nameOf(request) === this.#first.name ? undefined : chosen);
    await old?.model.backend.release();
  }

  /** @param owners Of the temporary model that serves now. Clients that want the same one own it with them. */
  #keepLasting(before: ChosenModel | undefined, name: string, owners: Owners): void {
    const last = this.#lasting;
    if (last?.name === name) for (const owner of last.owners) owners.add(owner);
    this.#lasting = { chosen: last ? last.chosen : before, name, owners };
  }

  /** Remembers the model for the next start. If that fails, the model still serves. */
  async #note(chosen: ChosenModel | undefined): Promise<void> {
    const store = await this.#store.catch(() => undefined);
    try {
      await store?.serve(this.#first.name, chosen);
    } catch (cause) {
      this.#options.onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
    }
  }
}

/** Undefined for a model that is not stored on this device. */
function keyOf(chosen: ChosenModel): string | undefined {
  return 'key' in chosen ? chosen.key : undefined;
}

function insteadOf(id: string): string {
  return `${id} is loaded instead`;
}

/** A temporary load and a lasting one of the same model don't share their end. */
function nameOf({ source, dtype, isTemporary }: LoadRequest): string {
  return nameOfLoad(source, dtype) + (isTemporary ? ' for a while' : '');
}
