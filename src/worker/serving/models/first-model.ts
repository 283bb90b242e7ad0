import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { systemClock } from '../../../batching/base/clock.ts';
import { loadModel, type ReportProgress } from './load-model.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { ChosenModel, ModelStore, StartFacts } from '../../models/store/model-store.ts';
import { LoadCancelledError, ModelStartError } from '../../../protocol/errors/hub.ts';
import { ModelFileCorruptError, NoModelError } from '../../../protocol/errors/model.ts';
import { GpuWrongValuesError } from '../../../protocol/errors/runtime.ts';
import { StepHangError } from '../../runtime/faults/runtime-errors.ts';
import { LADDERS, RUNG_NAMES, type BackendChoice, type Rung } from '../../../protocol/ladder.ts';
import type { EncoderInit, FirstModelInit } from '../../../protocol/host-messages.ts';
import {
  isFetched,
  modelNameOf,
  type DtypeChoice,
  type ModelLoad,
  type ModelSource,
  type StoredSource,
} from '../../../protocol/models.ts';
import type { WorkerStatus } from '../../../protocol/status.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import { serveModel } from '../../text-generation/serve-model.ts';
import { limitsOf } from '../../runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { isFault } from '../../runtime/faults/fault-of.ts';
import type { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { warmUp } from '../../runtime/warm-up.ts';
import type { TextDeployment } from '../../text-generation/text-deployment.ts';
import type { ServeWorkerHost } from '../reports/host-reports.ts';
import { importPart } from '../../base/import-part.ts';
import { checkGpu } from './check-gpu.ts';
import type { EncoderModels, EncoderModelsOptions, LoadParts } from './encoder-models.ts';
import { idOf, type HeldModels } from './held-models.ts';
import { LoadFraction, LoadJob, nameOfLoad } from './load-job.ts';
import { deletedModel, notStoredFor } from '../../models/model-errors.ts';
import { findStored, obtainModel } from './obtain-model.ts';
import type { RemovableField } from '../reports/status-publisher.ts';

export interface ModelOptions extends Pick<ServeWorkerHost, 'app' | 'past' | 'isTrial' | 'lifeLock'> {
  /** The model that the app begins with. */
  readonly first: FirstModelInit;
  /** The ID of the model that the worker before this one ran, once a tab has told it. */
  readonly modelBefore: () => string | undefined;
  readonly backend: BackendChoice;
  readonly generator: Pick<TextDeployment, 'use' | 'eject' | 'fail' | 'hasBegunText'>;
  readonly onStatus: (change: Partial<WorkerStatus>, removed: readonly RemovableField[]) => void;
  readonly onRung: (rung: Rung) => void;
  readonly encoders: EncoderModelsOptions;
}

/** A model that serves, and where it came from. */
export interface ServedModel {
  readonly model: LoadedModel;
  readonly chosen: ChosenModel;
}

interface ReplacedLoad {
  readonly source: ModelSource;
  readonly dtype: DtypeChoice;
  readonly whenBusy: 'finish';
}

/** The model that a worker starts with: the last one that this browser loaded, or the one that the app names. */
export class FirstModel {
  /** Names the model that the app begins with. */
  readonly name: string;
  readonly #options: ModelOptions;
  readonly #store: Promise<ModelStore>;
  readonly #device: SharedDevice;
  readonly #held: HeldModels;
  readonly #start: StartFacts;
  readonly #encoders: EncoderModels;
  #rung: Rung | undefined;
  #job: LoadJob | undefined;
  /** Of the whole start, also where a second model is tried. */
  readonly #fraction = new LoadFraction();
  #isReplaced = false;
  /** Whether tabs have been told why the chosen model does not serve. */
  #isLossTold = false;
  #failure: unknown;

  constructor(options: ModelOptions, encoders: EncoderModels, { store, device, held, start }: LoadParts) {
    this.#device = device;
    this.#held = held;
    this.#start = start;
    this.#encoders = encoders;
    this.name = nameOfLoad(options.first.model, options.first.dtype);
    this.#options = options;
    this.#store = store;
  }

  /** Set while a model is obtained that has to be stored. */
  get job(): LoadJob | undefined {
    return this.#job;
  }

  /** The load of this model, if another one was asked for before it was obtained. */
  get replaced(): ReplacedLoad | undefined {
    const { model: source, dtype } = this.#options.first;
    return this.#isReplaced && source.type !== 'none' ? { source, dtype, whenBusy: 'finish' } : undefined;
  }

  /** Why no model serves. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Cancels the download, if there is one. Prompts wait for the other model. */
  replaceWith(id: string): void {
    if (!this.#job) return;
    this.#isReplaced = true;
    this.#job.cancel(`${id} is loaded instead`);
  }

  /** Makes prompts fail, those that wait included. */
  fail(cause: unknown): void {
    const error = toWireError(cause);
    this.#failure = cause;
    this.#options.onStatus({ state: 'failed', error }, ['progress', 'isEjected']);
    this.#options.generator.fail(error);
  }

  /**
   * Without a model prompts fail.
   *
   * @param reason Of a model that served. Left out, prompts fail as they did at the start.
   */
  serveNone(reason?: Error): void {
    const { onStatus, generator } = this.#options;
    onStatus({ state: 'ready' }, ['progress', 'model', 'backend', 'isEjected']);
    if (reason || this.#failure === undefined) generator.fail(toWireError(reason ?? NoModelError.of()));
    else this.fail(this.#failure);
  }

  /** Counts the memory of the encoders that the app names. False if they don't fit together: then nothing is loaded. */
  async reserve(encoders: readonly EncoderInit[]): Promise<boolean> {
    try {
      const { reserveEncoders } = await importPart(() => import('./reserve-encoders.ts'));
      await reserveEncoders(encoders, this.#device, this.#store);
      return true;
    } catch (cause) {
      this.fail(cause);
      return false;
    }
  }

  /**
   * Returns undefined if no model can serve here.
   *
   * @throws RuntimeLostError if another worker may succeed.
   */
  async serve(): Promise<ServedModel | undefined> {
    const { model: source, dtype } = this.#options.first;
    // Looked for while the store is read. Whoever takes it hears of a failure.
    if (source.type !== 'none') this.#device.get().catch(() => {});
    const chosen = await this.#chosenBefore();
    const model = chosen && (await this.#serveChosen(chosen));
    await this.#sweep();
    if (model) return model;
    try {
      if (source.type !== 'none') {
        const own = await this.#serve((device) =>
          isFetched(source) ? { source, dtype } : this.#obtain(source, device),
        );
        await this.#reportLost(own && modelNameOf(source));
        if (own) return own;
      } else await this.#reportLost(undefined);
      this.serveNone();
      return undefined;
    } catch (cause) {
      if (isFault(cause) && !this.#isFinal(cause)) throw new RuntimeLostError(cause);
      if (!(this.#isReplaced && cause instanceof LoadCancelledError)) this.fail(cause);
      return undefined;
    }
  }

  /** Another model than the one before is not taken without a word. */
  async #reportLost(successor: string | undefined): Promise<void> {
    const before = this.#options.modelBefore();
    if (before === undefined || before === successor || this.#isLossTold) return;
    const store = await this.#store.catch(() => undefined);
    const stored = (await store?.folders()) ?? [];
    if (stored.some(({ manifest }) => manifest.id === before)) return;
    const error = toWireError(deletedModel(before, successor));
    this.#options.onStatus({ loadFailure: { id: before, error } }, []);
  }

  /** Stores a model, unless it is stored. Tabs see it as any other load. */
  async #obtain(source: StoredSource, device: DeviceChoice): Promise<ChosenModel> {
    const { first, onStatus, isTrial } = this.#options;
    if (isTrial) return this.#findStored(source, device);
    const send = (load: ModelLoad): void => onStatus({ load }, []);
    const job = new LoadJob(this.name, modelNameOf(source), systemClock, send, this.#fraction);
    this.#job = job;
    try {
      return await obtainModel(source, first.dtype, limitsOf(device), await this.#store, job);
    } finally {
      job.end();
      this.#job = undefined;
      onStatus({}, ['load']);
    }
  }

  /** @throws UnsupportedDtypeError. */
  async #findStored(source: StoredSource, device: DeviceChoice): Promise<ChosenModel> {
    const { dtype } = this.#options.first;
    const stored = await findStored(source, dtype, limitsOf(device), await this.#store);
    if (!stored) throw notStoredFor(modelNameOf(source));
    return stored;
  }

  async #chosenBefore(): Promise<ChosenModel | undefined> {
    const { onStatus, isTrial } = this.#options;
    try {
      const store = await this.#store;
      if (isTrial) return await store.chosen(this.name);
      return await store.served(this.name, this.#start);
    } catch (cause) {
      // Without storage, nothing was stored: that is no failure to show.
      this.#isLossTold = cause instanceof ModelFileCorruptError || cause instanceof ModelStartError;
      if (this.#isLossTold) onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
      return undefined;
    }
  }

  /**
   * Makes room before another model is stored, and doesn't hold up one that is. Another start can remove files that this one
   * cannot.
   */
  async #sweep(): Promise<void> {
    if (this.#options.isTrial) return;
    await this.#store.then((store) => store.sweep()).catch(() => {});
  }

  /** Returns undefined if this model cannot serve here. */
  async #serveChosen(chosen: ChosenModel): Promise<ServedModel | undefined> {
    try {
      const model = await this.#serve(() => chosen);
      await this.#endStart(chosen);
      return model;
    } catch (cause) {
      // The runtime hangs, so the app's first model could not start either. The start is not marked as ended: it counts against this model.
      if (cause instanceof StepHangError && this.#isLastTry) throw new RuntimeLostError(cause);
      await this.#endStart(chosen);
      // Another rung may run this model.
      if (isFault(cause) && !this.#isLastTry && !this.#isFinal(cause)) throw new RuntimeLostError(cause);
      const loadFailure = { id: idOf(chosen), error: toWireError(cause) };
      this.#isLossTold = true;
      this.#options.onStatus({ state: 'loading', loadFailure }, ['progress']);
      return undefined;
    }
  }

  /** Returns undefined for an encoder, which serves beside the text generator. */
  async #serve(
    choose: (device: DeviceChoice) => ChosenModel | Promise<ChosenModel>,
  ): Promise<ServedModel | undefined> {
    const { onStatus, onRung } = this.#options;
    const report: ReportProgress = (stage) =>
      onStatus({ progress: { ...stage, fraction: this.#fraction.at(stage) } }, []);
    const device = await this.#device.get();
    this.#rung = device.rung;
    onRung(device.rung);
    const chosen = await choose(device);
    return this.#held.during(chosen, () => this.#serveWith(chosen, device, report));
  }

  async #serveWith(
    chosen: ChosenModel,
    device: DeviceChoice,
    report: ReportProgress,
  ): Promise<ServedModel | undefined> {
    const { onStatus, generator } = this.#options;
    const model = await loadModel(chosen, device, report);
    if ('encoder' in model) {
      await this.#encoders.use(model, chosen);
      return undefined;
    }
    await checkGpu(model, device, this.#store, report);
    this.#warnOfGpu();
    onStatus({ state: 'warming-up', model: model.modelInfo, backend: model.backendInfo }, []);
    await warmUp(
      model.backend,
      model.config,
      (loaded, total) => report({ phase: 'compile', loaded, total }),
      () => generator.hasBegunText,
    );
    onStatus({ progress: { phase: 'compile', loaded: 1, total: 1, fraction: this.#fraction.end() } }, []);
    onStatus({ state: 'ready' }, ['progress']);
    await serveModel(generator, model);
    return { model, chosen };
  }

  /** If the end of a start cannot be written, the start counts against the model. */
  async #endStart(chosen: ChosenModel): Promise<void> {
    if ('source' in chosen || this.#options.isTrial) return;
    const store = await this.#store;
    await store.endStart(chosen.key).catch(() => {});
  }

  #warnOfGpu(): void {
    const { recovery } = this.#options.past;
    if (recovery?.kind !== 'wrong-values' || !this.#rung) return;
    console.warn(`${recovery.message}. Using ${RUNG_NAMES[this.#rung]}.`);
  }

  /** Whether no other worker could succeed, because this GPU is the last rung. */
  #isFinal(cause: unknown): boolean {
    return cause instanceof GpuWrongValuesError && this.#isOnLastRung;
  }

  get #isOnLastRung(): boolean {
    return this.#rung === LADDERS[this.#options.backend].at(-1);
  }

  /** Whether a stored model has failed on every rung, so that the last rung goes to the app's first model. */
  get #isLastTry(): boolean {
    return this.#isOnLastRung && this.#options.past.recovery?.rung === this.#rung;
  }
}
