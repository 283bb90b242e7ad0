import type { Clock } from '../../../batching/clock.ts';
import type { LoadStage, DtypeChoice } from '../../../protocol/models.ts';
import { localFiles, type CheckpointFiles } from '../checkpoint/checkpoint-files.ts';
import { importPart } from '../../import-part.ts';
import { chooseGguf } from '../gguf/choose-gguf.ts';
import type { CheckpointSource } from '../checkpoint/find-tensors.ts';
import { downloadBytesOf, type Checkpoint } from '../checkpoint/checkpoint.ts';
import { convertWeights } from '../checkpoint/convert-weights.ts';
import type { DeviceLimits } from '../checkpoint/device-fit.ts';
import { hasFloat16, planModel, type ModelPlan } from '../checkpoint/model-plan.ts';
import { readCheckpoint, readModelFiles } from '../checkpoint/open-checkpoint.ts';
import { HubError, LoadCancelledError } from '../../../protocol/errors/hub.ts';
import { HubClient } from './hub-client.ts';
import { readHubSnapshot } from './hub-snapshot.ts';
import type { ModelFolder, ModelOrigin, WriteWeights } from '../store/model-folder.ts';
import type { ModelStore } from '../store/model-store.ts';
import type { Parts } from '../store/parts.ts';
import { requireRoom } from '../store/opfs.ts';
import { RemoteCheckpoint } from './remote-checkpoint.ts';
import { createTransferMeter } from './transfer-meter.ts';

export interface FetchOptions {
  readonly store: ModelStore;
  readonly dtype: DtypeChoice;
  readonly device: DeviceLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: (stage: LoadStage) => void;
}

/**
 * Downloads a model from the hub into the store. It reads `config.json` first and refuses a model that cannot run here, then
 * fetches, verifies and converts the weights. After an interruption, the next call fetches only what is missing.
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
  const [id = '', wanted] = source.id.split(':');
  const client = new HubClient({
    ...source,
    id,
    clock,
    signal,
    random: Math.random,
    onRetry,
    scope: globalThis,
  });
  const snapshot = await readHubSnapshot(client, source.revision);
  const origin: ModelOrigin = { ...source, commit: snapshot.commit };
  const parts = await store.openParts(origin);
  const remote = new RemoteCheckpoint({ client, snapshot, parts, signal });
  try {
    const files = await withGguf(remote, [...snapshot.files.keys()], wanted);
    const folder = await fetchAndConvert(remote, files, parts, origin, { ...options, report });
    await parts.delete();
    return folder;
  } catch (error) {
    failure.abort(error);
    await remote.settled();
    await parts.release();
    if (!(error instanceof HubError) && !(error instanceof LoadCancelledError)) await parts.delete();
    throw error;
  } finally {
    parts.close();
  }
}

/** Stores a model from files that the user has picked. @throws As `fetchHubModel`. */
export async function importModel(
  name: string,
  picked: readonly File[],
  options: FetchOptions,
): Promise<ModelFolder> {
  const files = await withGguf(
    localFiles(picked),
    picked.map((file) => file.name),
    undefined,
  );
  const { checkpoint, plan } = await planCheckpoint(files, options);
  const origin: ModelOrigin = { id: name, hub: '', revision: '', commit: '' };
  return convert(checkpoint, plan, origin, options);
}

/** The GGUF file among the files that is wanted, or that is there in place of safetensors, as a checkpoint. */
async function withGguf(
  files: CheckpointFiles,
  names: readonly string[],
  wanted: string | undefined,
): Promise<CheckpointSource> {
  if (wanted === undefined && names.includes('config.json')) return files;
  const name = chooseGguf(names, wanted);
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
  const report = (stage: LoadStage): void => options.report({ ...stage, memoryBytes: plan.deviceBytes });
  await parts.note(downloadBytesOf(weightFiles));
  const { size } = plan.layout;
  await requireRoom(remote.missingBytes(weightFiles) + size, async () => {
    remote.reserve(weightFiles);
    await parts.reserve(size);
  });
  await fetchWeights(remote, checkpoint, { ...options, report });
  await verifyWeights(remote, checkpoint, { ...options, report });
  await parts.release();
  return convert(checkpoint, plan, origin, { ...options, report });
}

/** Refuses a model that cannot run here by its `config.json`, before anything else is fetched. */
async function planCheckpoint(
  files: CheckpointSource,
  { dtype, device }: FetchOptions,
): Promise<{ readonly checkpoint: Checkpoint; readonly plan: ModelPlan }> {
  const modelFiles = await readModelFiles(files);
  const plan = planModel(modelFiles, dtype, device);
  return { checkpoint: await readCheckpoint(files, modelFiles), plan };
}

async function fetchWeights(
  remote: RemoteCheckpoint,
  { weightFiles }: Checkpoint,
  { clock, report }: FetchOptions,
): Promise<void> {
  const total = downloadBytesOf(weightFiles);
  const meter = createTransferMeter(clock);
  let loaded = total - remote.missingBytes(weightFiles);
  const stage = (): LoadStage => ({ phase: 'download', loaded, total, ...meter.speedFor(total - loaded) });
  report(stage());
  await remote.downloadWeights(weightFiles, (numBytes) => {
    meter.record(numBytes);
    // A server that ignores ranges sends more than was asked for.
    loaded = Math.min(total, loaded + numBytes);
    report(stage());
  });
}

async function verifyWeights(
  remote: RemoteCheckpoint,
  { weightFiles }: Checkpoint,
  { report }: FetchOptions,
): Promise<void> {
  const total = weightFiles.reduce((sum, { file }) => sum + file.size, 0);
  let loaded = 0;
  for (const weightFile of weightFiles) {
    await remote.verify(weightFile, (numBytes) => {
      loaded += numBytes;
      report({ phase: 'verify', loaded, total });
    });
  }
}

function convert(
  checkpoint: Checkpoint,
  plan: ModelPlan,
  origin: ModelOrigin,
  { store, dtype, device, report, signal }: FetchOptions,
): Promise<ModelFolder> {
  const write: WriteWeights = async (file) => {
    const { size } = plan.layout;
    await requireRoom(size, () => Promise.resolve(file.truncate(size)));
    const writePart = (bytes: Uint8Array, at: number): void => {
      signal.throwIfAborted();
      file.write(bytes, { at });
    };
    return convertWeights(checkpoint, plan, writePart, (loaded, total) =>
      report({ phase: 'convert', loaded, total }),
    );
  };
  const choice = { dtypeChoice: dtype, dtypeReason: plan.reason, hadFloat16: hasFloat16(device) };
  const { config, generationConfig, tokenizer, tokenizerConfig } = checkpoint;
  const texts = { config, generationConfig, tokenizer, tokenizerConfig };
  return store.write(origin, texts, choice, plan.layout, write);
}
