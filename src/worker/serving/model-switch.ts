import { systemClock } from '../../batching/clock.ts';
import { ClosedError, InvalidOptionError } from '../../batching/errors.ts';
import { chooseDevice, limitsOf, type DeviceChoice } from '../runtime/create-backend.ts';
import type { TextGeneratorDeployment } from '../text-generation/text-generator-deployment.ts';
import { importPart } from '../platform/import-part.ts';
import { LoadJob } from './load-job.ts';
import type { RemovableField } from './status-board.ts';
import {
  embeddedId,
  loadEmbeddedModel,
  loadStoredModel,
  type LoadedModel,
  type ReportProgress,
} from '../models/load-model.ts';
import type { DeviceLimits } from '../models/checkpoint/model-plan.ts';
import { ModelFileCorruptError } from '../protocol/errors/model.ts';
import { LoadCancelledError, ModelStartError } from '../protocol/errors/hub.ts';
import { localFiles } from '../models/hub/local-files.ts';
import { ModelStore, type ModelFolder } from '../models/store/model-store.ts';
import type {
  BackendChoice,
  Detokenization,
  DtypeChoice,
  ModelSource,
  Rung,
  StoredModel,
  Tokenization,
  WhenBusy,
  WorkerPast,
  WorkerStatus,
} from '../protocol/protocol.ts';
import { isFault } from '../runtime/fault-of.ts';
import { ladderOf } from '../protocol/ladder.ts';
import { StepHangError } from '../protocol/errors/runtime.ts';
import { warmUp } from '../runtime/warm-up.ts';
import { toWireError } from '../protocol/wire-errors.ts';

export interface LoadRequest {
  readonly source: ModelSource;
  readonly dtype: DtypeChoice;
  readonly whenBusy: WhenBusy;
}

export interface ModelSwitchOptions {
  /** The embedded model's folder. */
  readonly modelUrl: string;
  readonly backend: BackendChoice;
  readonly past: WorkerPast;
  readonly generator: Pick<TextGeneratorDeployment, 'useModel' | 'fail'>;
  readonly onStatus: (change: Partial<WorkerStatus>, removed: readonly RemovableField[]) => void;
  readonly onRung: (rung: Rung) => void;
  /** The first model cannot be made ready by this worker, or nothing can that is asked of its runtime; by another one it may. */
  readonly onFault: (cause: unknown) => void;
}

/** A model that is ready to serve, and where it is stored; the embedded one is not. */
interface ReadyModel {
  readonly model: LoadedModel;
  readonly folder: ModelFolder | undefined;
}

/** Which model serves. One at a time, for all tabs: another one is made ready beside it, and takes over when it is. */
export class ModelSwitch {
  /** Resolves when the first model serves, or is known not to. */
  readonly started: Promise<void>;
  readonly #options: ModelSwitchOptions;
  readonly #store: Promise<ModelStore>;
  #served: LoadedModel | undefined;
  /** That the first model runs on. */
  #rung: Rung | undefined;
  #job: { readonly job: LoadJob; readonly done: Promise<void> } | undefined;
  /** Loads come one after the other: each waits for the end of the one before it. */
  #last: Promise<void>;

  constructor(options: ModelSwitchOptions) {
    this.#options = options;
    this.#store = ModelStore.open();
    // Without storage, the embedded model serves all the same.
    this.#store.catch(() => {});
    this.started = this.#start();
    this.#last = this.started;
  }

  /** Of each token by itself: '' for a special one, U+FFFD for a part of a character. */
  async textsOf(tokenIds: readonly number[]): Promise<readonly string[]> {
    await this.started;
    return tokenIds.map((tokenId) => {
      const stream = this.#served?.tokenizer.createTextStream();
      return stream ? stream.push(tokenId) + stream.end() : '';
    });
  }

  async tokenize(text: string, addSpecialTokens: boolean): Promise<Tokenization> {
    const { tokenizer, modelInfo } = await this.#whenServed();
    const tokenIds = tokenizer.encode(text, addSpecialTokens);
    return {
      modelId: modelInfo.id,
      contextLength: modelInfo.contextLength,
      tokenIds,
      spellings: tokenIds.map((tokenId) => tokenizer.vocabulary.spell(tokenId)),
    };
  }

  /** @throws InvalidOptionError for an id that is outside of the vocabulary. */
  async detokenize(tokenIds: readonly number[]): Promise<Detokenization> {
    const { tokenizer, modelInfo } = await this.#whenServed();
    const { id: modelId, vocabSize } = modelInfo;
    const index = tokenIds.findIndex((tokenId) => tokenId >= vocabSize);
    if (index >= 0)
      throw InvalidOptionError.of(`tokens[${index}]`, `a token id below ${vocabSize}`, tokenIds[index]);
    return { modelId, text: tokenizer.vocabulary.decode(tokenIds) };
  }

