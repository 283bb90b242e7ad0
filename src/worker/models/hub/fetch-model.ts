import type { Clock } from '../../../batching/base/clock.ts';
import type { LoadStage, DtypeChoice } from '../../../protocol/models.ts';
import { localFiles, stampOf, type CheckpointFiles } from '../formats/checkpoint-files.ts';
import { importPart } from '../../base/import-part.ts';
import type { Model } from '../family.ts';
import { chooseGguf } from '../gguf/choose-gguf.ts';
import type { CheckpointSource } from '../checkpoint/find-tensors.ts';
import { downloadBytesOf, type Checkpoint, type ModelFiles } from '../checkpoint/checkpoint.ts';
import { convertWeights } from '../checkpoint/convert-weights.ts';
import type { DeviceLimits } from '../checkpoint/device-fit.ts';
import { hasFloat16, planModel, type ModelPlan } from '../checkpoint/model-plan.ts';
import { readCheckpoint, readModelFiles } from '../checkpoint/open-checkpoint.ts';
import { writeRows, type TakeRows } from '../checkpoint/weight-source.ts';
import { HubError, LoadCancelledError } from '../../../protocol/errors/hub.ts';
import { HubClient, type HubClientOptions } from './hub-client.ts';
import { readHubSnapshot } from './hub-snapshot.ts';
import type { ModelFolder, ModelOrigin, StoredFile, WriteWeights } from '../store/model-folder.ts';
import type { ModelStore } from '../store/model-store.ts';
import type { Parts } from '../store/parts.ts';
import { requireRoom } from '../store/opfs.ts';
import { RemoteCheckpoint } from './remote-checkpoint.ts';

export interface FetchOptions {
  readonly store: ModelStore;
  readonly dtype: DtypeChoice;
  readonly device: DeviceLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: (stage: LoadStage) => void;
  /** Throws for a model that is not wanted, before its weights are read. */
  readonly accept: (model: Model) => void;
}

/**
 * Downloads a model from the hub into the store. It reads `config.json` first and refuses a model that cannot run here. Then the
 * weights are verified and converted while they arrive. After an interruption, the next call fetches only what is missing.
 *
 * @throws The errors of the hub's client, of the checkpoint, of its plan and of the store. Partial files are kept if a later
 * call can use them; damaged ones, and those of models that cannot run here, are deleted.
 */
export async function fetchHubModel(
  source: Omit<ModelOrigin, 'commit'>,
  options: FetchOptions,
): Promise<ModelFolder> {
  const { clock, store } = options;
  // The first file that fails aborts the others.
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  let isDownloading = false;
  const report = (stage: LoadStage): void => {
    isDownloading = true;
    options.report(stage);
  };
  // The download reports its bytes; before it, only retries show that the load goes on.
  const onRetry = (numFailures: number): void => {
    if (!isDownloading) options.report({ phase: 'resolve', loaded: numFailures, total: 0 });
  };
  const { remote, parts, origin, openFiles } = await openRemote(source, { clock, store, signal, onRetry });
  try {
    const files = await openFiles();
    const folder = await fetchAndConvert(remote, files, parts, origin, { ...options, report, signal });
    await parts.delete();
    return folder;
  } catch (error) {
    failure.abort(error);
    await remote.settled();
    if (!(error instanceof HubError) && !(error instanceof LoadCancelledError)) await parts.delete();
    throw error;
  } finally {
    parts.close();
  }
}

/**
 * Reads the small files of a model of the hub. They stay for the download.
 *
 * @throws As `fetchHubModel`.
 */
export async function readHubModel(
  source: Omit<ModelOrigin, 'commit'>,
  options: Pick<FetchOptions, 'store' | 'clock' | 'signal'>,
): Promise<ModelFiles> {
  const { remote, parts, openFiles } = await openRemote(source, { ...options, onRetry: () => {} });
  try {
    return await readModelFiles(await openFiles());
  } finally {
    await remote.settled();
    parts.close();
  }
}

async function openRemote(
  source: Omit<ModelOrigin, 'commit'>,
  { store, ...options }: Pick<FetchOptions, 'store' | 'clock' | 'signal'> & Pick<HubClientOptions, 'onRetry'>,
) {
  const [id = '', wanted] = source.id.split(':');
  const client = new HubClient({ ...source, ...options, id, random: Math.random });
  const snapshot = await readHubSnapshot(client, source.revision);
  const origin: ModelOrigin = { ...source, commit: snapshot.commit };
  const parts = await store.openParts(origin);
  const remote = new RemoteCheckpoint({ client, snapshot, parts, signal: options.signal });
  const openFiles = (): Promise<CheckpointSource> => withGguf(remote, [...snapshot.files.keys()], wanted);
  return { remote, parts, origin, openFiles };
}

