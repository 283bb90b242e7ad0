import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { systemClock } from '../../../batching/base/clock.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { loadModel } from './load-model.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import { deletedModel } from '../../models/model-errors.ts';
import { deploymentOf } from '../../models/encoder/encoder-config.ts';
import type { Model } from '../../models/family.ts';
import { ModelStore, type ChosenModel } from '../../models/store/model-store.ts';
import type { CallHandlers, CallMessage } from '../../../protocol/calls.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import { LoadCancelledError } from '../../../protocol/errors/hub.ts';
import { NoModelError } from '../../../protocol/errors/model.ts';
import { StepHangError } from '../../runtime/faults/runtime-errors.ts';
import { isFetched, modelNameOf, type ModelLoad, type StoredModel } from '../../../protocol/models.ts';
import type { ClientId } from '../../../protocol/ids.ts';
import type { EncoderInit } from '../../../protocol/host-messages.ts';
import { namesOf } from '../../../protocol/names.ts';
import { importPart } from '../../base/import-part.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import { serveModel } from '../../text-generation/serve-model.ts';
import { limitsOf } from '../../runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { warmUp } from '../../runtime/warm-up.ts';
import { checkGpu } from './check-gpu.ts';
import { checkDeployment, checkServes } from './example-models.ts';
import { EncoderModels } from './encoder-models.ts';
import { FirstModel, type ModelOptions, type ServedModel } from './first-model.ts';
import { createHubCalls } from './hub-calls.ts';
import { HeldModels, idOf, isThere, keyOf } from './held-models.ts';
import { LoadJob, nameOfLoad } from './load-job.ts';
import { obtainModel } from './obtain-model.ts';
import type { ModelCall } from '../deployments/own-calls.ts';
import { StoredCalls } from './stored-calls.ts';
import { createTokenCalls, textsOfTokens } from './token-calls.ts';

