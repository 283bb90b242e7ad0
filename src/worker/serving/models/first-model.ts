import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { loadEmbeddedModel, loadStoredModel, type ReportProgress } from './load-model.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { ModelStartError } from '../../../protocol/errors/hub.ts';
import { ModelFileCorruptError, NoModelError } from '../../../protocol/errors/model.ts';
import { GpuWrongValuesError, StepHangError } from '../../../protocol/errors/runtime.ts';
import { LADDERS, RUNG_NAMES, type BackendChoice, type Rung } from '../../../protocol/ladder.ts';
import type { WorkerPast } from '../../../protocol/recovery.ts';
import type { WorkerStatus } from '../../../protocol/status.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';
import { chooseDevice, limitsOf, type DeviceChoice } from '../../runtime/create-backend.ts';
import { isFault } from '../../runtime/faults/fault-of.ts';
import { warmUp } from '../../runtime/warm-up.ts';
import type { TextDeployment } from '../../text-generation/text-deployment.ts';
import type { ServeWorkerHost } from '../host-reports.ts';
import { checkGpu } from './check-gpu.ts';
import type { RemovableField } from '../status-publisher.ts';

export interface ModelOptions extends Pick<ServeWorkerHost, 'app' | 'past'> {
  /** The folder of the embedded model. Empty if there is none. */
  readonly modelUrl: string;
  readonly backend: BackendChoice;
  readonly generator: Pick<TextDeployment, 'useModel' | 'fail' | 'hasBegunText'>;
  readonly onStatus: (change: Partial<WorkerStatus>, removed: readonly RemovableField[]) => void;
  readonly onRung: (rung: Rung) => void;
}

type Load = (device: DeviceChoice, report: ReportProgress) => Promise<LoadedModel>;

/** The model that a worker starts with: the last one that this browser loaded, or the embedded one. */
export class FirstModel {
  readonly #options: ModelOptions;
  readonly #store: Promise<ModelStore>;
  #rung: Rung | undefined;

  constructor(options: ModelOptions, store: Promise<ModelStore>) {
    this.#options = options;
    this.#store = store;
  }

  /**
   * Returns undefined if no model can serve here.
   *
   * @throws RuntimeLostError if another worker may succeed.
   */
  async serve(): Promise<LoadedModel | undefined> {
    const { modelUrl, onStatus, generator } = this.#options;
    const folder = await this.#chosenBefore();
    const stored = folder && (await this.#serveStored(folder));
    if (stored) return stored;
    if (modelUrl === '') {
      onStatus({ state: 'ready' }, ['progress']);
      generator.fail(toWireError(NoModelError.of()));
      return undefined;
    }
    try {
      return await this.#serve((device, report) => loadEmbeddedModel(modelUrl, device, report));
    } catch (cause) {
      if (isFault(cause) && !this.#isFinal(cause)) throw new RuntimeLostError(cause);
      const error = toWireError(cause);
      onStatus({ state: 'failed', error }, ['progress']);
      generator.fail(error);
      return undefined;
    }
  }

  async #chosenBefore(): Promise<ModelFolder | undefined> {
    const { modelUrl, past, onStatus } = this.#options;
    try {
      const store = await this.#store;
      const folder = await store.served(modelUrl, past.recovery !== undefined);
      // Another start can remove files that this one cannot.
      await store.sweep().catch(() => {});
      return folder;
    } catch (cause) {
      // Without storage, nothing was stored: that is no failure to show.
      if (cause instanceof ModelFileCorruptError || cause instanceof ModelStartError)
        onStatus({ loadFailure: { id: '', error: toWireError(cause) } }, []);
      return undefined;
    }
  }

  /** Returns undefined if this model cannot serve here. */
  async #serveStored(folder: ModelFolder): Promise<LoadedModel | undefined> {
    try {
      const model = await this.#serve((device, report) => loadStoredModel(folder, device, report));
      await this.#endStart(folder);
      return model;
    } catch (cause) {
      // The runtime hangs, so the embedded model could not start either. The start is not marked as ended: it counts against this model.
      if (cause instanceof StepHangError && this.#isLastTry) throw new RuntimeLostError(cause);
      await this.#endStart(folder);
      // Another rung may run this model.
      if (isFault(cause) && !this.#isLastTry && !this.#isFinal(cause)) throw new RuntimeLostError(cause);
      const loadFailure = { id: folder.manifest.id, error: toWireError(cause) };
      this.#options.onStatus({ state: 'loading', loadFailure }, ['progress']);
      return undefined;
    }
  }

  async #serve(load: Load): Promise<LoadedModel> {
    const { backend, past, onStatus, onRung, generator } = this.#options;
    const report: ReportProgress = (progress) => onStatus({ progress }, []);
    const model = await withDevice(backend, past, async (device) => {
      this.#rung = device.rung;
      onRung(device.rung);
      const loaded = await load(device, report);
      await checkGpu(loaded, device, this.#store, report);
      return loaded;
    });
    this.#warnOfGpu();
    onStatus({ state: 'warming-up', model: model.modelInfo, backend: model.backendInfo }, []);
    await warmUp(
      model.backend,
      model.config,
      (loaded, total) => report({ phase: 'compile', loaded, total }),
      () => generator.hasBegunText,
    );
    onStatus({ state: 'ready' }, ['progress']);
    await generator.useModel(model);
    return model;
  }

  /** If the end of a start cannot be written, the start counts against the model. */
  async #endStart({ key }: ModelFolder): Promise<void> {
    const store = await this.#store;
    await store.endStart(key).catch(() => {});
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

  /** Whether a stored model has failed on every rung, so that the last rung goes to the embedded model. */
  get #isLastTry(): boolean {
    return this.#isOnLastRung && this.#options.past.recovery?.rung === this.#rung;
  }
}

/** Destroys the device if `run` fails. */
export async function withDevice<Result>(
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

/** The limits of the device that a model would run on. */
export async function limitsHere(choice: BackendChoice, past: WorkerPast): Promise<DeviceLimits> {
  const device = await chooseDevice(choice, past);
  const limits = limitsOf(device);
  if ('gpu' in device) device.gpu.device.destroy();
  return limits;
}