  /**
   * Makes a model ready and lets it take over. While one is on its way, a request for the same one waits for it, and a request
   * for another one ends it.
   *
   * @throws What stands against it; then the model before it serves on.
   */
  load(request: LoadRequest): Promise<void> {
    const { source, dtype } = request;
    const id = idOf(source, this.#options.modelUrl);
    const name = JSON.stringify([source, dtype]);
    const last = this.#job;
    // Nobody new waits for one that was ended, though it is still here.
    if (last && !last.job.isCancelled && last.job.name === name && source.type !== 'files') return last.done;
    last?.job.cancel(`${id} is loaded instead`);
    const job = new LoadJob(name, id, systemClock, (load) =>
      this.#options.onStatus({ load }, ['loadFailure']),
    );
    const done = this.#last.then(() => this.#run(job, request));
    this.#job = { job, done };
    this.#last = done.catch(() => {});
    return done;
  }

  steer(action: 'pause' | 'resume' | 'cancel'): void {
    const job = this.#job?.job;
    if (action === 'cancel') job?.cancel('cancelled');
    else job?.[action]();
  }

  async list(): Promise<readonly StoredModel[]> {
    return (await this.#store).list();
  }

  async delete(key: string): Promise<void> {
    await (await this.#store).delete(key);
  }

  async #whenServed(): Promise<LoadedModel> {
    await this.started;
    if (this.#served) return this.#served;
    throw new ClosedError('No model serves: see why on the page, and load another model there.');
  }

  /** What this browser was told to serve, where that can still be had; else the embedded model. */
  async #start(): Promise<void> {
    const folder = await this.#chosenBefore();
    if (folder && (await this.#serveStored(folder))) return;
    try {
      await this.#serveFirst((device, report) => loadEmbeddedModel(this.#options.modelUrl, device, report));
    } catch (cause) {
      if (isFault(cause)) return this.#failFor(cause);
      const error = toWireError(cause);
      this.#options.onStatus({ state: 'failed', error }, ['progress']);
      this.#options.generator.fail(error);
    }
  }

  /** Whether it serves now. */
  async #serveStored(folder: ModelFolder): Promise<boolean> {
    try {
      await this.#serveFirst((device, report) => loadStoredModel(folder, device, report));
      await this.#endStart(folder);
      return true;
    } catch (cause) {
      // Its start brings the worker down where nothing that follows would come to an end either.
      if (cause instanceof StepHangError && this.#isLastTry) return this.#failFor(cause);
      await this.#endStart(folder);
      // What it was to run on has failed: another rung may run it.
      if (isFault(cause) && !this.#isLastTry) return this.#failFor(cause);
      const loadFailure = { id: folder.manifest.id, error: toWireError(cause) };
      this.#options.onStatus({ state: 'loading', loadFailure }, ['progress']);
      return false;
    }
  }

  /** A start whose end cannot be noted counts on. */
  async #endStart({ key }: ModelFolder): Promise<void> {
    const store = await this.#store;
    await store.endStart(key).catch(() => {});
  }

  /** A stored model that has failed on every rung leaves the last one to the embedded model. */
  get #isLastTry(): boolean {
    const { backend, past } = this.#options;
    return this.#rung === ladderOf(backend).at(-1) && past.recovery?.rung === this.#rung;
  }

  /** What waits for the model waits for another worker. */
  #failFor(cause: unknown): Promise<never> {
    this.#options.onFault(cause);
    return new Promise<never>(() => {});
  }

  async #chosenBefore(): Promise<ModelFolder | undefined> {
    const { modelUrl, past, onStatus } = this.#options;
    try {
      const store = await this.#store;
      const served = await store.served(modelUrl, past.recovery !== undefined);
      // What cannot be swept away now can be at another start.
      await store.sweep().catch(() => {});
      return served;
    } catch (cause) {
      // A browser without storage has stored nothing.
      if (cause instanceof ModelFileCorruptError || cause instanceof ModelStartError)
        onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
      return undefined;
    }
  }

  async #serveFirst(
    load: (device: DeviceChoice, report: ReportProgress) => Promise<LoadedModel>,
  ): Promise<void> {
    const { backend, past, onStatus, onRung, generator } = this.#options;
    const model = await withDevice(backend, past, (device) => {
      this.#rung = device.rung;
      onRung(device.rung);
      return load(device, (progress) => onStatus({ progress }, []));
    });
    onStatus({ state: 'warming-up', model: model.modelInfo, backend: model.backendInfo }, []);
    // Who waits in the middle of a text waits for the shaders of its own steps alone.
    if (!past.isProven) {
      await warmUp(model.backend, model.config, (loaded, total) =>
        onStatus({ progress: { phase: 'compile', loaded, total } }, []),
      );
    }
    this.#served = model;
    onStatus({ state: 'ready' }, ['progress']);
    await generator.useModel(model);
  }