/** Stores a model from files that the user has picked. @throws As `fetchHubModel`. */
export async function importModel(
  name: string,
  picked: readonly File[],
  options: FetchOptions,
): Promise<ModelFolder> {
  const { checkpoint, plan } = await planCheckpoint(await openPicked(picked), options);
  const origin: ModelOrigin = { id: name, hub: '', revision: '', commit: stampOf(picked) };
  return storeModel(checkpoint, plan, origin, options, async (file) => {
    await requireRoom(plan.layout.size, () => file.truncate(plan.layout.size));
    await convertWeights(checkpoint, plan, writerTo(file, options.signal), (loaded, total) =>
      options.report({ phase: 'convert', loaded, total, ...demandOf(plan) }),
    );
  });
}

/** Reads the small files of a model that the user has picked. @throws As `fetchHubModel`. */
export async function readPickedModel(picked: readonly File[]): Promise<ModelFiles> {
  return readModelFiles(await openPicked(picked));
}

function openPicked(picked: readonly File[]): Promise<CheckpointSource> {
  const names = picked.map((file) => file.name);
  // Whatever its name, a file alone can be nothing else. What it is read as names it where it isn't.
  return withGguf(localFiles(picked), names, undefined, names.length === 1 ? names[0] : undefined);
}

/**
 * The GGUF file among the files that is wanted, or that is there in place of safetensors, as a checkpoint.
 *
 * @param only The one in place of any.
 */
async function withGguf(
  files: CheckpointFiles,
  names: readonly string[],
  wanted: string | undefined,
  only?: string,
): Promise<CheckpointSource> {
  if (wanted === undefined && names.includes('config.json')) return files;
  const name = only ?? chooseGguf(names, wanted);
  if (name === undefined) return files;
  const { ggufFiles } = await importPart(() => import('../gguf/gguf-files.ts'));
  return ggufFiles(files, name);
}

async function fetchAndConvert(
  remote: RemoteCheckpoint,
  files: CheckpointSource,
  parts: Parts,
  origin: ModelOrigin,
  options: FetchOptions,
): Promise<ModelFolder> {
  const { checkpoint, plan } = await planCheckpoint(files, options);
  const { weightFiles } = checkpoint;
  const { size } = plan.layout;
  const total = downloadBytesOf(weightFiles);
  await parts.note(total);
  return storeModel(checkpoint, plan, origin, options, async (file) => {
    const numMissing = remote.missingBytes(weightFiles);
    await requireRoom(numMissing + size, () => {
      remote.reserve(weightFiles);
      file.truncate(size);
    });
    let loaded = total - numMissing;
    const report = (numBytes: number): void => {
      // A server that ignores ranges sends more than was asked for.
      loaded = Math.min(total, loaded + numBytes);
      options.report({ phase: 'download', loaded, total, ...demandOf(plan) });
    };
    report(0);
    const write = writerTo(file, options.signal);
    await remote.stream(weightFiles, report, () => convertWeights(checkpoint, plan, write));
  });
}

function demandOf({ deviceBytes, layout }: ModelPlan): Pick<LoadStage, 'memoryBytes' | 'dtype'> {
  return { memoryBytes: deviceBytes, dtype: layout.dtype };
}

function writerTo(file: StoredFile, signal: AbortSignal): TakeRows {
  return (rows) => {
    signal.throwIfAborted();
    writeRows(rows, (bytes, at) => file.write(bytes, { at }));
  };
}

/** Refuses a model that cannot run here, or is not wanted, by its `config.json`, before anything else is fetched. */
async function planCheckpoint(
  files: CheckpointSource,
  { dtype, device, accept }: FetchOptions,
): Promise<{ readonly checkpoint: Checkpoint; readonly plan: ModelPlan }> {
  const modelFiles = await readModelFiles(files);
  accept(modelFiles.model);
  const plan = planModel(modelFiles, dtype, device);
  return { checkpoint: await readCheckpoint(files, modelFiles), plan };
}

function storeModel(
  checkpoint: Checkpoint,
  plan: ModelPlan,
  origin: ModelOrigin,
  { store, dtype, device }: FetchOptions,
  write: WriteWeights,
): Promise<ModelFolder> {
  const choice = { dtypeChoice: dtype, dtypeReason: plan.reason, hadFloat16: hasFloat16(device) };
  const { config, generationConfig, tokenizer, tokenizerConfig } = checkpoint;
  const texts = { config, generationConfig, tokenizer, tokenizerConfig };
  return store.write(origin, texts, choice, plan.layout, write);
}