export type LoadRequest = Pick<CallMessage<'load-model'>, 'source' | 'dtype' | 'whenBusy' | 'deployment'> &
  Partial<Pick<CallMessage<'load-model'>, 'isTemporary' | 'clientId' | 'callId'>>;

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
  /** The calls that wait for it, and the start for its own. Without any, it is cancelled. */
  readonly waiting: Set<LoadRequest>;
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
  readonly #held = new HeldModels();
  readonly #stored: StoredCalls;
  #served: ServedModel | undefined;
  /** Why no model serves, if the last one was deleted. */
  #loss: Error | undefined;
  /** The next request loads it. */
  #ejected: ChosenModel | undefined;
  /** Set while a temporary model serves. */
  #lasting: Lasting | undefined;
  #job: CurrentJob | undefined;
  /** Whether encoders of the start are still to be loaded. A load that waits for them isn't shown yet. */
  #hasEncodersAhead: boolean;
  /** The end of the last load: loads run one after another. */
  #last: Promise<unknown>;
  readonly calls: CallHandlers<ModelCall>;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#store = ModelStore.open(namesOf(options.app).storageFolder);
    // The embedded model serves without storage too.
    this.#store.catch(() => {});
    this.#device = new SharedDevice(options.backend, options.past, options.isTrial);
    const { recovery, left } = options.past;
    const start = { isAfterFault: recovery !== undefined, worker: options.lifeLock, left };
    const parts = { store: this.#store, device: this.#device, held: this.#held, start };
    this.#encoders = new EncoderModels(options.encoders, parts);
    this.#first = new FirstModel(options, this.#encoders, parts);
    this.#stored = new StoredCalls({
      store: this.#store,
      isInUse: (key) => this.#isInUse(key),
      isLoaded: (stored) => this.#isLoaded(stored),
      onDeleted: (key) => this.#loseDeleted(key),
    });
    this.calls = this.#createCalls();
    const { encoders = [] } = options.first;
    this.#hasEncodersAhead = encoders.length > 0;
    this.started = this.#start(encoders);
    this.#last = encoders.length === 0 ? this.started : this.started.then(() => this.#loadEncoders(encoders));
  }

  #createCalls(): CallHandlers<ModelCall> {
    return {
      ...createTokenCalls(() => this.#servedModel()),
      ...createHubCalls({ device: this.#device, store: this.#store }),
      ...this.#stored.calls,
      'load-model': (request) => this.load(request),
      'eject-model': ({ model }) =>
        this.#afterLoads((before) => before.then(() => this.#eject(model ?? TEXT_GENERATOR))),
      'restore-model': ({ clientId }) => this.#endTemporary(clientId),
      'check-device': async () => {
        const { checkedAs } = await this.#servedModel();
        const { checkDevice } = await importPart(() => import('./check-device.ts'));
        return checkDevice((await this.#device.get()).runtime, checkedAs);
      },
    };
  }

  /** Of the model that serves. */
  tokenTexts(tokenIds: readonly number[]): readonly string[] {
    return textsOfTokens(tokenIds, this.#served?.model);
  }

  /**
   * Prepares a model and switches to it. An equal request shares the current load, also that of the first model, and any other
   * request cancels it, or waits for the encoders that the app names. If the load fails, the current model keeps serving.
   *
   * @throws InvalidOptionError for a deployment that takes no models, and for a temporary encoder; RuntimeLostError if no model can run in this worker any more; else the reason why the
   *   load failed.
   */
  async load(request: LoadRequest): Promise<void> {
    const { source, deployment = TEXT_GENERATOR, isTemporary, clientId } = request;
    checkDeployment(deployment);
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
      last.waiting.add(request);
      if (clientId) last.owners?.add(clientId);
      return last.done;
    }
    if (last?.isOfStart !== true) last?.job.cancel(insteadOf(id));
    this.#job = undefined;
    return this.#afterLoads((before) => this.#begin(request, before));
  }

  /** @param before Resolves when the load may run. */
  #begin(request: LoadRequest, before: Promise<unknown>, isOfStart = false): Promise<void> {
    const { source, isTemporary, clientId } = request;
    const report = (load: ModelLoad): void => {
      // The start tells of each of its failures until another load is asked for.
      if (isOfStart) this.#options.onStatus({ load }, []);
      else if (!this.#hasEncodersAhead) this.#options.onStatus({ load }, ['loadFailure']);
    };
    const job = new LoadJob(nameOf(request), modelNameOf(source), systemClock, report);
    const owners = isTemporary ? new Set(clientId && [clientId]) : undefined;
    // One that is cancelled ends at once: it does not wait for requests that an ejection lets end.
    const done = Promise.race([before, job.cancelled]).then(() => this.#run(job, request, owners));
    // A load that waits is cancelled by the next one, and not by an encoder of the start.
    this.#job ??= { job, done, waiting: new Set([request]), isOfStart, owners };
    return done;
  }

  /** This call no longer waits for its load, which is cancelled once nobody does. */
  leave(clientId: ClientId, callId: number): void {
    const { job, waiting = new Set<LoadRequest>(), owners } = this.#job ?? {};
    const left = [...waiting].find((call) => call.clientId === clientId && call.callId === callId);
    if (!left) return;
    waiting.delete(left);
    if (![...waiting].some((call) => call.clientId === clientId)) owners?.delete(clientId);
    if (waiting.size === 0) job?.cancel('nobody waits for it any more');
  }

  /** A closed tab waits for nothing. What it loads goes on: all tabs see it, and may cancel it. */
  forget(clientId: ClientId): void {
    const { waiting = new Set<LoadRequest>() } = this.#job ?? {};
    for (const call of waiting) if (call.clientId === clientId) waiting.delete(call);
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
    throw this.#loss ?? this.#first.failure ?? NoModelError.of();
  }

  /**
   * Frees the memory of a model, once its requests have ended.
   *
   * @param model Its deployment, or its ID.
   * @throws InvalidOptionError if there is none.
   */
  #eject(model: string): Promise<void> {
    const deployment = this.#encoders.deploymentOf(model);
    if (deployment !== undefined) return this.#encoders.eject(deployment);
    const generates = this.#served?.chosen ?? this.#ejected;
    const id = generates && idOf(generates);
    if (model === TEXT_GENERATOR || model === id) return this.#ejectGenerator();
    const known = [TEXT_GENERATOR, ...(id === undefined ? [] : [id]), ...this.#encoders.names];
    throw InvalidOptionError.of('model', `one of ${known.join(', ')}`, model);
  }

  async #ejectGenerator(): Promise<void> {
    const { generator, onStatus } = this.#options;
    const served = this.#served;
    if (!served) return;
    await generator.eject(() => void this.#restore());
    if (await isThere(served.chosen, this.#store)) {
      this.#ejected = served.chosen;
      onStatus({ isEjected: true }, []);
    } else this.#lose(served.chosen);
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
    this.#job = { job, done, waiting: new Set(), isLasting };
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
  #afterLoads(run: (before: Promise<unknown>) => Promise<void>): Promise<void> {
    const before = this.#last;
    const done = run(before);
    this.#last = Promise.allSettled([before, done]);
    return done;
  }

  #loseDeleted(key: string): void {
    if (this.#ejected && keyOf(this.#ejected) === key) this.#lose(this.#ejected);
    this.#encoders.lose(key);
  }

  /** Nothing has failed, so the state stays `ready`: prompts fail with the reason until another model serves. */
  #lose(chosen: ChosenModel): void {
    this.#ejected = undefined;
    this.#loss = deletedModel(idOf(chosen));
    this.#first.serveNone(this.#loss);
  }

  async #start(encoders: readonly EncoderInit[]): Promise<void> {
    if (encoders.length > 0 && !(await this.#first.reserve(encoders))) return;
    const served = await this.#first.serve();
    if (served) this.#serveWith(served);
  }

  /** The status and their requests say why one failed. Without the first model, none is loaded. */
  async #loadEncoders(encoders: readonly EncoderInit[]): Promise<void> {
    const { failure } = this.#first;
    const loaded = failure === undefined ? encoders : [];
    if (failure !== undefined)
      for (const { deployment } of encoders) this.#encoders.fail(deployment, failure);
    for (const { deployment, source } of loaded) {
      this.#device.discount(deployment);
      const request: LoadRequest = { source, deployment, dtype: 'auto', whenBusy: 'finish' };
      await this.#begin(request, Promise.resolve(), true).catch((error: unknown) => {
        if (error instanceof RuntimeLostError) throw error;
        this.#encoders.fail(deployment, error);
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

  /** Its part of a download counts, too. */
  #isLoaded({ key, id, dtype }: StoredModel): boolean {
    const isFetching = [this.#first.job, this.#job?.job].some((job) => job?.id === id);
    return dtype === undefined ? isFetching : this.#held.has(key);
  }

  async #whenFirstServes(): Promise<void> {
    await this.started;
    if (!this.#served) throw this.#first.failure;
  }

  async #run(job: LoadJob, request: LoadRequest | RestoreRequest, owners?: Owners): Promise<void> {
    const { onStatus } = this.#options;
    try {
      const device = await this.#device.get();
      const chosen = 'chosen' in request ? request.chosen : await this.#choose(job, request, device);
      await this.#held.during(chosen, async () => {
        const model = await this.#prepare(job, request, chosen, device);
        if ('encoder' in model) await this.#addEncoder(job, model, chosen);
        else await this.#takeOver(job, request, { model, chosen }, owners);
      });
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

  async #prepare(
    job: LoadJob,
    request: LoadRequest | RestoreRequest,
    chosen: ChosenModel,
    device: DeviceChoice,
  ): Promise<LoadedModel | LoadedEncoder> {
    // This part is short and cannot be resumed, so a pause does not abort it.
    const model = await job.attempt(() => loadModel(chosen, device, job.report));
    try {
      const serves = 'encoder' in model ? model.encoderInfo.deployment : TEXT_GENERATOR;
      checkServes(job.id, serves, wantedDeployment(request));
    } catch (error) {
      await model.backend.release();
      throw error;
    }
    if ('encoder' in model) return model;
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
    return model;
  }

  async #choose(job: LoadJob, request: LoadRequest, device: DeviceChoice): Promise<ChosenModel> {
    const { source, dtype } = request;
    if (isFetched(source)) return { source, dtype };
    await this.#stored.deletions;
    const accept = ({ encoder }: Model): void =>
      checkServes(job.id, deploymentOf(encoder), wantedDeployment(request));
    return obtainModel(source, dtype, limitsOf(device), await this.#store, job, accept);
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

/** An encoder serves beside the model that generates, so there is nothing to restore. */
function wantedDeployment(request: LoadRequest | RestoreRequest): string | undefined {
  return 'isTemporary' in request && request.isTemporary ? TEXT_GENERATOR : request.deployment;
}

function insteadOf(id: string): string {
  return `${id} is loaded instead`;
}

/** A temporary load and a lasting one of the same model don't share their end. */
function nameOf({ source, dtype, isTemporary }: LoadRequest): string {
  return nameOfLoad(source, dtype) + (isTemporary ? ' for a while' : '');
}