  async #run(job: LoadJob, request: LoadRequest): Promise<void> {
    const { backend, past, onStatus } = this.#options;
    try {
      const ready = await withDevice(backend, past, (device) =>
        this.#prepare(job, request.source, request.dtype, device),
      );
      await this.#takeOver(ready, request.whenBusy, job);
    } catch (cause) {
      // What the runtime does at a time is one thing, so that all waits for the one that comes to no end.
      if (cause instanceof StepHangError) return this.#failFor(cause);
      job.end();
      const isReplaced = this.#job?.job !== job;
      // Who has ended it knows.
      const isFailure = !(cause instanceof LoadCancelledError);
      const loadFailure = { id: job.id, error: toWireError(cause) };
      if (!isReplaced) onStatus(isFailure ? { loadFailure } : {}, ['load']);
      throw cause;
    } finally {
      if (this.#job?.job === job) this.#job = undefined;
    }
  }

  async #prepare(
    job: LoadJob,
    source: ModelSource,
    dtype: DtypeChoice,
    device: DeviceChoice,
  ): Promise<ReadyModel> {
    const folder = await this.#obtain(job, source, dtype, limitsOf(device));
    // From here on it is short, and nothing of it could go on later.
    const model = await job.attempt(() =>
      folder
        ? loadStoredModel(folder, device, job.report)
        : loadEmbeddedModel(this.#options.modelUrl, device, job.report),
    );
    try {
      await warmUp(model.backend, model.config, (loaded, total) =>
        job.report({ phase: 'compile', loaded, total }),
      );
    } catch (error) {
      // It would wait for what has hung.
      if (!(error instanceof StepHangError)) await model.backend.release();
      throw error;
    }
    return { model, folder };
  }

  /** From the store, where it is; else from where it comes. Undefined for the embedded model, which is never stored. */
  async #obtain(
    job: LoadJob,
    source: ModelSource,
    dtype: DtypeChoice,
    device: DeviceLimits,
  ): Promise<ModelFolder | undefined> {
    if (source.type === 'embedded') return undefined;
    const store = await this.#store;
    const options = { store, dtype, device, clock: systemClock, report: job.report };
    if (source.type === 'files') {
      const files = localFiles(source.files);
      const { importModel } = await importFetching();
      return job.attempt((signal) => importModel(source.name, files, { ...options, signal }));
    }
    const stored = (await store.folders()).find((folder) => isWanted(folder, source, dtype, device));
    if (stored) return stored;
    const { fetchHubModel } = await importFetching();
    return job.attempt((signal) => fetchHubModel(source, { ...options, signal }));
  }

  async #takeOver({ model, folder }: ReadyModel, whenBusy: WhenBusy, job: LoadJob): Promise<void> {
    const { generator, onStatus } = this.#options;
    job.report({ phase: 'drain', loaded: 0, total: 1 });
    const old = this.#served;
    try {
      // Cancelled before or meanwhile, it takes nothing over.
      await job.attempt((signal) => generator.useModel(model, whenBusy, signal));
    } catch (error) {
      await model.backend.release();
      throw error;
    }
    this.#served = model;
    job.end();
    onStatus({ state: 'ready', model: model.modelInfo, backend: model.backendInfo }, ['error', 'load']);
    await this.#note(folder);
    await old?.backend.release();
  }

  /** For the next start. Whether or not that can be written down, the model serves now. */
  async #note(folder: ModelFolder | undefined): Promise<void> {
    const store = await this.#store.catch(() => undefined);
    try {
      await store?.serve(this.#options.modelUrl, folder?.key);
    } catch (cause) {
      this.#options.onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
    }
  }
}

async function withDevice<Result>(
  choice: BackendChoice,
  past: WorkerPast,
  run: (device: DeviceChoice) => Promise<Result>,
): Promise<Result> {
  const device = await chooseDevice(choice, past);
  try {
    return await run(device);
  } catch (error) {
    if ('gpu' in device) device.gpu.device.destroy();
    throw error;
  }
}

function idOf(source: ModelSource, modelUrl: string): string {
  switch (source.type) {
    case 'embedded':
      return embeddedId(modelUrl);
    case 'hub':
      return source.id;
    case 'files':
      return source.name;
    default:
      return source satisfies never;
  }
}

/** Whether a stored model is what a load from the hub would come to. */
function isWanted(
  { manifest }: ModelFolder,
  { hub, id, revision }: Extract<ModelSource, { type: 'hub' }>,
  dtype: DtypeChoice,
  device: DeviceLimits,
): boolean {
  const { packed, dtypeChoice } = manifest;
  const hasFloat16 = device.kind === 'webgpu' && device.hasShaderF16;
  const runsHere = packed.precision === 'float32' || hasFloat16;
  // What `auto` chose on a device without fp16 is not the best on one that has it.
  const isBest = dtypeChoice === 'auto' && (packed.dtype === 'fp16' || !hasFloat16);
  const hasDtype = dtype === 'auto' ? isBest : packed.dtype === dtype;
  return runsHere && hasDtype && manifest.hub === hub && manifest.id === id && manifest.revision === revision;
}

/** On demand: what is stored needs neither the hub nor a digest. */
function importFetching() {
  return importPart(() => import('../models/hub/fetch-model.ts'));
}
