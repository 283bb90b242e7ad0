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
  /** The model that serves again after the temporary ones of this client. */
  #lasting: { readonly chosen: ChosenModel; readonly clientId: ClientId | undefined } | undefined;
  #job:
    | {
        readonly job: LoadJob;
        readonly done: Promise<void>;
        readonly isOfStart: boolean;
        /** Set for a temporary model. */
        readonly clientId?: ClientId | undefined;
      }
    | undefined;
  /** Whether encoders of the start are still to be loaded. A load that waits for them isn't shown yet. */
  #hasEncodersAhead: boolean;
  /** The end of the last load: loads run one after another. */
  #last: Promise<void>;
  readonly calls: CallHandlers<ModelCall> = {
    ...createTokenCalls(() => this.#servedModel()),
    'load-model': (request) => this.load(request),
    'eject-model': () => {
      const ejecting = this.#last.then(() => this.#eject());
      this.#last = ejecting.catch(() => {});
      return ejecting;
    },
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
      const model = await this.#servedModel();
      if (!model) throw NoModelError.of();
      return checkDevice((await this.#device.get()).runtime, model.checkedAs);
    },
    'delete-model': async ({ key, force }) => {
      const store = await this.#store;
      if (force !== true && this.#isInUse(key)) {
        const stored = (await store.folders()).find((folder) => folder.key === key);
        if (stored) throw modelInUse(stored.manifest.id);
      }
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
   * @throws RuntimeLostError if no model can run in this worker any more; else the reason why the load failed.
   */
  load(request: LoadRequest): Promise<void> {
    const id = modelNameOf(request.source);
    const name = nameOf(request);
    if (this.#first.job?.name === name) return this.#whenFirstServes();
    // An encoder serves beside the first model.
    if (request.deployment === undefined || request.deployment === TEXT_GENERATOR)
      this.#first.replaceWith(id);
    const last = this.#job;
    if (last && !last.job.isCancelled && last.job.name === name) return last.done;
    if (last?.isOfStart !== true) last?.job.cancel(`${id} is loaded instead`);
    this.#job = undefined;
    const done = this.#begin(request, this.#last);
    this.#last = done.catch(() => {});
    return done;
  }

  /** @param before Resolves when the load may run. */
  #begin(request: LoadRequest, before: Promise<void>, isOfStart = false): Promise<void> {
    const { source, isTemporary, clientId } = request;
    const report = (load: ModelLoad): void => {
      if (isOfStart || !this.#hasEncodersAhead) this.#options.onStatus({ load }, ['loadFailure']);
    };
    const job = new LoadJob(nameOf(request), modelNameOf(source), systemClock, report);
    const done = before.then(() => this.#run(job, request));
    // A load that waits is cancelled by the next one, and not by an encoder of the start.
    this.#job ??= { job, done, isOfStart, clientId: isTemporary ? clientId : undefined };
    return done;
  }

  /** Loads the model with which this deployment of encoders served before. */
  restoreEncoder(deployment: string): void {
    this.#last = this.#last.then(() => this.#encoders.restore(deployment));
  }

  steer(action: 'pause' | 'resume' | 'cancel'): void {
    const job = this.#first.job ?? this.#job?.job;
    if (action === 'cancel') job?.cancel('cancelled');
    else job?.[action]();
  }

  /** The model that serves. One that was ejected is loaded again. */
  async #servedModel(): Promise<LoadedModel | undefined> {
    await this.started;
    if (this.#ejected) await this.#restore();
    return this.#served?.model;
  }

  /** Frees the memory of the model that generates, once its requests have ended. */
  async #eject(): Promise<void> {
    const { generator, onStatus } = this.#options;
    const served = this.#served;
    if (!served) return;
    await generator.eject(() => void this.#restore());
    this.#ejected = served.chosen;
    this.#served = undefined;
    this.#device.discount(TEXT_GENERATOR);
    onStatus({ isEjected: true }, []);
    await served.model.backend.release();
  }

  /** Behind all other loads: if one of them serves, there is nothing to do. */
  #restore(): Promise<void> {
    const restoring = this.#last.then(() => this.#restoreEjected());
    this.#last = restoring.catch(() => {});
    return restoring;
  }

  async #restoreEjected(): Promise<void> {
    const chosen = this.#ejected;
    if (!chosen) return;
    const { generator, onStatus } = this.#options;
    const job = new LoadJob('', idOf(chosen), systemClock, (load) => onStatus({ load }, ['loadFailure']));
    const running = this.#run(job, { chosen });
    this.#job = { job, done: running, isOfStart: false };
    try {
      await running;
    } catch (cause) {
      if (cause instanceof RuntimeLostError) throw cause;
      // Requests wait for the model that is loaded instead, or else for this one.
      if (this.#job) void this.#restore();
      else {
        generator.fail(toWireError(cause));
        await generator.eject(() => void this.#restore());
      }
    }
  }

  /**
   * Ends the temporary models of this client: the model before them serves again, unless another one was loaded since.
   *
   * @throws As `load`.
   */
  #endTemporary(clientId: ClientId): Promise<void> {
    if (this.#job?.clientId === clientId) this.#job.job.cancel('it was temporary');
    const done = this.#last.then(() => this.#restoreLasting(clientId));
    this.#last = done.catch(() => {});
    return done;
  }

  #restoreLasting(clientId: ClientId): Promise<void> {
    if (this.#lasting?.clientId !== clientId) return Promise.resolve();
    const { chosen } = this.#lasting;
    const report = (load: ModelLoad): void => this.#options.onStatus({ load }, ['loadFailure']);
    const job = new LoadJob('', idOf(chosen), systemClock, report);
    const done = this.#run(job, { chosen });
    this.#job ??= { job, done, isOfStart: false };
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

  async #run(job: LoadJob, request: LoadRequest | RestoreRequest): Promise<void> {
    const { onStatus } = this.#options;
    try {
      const { model, chosen } = await this.#prepare(job, request, await this.#device.get());
      if ('encoder' in model) await this.#addEncoder(job, model, chosen);
      else await this.#takeOver(job, request, model, chosen);
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
      if (!isReplaced && !this.#served && !this.#ejected && this.#first.isReplaced) this.#first.fail(cause);
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
    model: LoadedModel,
    chosen: ChosenModel,
  ): Promise<void> {
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
    this.#serveWith({ model, chosen });
    job.succeed();
    const over = ['error', 'load', 'isEjected'] as const;
    onStatus({ state: 'ready', model: model.modelInfo, backend: model.backendInfo }, over);
    if ('chosen' in request) {
      if (chosen === this.#lasting?.chosen) this.#lasting = undefined;
    } else await this.#keep(request, chosen, before);
    await old?.model.backend.release();
  }

  /** Keeps the model, or the one before a temporary one. */
  async #keep(request: LoadRequest, chosen: ChosenModel, before: ChosenModel | undefined): Promise<void> {
    if (request.isTemporary) {
      const lasting = this.#lasting?.chosen ?? before;
      this.#lasting = lasting && { chosen: lasting, clientId: request.clientId };
    } else {
      this.#lasting = undefined;
      await this.#note(nameOf(request) === this.#first.name ? undefined : chosen);
    }
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

/** A temporary load and a lasting one of the same model don't share their end. */
function nameOf({ source, dtype, isTemporary }: LoadRequest): string {
  return nameOfLoad(source, dtype) + (isTemporary ? ' for a while' : '');
}
