import { handleCall } from '../../../protocol/calls.ts';
import { ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { clientId } from '../../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION } from '../../../protocol/wire.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ChosenModel, ModelStore } from '../../models/store/model-store.ts';
import { LoadCancelledError } from '../../../protocol/errors/hub.ts';
import type { EncoderModelsOptions } from './encoder-models.ts';
import type { LoadJob } from './load-job.ts';
import { ModelSwitch, type LoadRequest } from './model-switch.ts';
import type { obtainModel } from './obtain-model.ts';
import { type WorkerPast, NO_PAST } from '../../../protocol/recovery.ts';
import type { WorkerStatus } from '../../../protocol/status.ts';
import { gpuWrongValues } from '../../../protocol/errors/runtime-messages.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { StepHangError } from '../../runtime/faults/runtime-errors.ts';
import { ScriptedBackend } from '../../testing/scripted-backend.ts';
import { createScriptedModel, EMBEDDED as FIRST, scriptedChatTemplate } from '../../test-support.ts';
import type { FirstModelInit } from '../../../protocol/host-messages.ts';
import { notFound } from '../../models/hub/hub-errors.ts';
import { startsBrokeOff, storageFull } from '../../models/store/store-errors.ts';
import { dtypeNeeds, tooLarge } from '../../models/model-errors.ts';

// Tests which model serves, with fake models that load when the test says so. End-to-end tests use real models.

const platform = vi.hoisted(() => ({
  load: (): Promise<LoadedModel> => Promise.reject(new Error('no model')),
  loadStored: (): Promise<LoadedModel> => Promise.reject(new Error('no model')),
  checkGpu: (): Promise<void> => Promise.resolve(),
  warmUp: (): Promise<void> => Promise.resolve(),
  obtain: (_job: LoadJob): Promise<ModelFolder> => Promise.reject(new Error('no hub')),
  findStored: (): Promise<ModelFolder | undefined> => Promise.resolve(undefined),
  openStore: (): Promise<Partial<ModelStore>> => Promise.reject(new Error('no storage')),
  reserve: (): Promise<void> => Promise.resolve(),
}));

vi.mock('./load-model.ts', () => ({
  loadModel: (chosen: ChosenModel) => ('source' in chosen ? platform.load() : platform.loadStored()),
}));
vi.mock('../../models/store/model-store.ts', () => ({ ModelStore: { open: () => platform.openStore() } }));
vi.mock('./obtain-model.ts', () => ({
  obtainModel: (...[, , , , job]: Parameters<typeof obtainModel>) => platform.obtain(job),
  findStored: () => platform.findStored(),
}));
vi.mock('./check-gpu.ts', () => ({ checkGpu: () => platform.checkGpu() }));
vi.mock('./reserve-encoders.ts', () => ({ reserveEncoders: () => platform.reserve() }));
vi.mock('../../runtime/warm-up.ts', () => ({ warmUp: () => platform.warmUp() }));

const CALL = { version: PROTOCOL_VERSION, clientId: clientId('tab'), callId: 1 } as const;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the switch reads no other field of a folder
const STORED_FOLDER = { key: 'key', manifest: { id: 'a/b' } } as ModelFolder;
const STORED = { key: 'other', id: 'a/b', revision: '', storedBytes: 1, totalBytes: 1 };
const EMBEDDED = { source: { type: 'embedded' }, dtype: 'auto', whenBusy: 'finish' } as const;

interface SwitchOptions {
  readonly modelBefore?: string;
  readonly isTrial?: true;
  readonly deployments?: EncoderModelsOptions['deployments'];
}

/** Logs a line for each model that is loaded, takes over or is released. The test can hold each of these steps. */
function createSwitch(
  past: Partial<WorkerPast> = {},
  first: FirstModelInit = FIRST,
  { modelBefore, isTrial, deployments = new Map() }: SwitchOptions = {},
) {
  const log: string[] = [];
  let status: Partial<WorkerStatus> = {};
  /** Of the status, as they were told. */
  const changes: Partial<WorkerStatus>[] = [];
  let numLoads = 0;
  platform.load = () => {
    const name = `model ${numLoads++}`;
    log.push(`load ${name}`);
    const backend = new ScriptedBackend();
    backend.release = async () => void log.push(`release ${name}`);
    const model = createScriptedModel(backend);
    return Promise.resolve({ ...model, modelInfo: { ...model.modelInfo, id: name } });
  };
  const ejected: { restore?: () => void } = {};
  const hold = {
    use: (_signal?: AbortSignal): Promise<void> => Promise.resolve(),
    eject: Promise.resolve(),
  };
  const models = new ModelSwitch({
    first,
    modelBefore: () => modelBefore,
    backend: 'wasm',
    past: { ...NO_PAST, ...past },
    ...(isTrial && { isTrial }),
    generator: {
      async use({ id }, _create, _whenBusy, signal) {
        await hold.use(signal);
        log.push(`serve ${id}`);
      },
      async eject(wanted) {
        log.push('eject');
        ejected.restore = wanted;
        await hold.eject;
      },
      hasBegunText: false,
      fail: ({ code }) => void log.push(`fail ${code}`),
    },
    onStatus(change, over) {
      const kept = Object.entries(status).filter(([name]) => !over.some((ended) => ended === name));
      status = { ...Object.fromEntries(kept), ...change };
      changes.push(change);
    },
    onRung: () => {},
    encoders: { deployments, onChange: () => {} },
  });
  const load = (request: LoadRequest = EMBEDDED) => models.load(request);
  const eject = async (model?: string) =>
    models.calls['eject-model']({ ...CALL, type: 'eject-model', ...(model !== undefined && { model }) });
  /** Requests run, so that an ejection waits for the end of this. */
  const holdEject = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    hold.eject = promise;
    return resolve;
  };
  /** As the first prompt does after an ejection. */
  const want = (): void => ejected.restore?.();
  return { models, load, eject, holdEject, want, log, hold, changes, status: () => status };
}

/** Ends when it is aborted, with the reason. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason));
  return promise;
}

/** A store with a model that the user chose to serve. */
function storeWith(log: string[], change: Partial<ModelStore> = {}): () => Promise<Partial<ModelStore>> {
  return () =>
    Promise.resolve({
      served: () => Promise.resolve(STORED_FOLDER),
      folders: () => Promise.resolve([STORED_FOLDER]),
      sweep: () => Promise.resolve(),
      endStart: async (key) => void log.push(`end ${key}`),
      ...change,
    });
}

const hang = () => Promise.reject(StepHangError.after(300_000));
const LOST = { name: 'RuntimeLostError', cause: expect.any(StepHangError) };
const broken = () => Promise.reject(new Error('broken'));

beforeEach(() => {
  platform.checkGpu = () => Promise.resolve();
  platform.warmUp = () => Promise.resolve();
  platform.openStore = () => Promise.reject(new Error('no storage'));
});

/** Model 1 takes over from model 0. */
const TAKEN_OVER = ['load model 0', 'serve model 0', 'load model 1', 'serve model 1', 'release model 0'];

describe('a model that has taken over', () => {
  it('serves, and the one before it is released, in a browser without storage', async () => {
    const { models, load, log, status } = createSwitch();
    await models.started;
    await load();
    expect(log).toEqual(TAKEN_OVER);
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'model 1' } });
    expect(status()).not.toHaveProperty('loadFailure');
  });

  it('has told all of the way to 1, as the first model has', async () => {
    const { models, load, changes } = createSwitch();
    const fractions = () =>
      changes.splice(0).flatMap(({ progress, load: own }) => (progress ?? own)?.fraction ?? []);
    await models.started;
    expect(fractions().at(-1)).toBe(1);
    await load();
    const told = fractions();
    expect(told.at(-1)).toBe(1);
    expect(told).toEqual(told.toSorted((one, other) => one - other));
  });

  it('serves, and the one before it is released, where it cannot be noted for the next start', async () => {
    platform.openStore = () =>
      Promise.resolve({
        served: () => Promise.resolve(undefined),
        sweep: () => Promise.resolve(),
        serve: () => Promise.reject(storageFull('full')),
      });
    const { models, load, log, status } = createSwitch();
    await models.started;
    await load();
    expect(log.slice(2)).toEqual(['load model 1', 'serve model 1', 'release model 0']);
    expect(status().loadFailure).toMatchObject({ id: '', error: { code: 'STORAGE_QUOTA' } });
  });
});

const TEMPORARY = { ...EMBEDDED, dtype: 'q8', isTemporary: true, clientId: clientId('tab') } as const;
const restore = ({ models }: Pick<ReturnType<typeof createSwitch>, 'models'>, tab = 'tab') =>
  models.calls['restore-model']({ ...CALL, clientId: clientId(tab), type: 'restore-model' });

/** Its log has the notes for the next start too. */
async function createWithNotes() {
  const notes: string[] = [];
  platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
  platform.openStore = storeWith(notes, {
    list: () => Promise.resolve([{ ...STORED, key: 'key' }]),
    serve: async (_first, chosen) => void notes.push(chosen ? 'note another' : 'note the first'),
  });
  const created = createSwitch();
  await created.models.started;
  notes.length = 0;
  return { ...created, notes };
}

describe('a temporary model', () => {
  it('serves until the client restores the one before all its temporary ones, and no start begins with one', async () => {
    const created = await createWithNotes();
    const { load, log, notes, status } = created;
    const before = log.splice(0);
    await load(TEMPORARY);
    await load({ ...TEMPORARY, dtype: 'q4' });
    expect(log).toEqual(TAKEN_OVER);
    await restore(created);
    expect(log.slice(5)).toEqual([...before, 'release model 1']);
    expect(status()).not.toHaveProperty('load');
    await restore(created);
    expect(log, 'nothing is left to restore').toHaveLength(5 + before.length + 1);
    expect(notes).toEqual([]);
  });

  it('is not deleted under the model that serves again after it', async () => {
    const { models, load } = await createWithNotes();
    await load(TEMPORARY);
    expect(await models.calls['list-models']({ ...CALL, type: 'list-models' })).toMatchObject([
      { key: 'key', isInUse: true },
    ]);
  });

  it('is ended by its own tab alone', async () => {
    const created = await createWithNotes();
    await created.load(TEMPORARY);
    const { length } = created.log;
    await restore(created, 'other tab');
    expect(created.log).toHaveLength(length);
  });

  it('is ended by a lasting one, which is restored to nothing else', async () => {
    const created = await createWithNotes();
    const { load, log, notes } = created;
    await load(TEMPORARY);
    await load({ ...EMBEDDED, dtype: 'q8' });
    expect(notes).toEqual(['note another']);
    const { length } = log;
    await restore(created);
    expect(log).toHaveLength(length);
  });

  it('is cancelled where its tab ends it while it loads', async () => {
    const created = await createWithNotes();
    const { load, log, hold } = created;
    hold.use = untilAborted;
    const loading = load(TEMPORARY);
    loading.catch(() => {});
    await vi.waitFor(() => expect(created.status().load?.phase).toBe('drain'));
    await restore(created);
    await expect(loading).rejects.toMatchObject({ code: 'LOAD_CANCELLED' });
    expect(log.slice(1)).toEqual(['load model 0', 'release model 0']);
  });

  it('gives way to the one before after all if another load comes between and fails', async () => {
    const created = await createWithNotes();
    const { load, log, hold, status } = created;
    await load(TEMPORARY);
    hold.use = untilAborted;
    const restoring = restore(created);
    await vi.waitFor(() => expect(status().load).toMatchObject({ phase: 'drain', isRestore: true }));
    hold.use = () => Promise.resolve();
    platform.obtain = () => Promise.reject(notFound('a/c', 'main', 'https://hub'));
    const hub = { type: 'hub', hub: 'https://hub', id: 'a/c', revision: 'main' } as const;
    await expect(load({ ...EMBEDDED, source: hub })).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
    await restoring;
    expect(log.at(-2)).toBe('serve scripted');
    expect(status().model).not.toHaveProperty('isTemporary');
    expect(status().loadFailure, 'of the other load').toMatchObject({ id: 'a/c' });
  });

  it('gives way to another one for good that is loaded before the one before is back', async () => {
    const created = await createWithNotes();
    const { load, log, hold } = created;
    await load(TEMPORARY);
    hold.use = untilAborted;
    const restoring = restore(created);
    await vi.waitFor(() => expect(created.status().load?.phase).toBe('drain'));
    hold.use = () => Promise.resolve();
    await load({ ...EMBEDDED, dtype: 'q4' });
    await restoring;
    expect(log.slice(-3)).toEqual(['load model 1', 'serve model 1', 'release model 0']);
  });

  it('is ended also where someone cancels what is loading', async () => {
    const created = await createWithNotes();
    const { models, load, log, hold } = created;
    await load(TEMPORARY);
    const { promise, resolve } = Promise.withResolvers<void>();
    hold.use = (signal) => Promise.race([promise, untilAborted(signal)]);
    const restoring = restore(created);
    await vi.waitFor(() => expect(created.status().load?.phase).toBe('drain'));
    models.steer('cancel');
    resolve();
    await restoring;
    expect(log.slice(-2)).toEqual(['serve scripted', 'release model 0']);
  });

  it('says that it is temporary as long as it serves, also after an ejection', async () => {
    const created = await createWithNotes();
    const { load, eject, want, log, status } = created;
    await load(TEMPORARY);
    expect(status().model).toMatchObject({ id: 'model 0', isTemporary: true });
    await eject();
    want();
    await vi.waitFor(() => expect(log.at(-1)).toBe('serve model 1'));
    expect(status().model).toMatchObject({ id: 'model 1', isTemporary: true });
    await restore(created);
    expect(status().model).not.toHaveProperty('isTemporary');
  });

  it('that two tabs load at once serves until both have left', async () => {
    const created = await createWithNotes();
    const { load, log } = created;
    await Promise.all([load(TEMPORARY), load({ ...TEMPORARY, clientId: clientId('other tab') })]);
    const { length } = log;
    await restore(created);
    expect(log).toHaveLength(length);
    await restore(created, 'other tab');
    expect(log.slice(length)).toEqual(['serve scripted', 'release model 0']);
  });

  it('that another tab loads too serves on for that tab', async () => {
    const created = await createWithNotes();
    const { load, log } = created;
    await load(TEMPORARY);
    await load({ ...TEMPORARY, clientId: clientId('other tab') });
    const { length } = log;
    await restore(created, 'other tab');
    expect(log, 'the first tab has not left').toHaveLength(length);
    await restore(created);
    expect(log.slice(length)).toEqual(['serve scripted', 'release model 1']);
  });

  it('is loaded on for the other tab if one of two leaves meanwhile', async () => {
    const created = await createWithNotes();
    const { load, log, hold, status } = created;
    const { promise, resolve } = Promise.withResolvers<void>();
    hold.use = (signal) => Promise.race([promise, untilAborted(signal)]);
    const loading = Promise.all([load(TEMPORARY), load({ ...TEMPORARY, clientId: clientId('other tab') })]);
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    const left = restore(created);
    resolve();
    await Promise.all([loading, left]);
    expect(log.at(-1)).toBe('serve model 0');
    expect(status().model).toMatchObject({ id: 'model 0', isTemporary: true });
  });

  it('leaves no model where none served before, with the reason from before', async () => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const created = createSwitch();
    const loading = platform.load;
    platform.load = () => Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    await created.models.started;
    platform.load = loading;
    const { log, load, status } = created;
    await load(TEMPORARY);
    await load({ ...TEMPORARY, dtype: 'q4' });
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'model 1' } });
    await restore(created);
    expect(log.slice(-3)).toEqual(['eject', 'fail UNSUPPORTED_DTYPE', 'release model 1']);
    expect(status()).toMatchObject({ state: 'failed', error: { code: 'UNSUPPORTED_DTYPE' } });
    expect(status()).not.toHaveProperty('model');
    expect(status()).not.toHaveProperty('backend');
  });

  it('leaves none where the app began with none', async () => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const created = createSwitch({}, { model: { type: 'none' }, dtype: 'auto' });
    await created.load(TEMPORARY);
    await restore(created);
    expect(created.log.slice(-3)).toEqual(['eject', 'fail NO_MODEL', 'release model 0']);
    expect(created.status()).toMatchObject({ state: 'ready' });
    expect(created.status()).not.toHaveProperty('model');
  });

  it('is tried to be ended by any tab once its own is gone', async () => {
    const created = await createWithNotes();
    await created.load(TEMPORARY);
    const { loadStored } = platform;
    platform.loadStored = () => Promise.reject(tooLarge('it needs 9 MB', 1));
    await expect(restore(created)).rejects.toMatchObject({ code: 'MODEL_TOO_LARGE' });
    platform.loadStored = loadStored;
    await restore(created, 'other tab');
    expect(created.log.slice(-2)).toEqual(['serve scripted', 'release model 0']);
    expect(created.status()).not.toHaveProperty('loadFailure');
  });

  it('is no encoder: that is refused before anything is loaded', async () => {
    const { load, log } = await createWithNotes();
    const { length } = log;
    await expect(load({ ...TEMPORARY, deployment: 'embedder' })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      param: 'deployment',
      message: expect.stringContaining('text-generator or left out with isTemporary'),
    });
    expect(log).toHaveLength(length);
  });

  it('stays where the one before can’t be loaded again, and all tabs are told', async () => {
    const created = await createWithNotes();
    await created.load(TEMPORARY);
    platform.loadStored = () => Promise.reject(tooLarge('it needs 9 MB', 1));
    await expect(restore(created)).rejects.toMatchObject({ code: 'MODEL_TOO_LARGE' });
    expect(created.status()).toMatchObject({
      model: { id: 'model 0' },
      loadFailure: { id: 'a/b', error: { code: 'MODEL_TOO_LARGE' } },
    });
  });
});

/** Deployments of encoders without a model. */
function recordingDeployments() {
  const failures: [string, unknown][] = [];
  const deployments = new Map(
    ['embedder', 'reranker'].map((name) => [
      name,
      {
        isAsking: false,
        use: () => undefined,
        eject: () => Promise.resolve(undefined),
        fail: (error: unknown) => void failures.push([name, error]),
      },
    ]),
  );
  return { deployments, failures };
}

describe('encoders that the app names', () => {
  const hub = { type: 'hub', hub: 'https://hub', revision: 'main' } as const;
  const encoders = [
    { deployment: 'embedder', source: { ...hub, id: 'a/bert' } },
    { deployment: 'reranker', source: { ...hub, id: 'a/cross' } },
  ];

  it('are loaded one by one behind the first model, also when one fails', async () => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const { models, load, log } = createSwitch({}, { ...FIRST, encoders });
    platform.obtain = ({ id }) => {
      log.push(`obtain ${id}`);
      return Promise.reject(new Error('no hub'));
    };
    await models.started;
    await load();
    expect(log.slice(1, 5)).toEqual(['serve model 0', 'obtain a/bert', 'obtain a/cross', 'load model 1']);
  });

  it('are loaded before another model that is asked for meanwhile, and a failure of theirs is told', async () => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const { models, load, log, changes } = createSwitch({}, { ...FIRST, encoders });
    const obtained = Promise.withResolvers<void>();
    const isObtaining = new Promise<void>((resolve) => {
      platform.obtain = async ({ id }) => {
        log.push(`obtain ${id}`);
        resolve();
        await obtained.promise;
        throw notFound(id, 'https://hub', 'model');
      };
    });
    await models.started;
    await isObtaining;
    const loading = load();
    obtained.resolve();
    await loading;
    expect(log.slice(1, 5)).toEqual(['serve model 0', 'obtain a/bert', 'obtain a/cross', 'load model 1']);
    const shown = changes.flatMap(({ load: each }) => each?.id ?? []);
    expect(shown.filter((id, index) => id !== shown[index - 1])).toEqual([
      'a/bert',
      'a/cross',
      'storyteller',
    ]);
    const failed = changes.flatMap(({ loadFailure }) => loadFailure?.id || []);
    expect(failed).toEqual(['a/bert', 'a/cross']);
  });

  it('say to their own requests why they failed, and don’t hide it behind each other', async () => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const { deployments, failures } = recordingDeployments();
    const { models, load, status } = createSwitch({}, { ...FIRST, encoders }, { deployments });
    const { promise: later, resolve } = Promise.withResolvers<void>();
    platform.obtain = async ({ id }) => {
      if (id === 'a/cross') await later;
      throw notFound(id, 'https://hub', 'model');
    };
    await models.started;
    await vi.waitFor(() => expect(status().load?.id).toBe('a/cross'));
    expect(status().loadFailure, 'while the other one loads').toMatchObject({ id: 'a/bert' });
    resolve();
    await load();
    expect(failures).toMatchObject([
      ['embedder', { code: 'MODEL_NOT_FOUND', message: expect.stringContaining('a/bert') }],
      ['reranker', { code: 'MODEL_NOT_FOUND', message: expect.stringContaining('a/cross') }],
    ]);
  });

  it('and the first model are not loaded where they don’t fit together', async () => {
    platform.reserve = () => Promise.reject(tooLarge('it needs 9 MB', 1));
    const { deployments, failures } = recordingDeployments();
    const { models, log, status } = createSwitch({}, { ...FIRST, encoders }, { deployments });
    await models.started;
    expect(log).toEqual(['fail MODEL_TOO_LARGE']);
    await vi.waitFor(() =>
      expect(failures).toMatchObject([
        ['embedder', { code: 'MODEL_TOO_LARGE' }],
        ['reranker', { code: 'MODEL_TOO_LARGE' }],
      ]),
    );
    expect(status()).toMatchObject({ state: 'failed', error: { code: 'MODEL_TOO_LARGE' } });
    platform.reserve = () => Promise.resolve();
  });
});

describe('calls about tokens', () => {
  const calls = [
    { ...CALL, type: 'token-texts', tokenIds: [1] },
    { ...CALL, type: 'tokenize', text: 'a', addSpecialTokens: true },
    { ...CALL, type: 'tokenize-chat', messages: [], addGenerationPrompt: true, chatTemplateArguments: {} },
    { ...CALL, type: 'detokenize', tokenIds: [1] },
  ] as const;

  it.each(calls)('fail as prompts do where no model serves: $type', async (call) => {
    const { models } = createSwitch({}, { ...FIRST, model: { type: 'none' } });
    await expect(handleCall(models.calls, call)).rejects.toMatchObject({ code: 'NO_MODEL' });
    const { models: failed } = createSwitch();
    platform.load = () => Promise.reject(new ModelFileMissingError('No file.'));
    await expect(handleCall(failed.calls, call)).rejects.toMatchObject({ code: 'MODEL_FILE_MISSING' });
  });
});

it.each(['load-model', 'plan-model'] as const)(
  'a deployment that takes no models is refused by name before anything is loaded: %s',
  async (type) => {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    const { models, log } = createSwitch();
    await models.started;
    const { length } = log;
    const request = { ...CALL, ...EMBEDDED, deployment: 'adder' };
    const answer = type === 'load-model' ? models.load(request) : models.calls[type]({ ...request, type });
    await expect(answer).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      param: 'deployment',
      message: expect.stringContaining('text-generator, embedder, reranker'),
    });
    expect(log).toHaveLength(length);
  },
);

it('a model of another deployment than the caller names is refused, and the one before serves on', async () => {
  const { models, load, log, status } = createSwitch();
  await models.started;
  await expect(load({ ...EMBEDDED, deployment: 'embedder' })).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
    message: expect.stringMatching(
      /is a model for the text-generator, not for the embedder\. .* sentence-transformers\/all-MiniLM-L6-v2\.$/,
    ),
  });
  expect(log.slice(2)).toEqual(['load model 1', 'release model 1']);
  expect(status().model?.id).toBe('model 0');
});

describe('the tokens of a chat', () => {
  const chat = {
    ...CALL,
    type: 'tokenize-chat',
    messages: [{ role: 'user', content: 'ab' }],
    chatTemplateArguments: { mood: 'c' },
  } as const;

  it('are what the template of the model that serves writes', async () => {
    const { models } = createSwitch();
    platform.load = () =>
      Promise.resolve(createScriptedModel(new ScriptedBackend(), { chatTemplate: scriptedChatTemplate }));
    await models.started;
    await models.load(EMBEDDED);
    const spellingsOf = async (addGenerationPrompt: boolean): Promise<string> =>
      (await models.calls['tokenize-chat']({ ...chat, addGenerationPrompt })).spellings.join('');
    expect(await spellingsOf(true)).toBe('UabcA');
    expect(await spellingsOf(false)).toBe('Uabc');
  });

  it('end where the last message does where an answer continues it', async () => {
    const { models } = createSwitch();
    platform.load = () =>
      Promise.resolve(createScriptedModel(new ScriptedBackend(), { chatTemplate: scriptedChatTemplate }));
    await models.started;
    await models.load(EMBEDDED);
    const open = { ...chat, addGenerationPrompt: false, continueFinalMessage: true };
    expect((await models.calls['tokenize-chat'](open)).spellings.join('')).toBe('Uab');
  });

  it('are refused for a base model', async () => {
    const { models } = createSwitch();
    await expect(models.calls['tokenize-chat']({ ...chat, addGenerationPrompt: true })).rejects.toMatchObject(
      {
        code: 'NO_CHAT_TEMPLATE',
      },
    );
  });
});

describe('the model that was chosen before', () => {
  it('serves, whatever cannot be swept away or noted', async () => {
    const notes: string[] = [];
    platform.openStore = storeWith(notes, { sweep: broken, endStart: broken });
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    const { models, log, status } = createSwitch();
    await models.started;
    expect(log).toEqual(['serve scripted']);
    expect(status()).not.toHaveProperty('loadFailure');
  });

  it('serves before anything is swept away, and has its device while the store is still opened', async () => {
    const notes: string[] = [];
    const opened = Promise.withResolvers<void>();
    const openStore = storeWith(notes, { sweep: async () => void notes.push('sweep') });
    platform.openStore = () => opened.promise.then(openStore);
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    const getDevice = vi.spyOn(SharedDevice.prototype, 'get');
    const { models } = createSwitch();
    expect(getDevice).toHaveBeenCalledOnce();
    getDevice.mockRestore();
    opened.resolve();
    await models.started;
    expect(notes).toEqual(['end key', 'sweep']);
  });

  it('leaves room for the app’s own one where it cannot run: what is left of others is swept away first', async () => {
    const notes: string[] = [];
    platform.openStore = storeWith(notes, { sweep: async () => void notes.push('sweep') });
    platform.loadStored = () => Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    platform.obtain = () => {
      notes.push('obtain');
      return Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    };
    const model = { type: 'hub', hub: 'https://hub', id: 'a/b', revision: 'main' } as const;
    await createSwitch({}, { model, dtype: 'auto' }).models.started;
    expect(notes).toEqual(['end key', 'sweep', 'obtain']);
  });

  it('has come to an end of its start where it cannot run here, and the embedded one serves', async () => {
    const notes: string[] = [];
    platform.openStore = storeWith(notes);
    platform.loadStored = () => Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    const { models, log, status } = createSwitch();
    await models.started;
    expect([notes, log]).toEqual([['end key'], ['load model 0', 'serve model 0']]);
    expect(status().loadFailure).toMatchObject({ id: 'a/b', error: { code: 'UNSUPPORTED_DTYPE' } });
  });

  it('is told of where it is not tried any more', async () => {
    const notes: string[] = [];
    platform.openStore = storeWith(notes, { served: () => Promise.reject(startsBrokeOff('a/b')) });
    const { models, log, status } = createSwitch();
    await models.started;
    expect(log).toEqual(['load model 0', 'serve model 0']);
    expect(status().loadFailure).toMatchObject({ error: { code: 'MODEL_START_FAILED' } });
  });

  it.each([
    ['is missed by its name where it is gone', 'a/b', [], 'MODEL_DELETED'],
    ['is the app’s own one', 'storyteller', [], undefined],
    ['is still stored, and another one was chosen since', 'a/b', [STORED_FOLDER], undefined],
  ])('%s', async (_, before, folders, code) => {
    platform.openStore = storeWith([], {
      served: () => Promise.resolve(undefined),
      folders: () => Promise.resolve(folders),
    });
    const { models, status } = createSwitch({}, FIRST, {
      ...(before !== undefined && { modelBefore: before }),
    });
    await models.started;
    expect(status().loadFailure?.error.code).toBe(code);
  });

  it('is not deleted while it runs, unless the caller insists', async () => {
    const deleted: string[] = [];
    platform.openStore = storeWith([], {
      list: () => Promise.resolve([{ ...STORED, key: 'key' }, STORED]),
      delete: async (key) => void deleted.push(key),
    });
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    const { models } = createSwitch();
    await models.started;
    expect(await models.calls['list-models']({ ...CALL, type: 'list-models' })).toEqual([
      { ...STORED, key: 'key', isInUse: true },
      STORED,
    ]);
    const remove = (key: string, force?: boolean) =>
      models.calls['delete-model']({ ...CALL, type: 'delete-model', key, ...(force && { force }) });
    await expect(remove('key')).rejects.toMatchObject({
      code: 'MODEL_IN_USE',
      message: expect.stringContaining('a/b is in use'),
    });
    await remove('other');
    await remove('key', true);
    expect(deleted).toEqual(['other', 'key']);
    for (const key of ['a/b', 'nope-key', 'storyteller'])
      await expect(remove(key)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        param: 'key',
        message: expect.stringContaining('storedModels()'),
      });
    expect(deleted, 'nothing else').toHaveLength(2);
  });

  it('is asked for with what the worker before has come to', async () => {
    const served = vi.fn<ModelStore['served']>(() => Promise.resolve(undefined));
    platform.openStore = storeWith([], { served });
    await createSwitch({ recovery: { kind: 'worker-ended', message: '', attempt: 1 } }).models.started;
    await createSwitch().models.started;
    expect(served.mock.calls.map(([, { isAfterFault }]) => isAfterFault)).toEqual([true, false]);
  });
});

/** A download that the test ends. */
function holdDownload() {
  const { promise, resolve } = Promise.withResolvers<ModelFolder>();
  const end = () => resolve(STORED_FOLDER);
  platform.obtain = (job) =>
    job.attempt((signal) => {
      job.report({ phase: 'download', loaded: 1, total: 2 });
      return Promise.race([promise, untilAborted(signal)]);
    });
  return end;
}

describe('a first model of the hub', () => {
  const hub = { type: 'hub', hub: 'https://hub.example', id: 'a/b', revision: 'main' } as const;
  const first = { model: hub, dtype: 'q8' } as const;
  const sameLoad = { source: hub, dtype: 'q8', whenBusy: 'finish' } as const;

  function createHubSwitch() {
    platform.openStore = storeWith([], { served: () => Promise.resolve(undefined) });
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    return createSwitch({}, first);
  }

  it('is downloaded as any load, and serves', async () => {
    const end = holdDownload();
    const { models, log, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load).toMatchObject({ id: 'a/b', phase: 'download', loaded: 1 }));
    end();
    await models.started;
    expect(log).toEqual(['serve scripted']);
    expect(status().state).toBe('ready');
    expect(status()).not.toHaveProperty('load');
  });

  it.each([
    ['isn’t on the hub', notFound(hub.id, 'main', hub.hub)],
    ['is too large', tooLarge('4 GB', 1e9)],
  ])('fails the start with its code if it %s', async (_, error) => {
    platform.obtain = () => Promise.reject(error);
    const { models, log, status } = createHubSwitch();
    await models.started;
    expect(log).toEqual([`fail ${error.code}`]);
    expect(status()).toMatchObject({ state: 'failed', error: { code: error.code } });
  });

  it('can be paused and resumed', async () => {
    const end = holdDownload();
    const { models, log, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    models.steer('pause');
    expect(status().load?.isPaused).toBe(true);
    end();
    models.steer('resume');
    await models.started;
    expect(log).toEqual(['serve scripted']);
  });

  it('shares its download with whoever asks for it meanwhile', async () => {
    const end = holdDownload();
    const { load, log, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    const shared = load(sameLoad);
    end();
    await shared;
    expect(log).toEqual(['serve scripted']);
  });

  it('refuses whoever shared a download that fails', async () => {
    holdDownload();
    const { models, load, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    const shared = load(sameLoad);
    models.steer('cancel');
    await expect(shared).rejects.toBeInstanceOf(LoadCancelledError);
    expect(status()).toMatchObject({ state: 'failed', error: { code: 'LOAD_CANCELLED' } });
  });

  it('gives way to another model that is asked for: prompts wait for that one', async () => {
    holdDownload();
    const { load, log, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    await load();
    expect(log).toEqual(['load model 0', 'serve model 0']);
    expect(status().state).toBe('ready');
  });

  it('is obtained after all once a temporary model that came before it is ended', async () => {
    holdDownload();
    const created = createHubSwitch();
    const { load, log, status } = created;
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    await load(TEMPORARY);
    expect(status().model).toMatchObject({ id: 'model 0', isTemporary: true });
    platform.obtain = () => Promise.resolve(STORED_FOLDER);
    await restore(created);
    expect(log.slice(-2)).toEqual(['serve scripted', 'release model 0']);
  });

  it('fails the start after all if the other model can’t be loaded', async () => {
    holdDownload();
    const { load, log, status } = createHubSwitch();
    await vi.waitFor(() => expect(status().load?.phase).toBe('download'));
    platform.load = () => Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    await expect(load()).rejects.toMatchObject({ code: 'UNSUPPORTED_DTYPE' });
    expect(log).toEqual(['fail UNSUPPORTED_DTYPE']);
    expect(status()).toMatchObject({ state: 'failed', error: { code: 'UNSUPPORTED_DTYPE' } });
  });
});

describe('a load that is cancelled', () => {
  it('is not shared by who asks for the same model next', async () => {
    const { models, load, log } = createSwitch();
    await models.started;
    const first = load();
    models.steer('cancel');
    const second = load();
    await expect(first).rejects.toBeInstanceOf(LoadCancelledError);
    await second;
    expect(log).toEqual(TAKEN_OVER);
  });

  it('is shared while it goes on', async () => {
    const { models, load, log } = createSwitch();
    await models.started;
    await Promise.all([load(), load()]);
    expect(log.filter((line) => line.startsWith('load'))).toHaveLength(2);
  });

  it('takes nothing over, though the old model has begun to end its requests, and is released', async () => {
    const { models, load, log, hold, status } = createSwitch();
    await models.started;
    hold.use = untilAborted;
    const loading = load();
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    models.steer('cancel');
    await expect(loading).rejects.toBeInstanceOf(LoadCancelledError);
    expect(log).toEqual(['load model 0', 'serve model 0', 'load model 1', 'release model 1']);
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'model 0' } });
    expect(status()).not.toHaveProperty('load');
  });
});

const ended = (load: Promise<void>) =>
  load.then(
    () => 'served',
    ({ code }: { code: string }) => code,
  );

describe('a load that several calls wait for', () => {
  const calls = [
    { ...EMBEDDED, clientId: clientId('tab'), callId: 1 },
    { ...EMBEDDED, clientId: clientId('tab'), callId: 2 },
    { ...EMBEDDED, clientId: clientId('other tab'), callId: 1 },
  ] as const;

  /** Its load waits where the old model ends its requests. */
  async function createWaited(change: Partial<LoadRequest> = {}) {
    const made = createSwitch();
    await made.models.started;
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    made.hold.use = (signal) => Promise.race([promise, untilAborted(signal)]);
    const ends = calls.map((call) => ended(made.load({ ...call, ...change })));
    await vi.waitFor(() => expect(made.status().load?.phase).toBe('drain'));
    return { ...made, ends: Promise.all(ends), finish };
  }

  it('goes on for those that stay, whichever leave', async () => {
    for (const stays of calls) {
      const { models, ends, finish, status } = await createWaited();
      for (const { clientId: tab, callId } of calls.filter((call) => call !== stays))
        models.leave(tab, callId);
      finish();
      expect(await ends).toEqual(['served', 'served', 'served']);
      expect(status().model?.id).toBe('model 1');
    }
  });

  it('is cancelled once all have left', async () => {
    const { models, ends, status, log } = await createWaited();
    for (const { clientId: tab, callId } of calls) models.leave(tab, callId);
    expect(await ends).toEqual(['LOAD_CANCELLED', 'LOAD_CANCELLED', 'LOAD_CANCELLED']);
    expect(status()).not.toHaveProperty('load');
    expect(status()).not.toHaveProperty('loadFailure');
    expect(log.at(-1)).toBe('release model 1');
  });

  it('is cancelled for all by whoever presses Cancel', async () => {
    const { models, ends } = await createWaited();
    models.steer('cancel');
    expect(await ends).toEqual(['LOAD_CANCELLED', 'LOAD_CANCELLED', 'LOAD_CANCELLED']);
  });

  it('goes on where the tabs that asked are closed, until the last one that is open leaves', async () => {
    const closed = await createWaited();
    for (const tab of ['tab', 'other tab']) closed.models.forget(clientId(tab));
    closed.finish();
    expect(await closed.ends).toEqual(['served', 'served', 'served']);
    const { models, ends } = await createWaited();
    models.forget(clientId('tab'));
    models.leave(clientId('other tab'), 1);
    expect(await ends).toContain('LOAD_CANCELLED');
  });

  it('is not left by a call that waits for another one, or for none', async () => {
    const { models, ends, finish } = await createWaited();
    for (const callId of [1, 2, 7]) models.leave(clientId('third tab'), callId);
    models.leave(clientId('tab'), 7);
    finish();
    expect(await ends).toEqual(['served', 'served', 'served']);
  });

  it('of a temporary model ends with the tabs that stayed', async () => {
    const { models, ends, finish, log } = await createWaited({ isTemporary: true });
    models.leave(clientId('other tab'), 1);
    models.leave(clientId('tab'), 1);
    finish();
    await ends;
    await restore({ models }, 'other tab');
    expect(log.at(-1), 'it has left').toBe('release model 0');
    await restore({ models });
    expect(log.slice(-2)).toEqual(['serve model 2', 'release model 1']);
  });
});

it('a load that waits for an ejection ends as soon as it is cancelled, and the next one waits on', async () => {
  const { models, load, eject, log, holdEject } = createSwitch();
  await models.started;
  const end = holdEject();
  const ejected = eject();
  const cancelled = load();
  await vi.waitFor(() => expect(log.at(-1)).toBe('eject'));
  models.steer('cancel');
  await expect(cancelled).rejects.toBeInstanceOf(LoadCancelledError);
  const next = load();
  await Promise.resolve();
  expect(log.at(-1), 'the ejection is not over').toBe('eject');
  end();
  await Promise.all([ejected, next]);
  expect(log.slice(2)).toEqual(['eject', 'release model 0', 'load model 1', 'serve model 1']);
});

async function createEjected() {
  const made = createSwitch();
  await made.models.started;
  await made.eject();
  return { ...made, since: () => made.log.slice(4) };
}

describe('a model that is ejected', () => {
  it('is released, and named on', async () => {
    const { log, status } = await createEjected();
    expect(log).toEqual(['load model 0', 'serve model 0', 'eject', 'release model 0']);
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'model 0' }, isEjected: true });
  });

  it('is loaded again with the first prompt, and can be ejected again', async () => {
    const { want, eject, since, status } = await createEjected();
    want();
    await vi.waitFor(() => expect(status()).not.toHaveProperty('isEjected'));
    expect(status()).not.toHaveProperty('load');
    await eject();
    await eject();
    expect(since()).toEqual(['load model 1', 'serve model 1', 'eject', 'release model 1']);
  });

  it('is loaded again to read tokens', async () => {
    const { models, since } = await createEjected();
    const call = { ...CALL, type: 'tokenize', text: 'ab', addSpecialTokens: false } as const;
    expect(await models.calls.tokenize(call)).toMatchObject({ modelId: 'model 1' });
    expect(since()).toEqual(['load model 1', 'serve model 1']);
  });

  it('gives way to another model, for which prompts wait', async () => {
    const { want, load, hold, since, status } = await createEjected();
    hold.use = untilAborted;
    want();
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    hold.use = () => Promise.resolve();
    await load();
    await load({ ...EMBEDDED, dtype: 'fp32' });
    expect(since()).toEqual([
      'load model 1',
      'release model 1',
      'load model 2',
      'serve model 2',
      'load model 3',
      'serve model 3',
      'release model 2',
    ]);
    expect(status()).not.toHaveProperty('isEjected');
  });

  it('comes back for the prompts that wait if another model can’t be loaded', async () => {
    const { want, load, hold, since, status } = await createEjected();
    hold.use = untilAborted;
    want();
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    hold.use = () => Promise.resolve();
    const hub = { type: 'hub', hub: 'https://hub', id: 'a/b', revision: 'main' } as const;
    await expect(load({ ...EMBEDDED, source: hub })).rejects.toThrow('no storage');
    const again = ['load model 1', 'release model 1', 'load model 2', 'serve model 2'];
    await vi.waitFor(() => expect(since()).toEqual(again));
  });

  it('comes after a load that waits, which can still be cancelled', async () => {
    const { models, want, load, hold, since, status } = await createEjected();
    hold.use = untilAborted;
    const first = load({ ...EMBEDDED, dtype: 'q8' });
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    want();
    const second = load({ ...EMBEDDED, dtype: 'q4' });
    await expect(first).rejects.toBeInstanceOf(LoadCancelledError);
    await vi.waitFor(() => expect(since().at(-1)).toBe('load model 2'));
    await vi.waitFor(() => expect(status().load?.phase).toBe('drain'));
    hold.use = () => Promise.resolve();
    models.steer('cancel');
    await expect(second).rejects.toBeInstanceOf(LoadCancelledError);
    await vi.waitFor(() => expect(since().at(-1)).toBe('serve model 3'));
  });

  it('fails the prompts that wait if it can’t be loaded again, and the next one tries again', async () => {
    const { want, since, status } = await createEjected();
    const loading = platform.load;
    platform.load = () => Promise.reject(dtypeNeeds('fp16', 'shader-f16'));
    want();
    await vi.waitFor(() => expect(since()).toEqual(['fail UNSUPPORTED_DTYPE', 'eject']));
    expect(status()).toMatchObject({
      state: 'ready',
      isEjected: true,
      loadFailure: { id: 'storyteller', error: { code: 'UNSUPPORTED_DTYPE' } },
    });
    platform.load = loading;
    want();
    await vi.waitFor(() => expect(since().at(-1)).toBe('serve model 1'));
  });

  it('goes by its ID and by its deployment; any other name is refused with those that there are', async () => {
    const { models, eject, want, log } = createSwitch();
    await models.started;
    for (const name of ['text-generator', 'storyteller']) {
      await eject(name);
      expect(log.at(-1)).toMatch(/^release/);
      await expect(eject('nope')).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        param: 'model',
        message: expect.stringContaining('text-generator, storyteller'),
      });
      want();
      await vi.waitFor(() => expect(log.at(-1)).toMatch(/^serve/));
    }
  });
});

const loadScripted = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));

describe('a stored model that is deleted', () => {
  const NO_MODEL_LEFT = { state: 'ready' };

  /** It serves. Its files are there until they are deleted. */
  async function createStored() {
    let isThere = true;
    const hold = { delete: Promise.resolve() };
    platform.openStore = storeWith([], {
      list: () =>
        Promise.resolve([
          ...(isThere ? [{ ...STORED, key: STORED_FOLDER.key, dtype: 'q8' as const }] : []),
          { ...STORED, id: 'a/c', key: 'parts' },
        ]),
      folders: () => Promise.resolve(isThere ? [STORED_FOLDER] : []),
      delete: async (key) => {
        await hold.delete;
        if (key === STORED_FOLDER.key) isThere = false;
      },
      serve: () => Promise.resolve(),
    });
    platform.loadStored = loadScripted;
    const made = createSwitch();
    await made.models.started;
    const remove = async (key = STORED_FOLDER.key, force = false) =>
      made.models.calls['delete-model']({ ...CALL, type: 'delete-model', key, ...(force && { force }) });
    const tokenize = async () =>
      made.models.calls.tokenize({ ...CALL, type: 'tokenize', text: 'a', addSpecialTokens: false });
    const expectNone = async () => {
      expect(made.log.at(-1)).toBe('fail MODEL_DELETED');
      expect(made.status()).toMatchObject(NO_MODEL_LEFT);
      expect(Object.keys(made.status()), 'no model, no failure').toEqual(['state']);
      await expect(tokenize()).rejects.toMatchObject({ code: 'MODEL_DELETED' });
    };
    return {
      ...made,
      remove,
      holdDelete: (until: Promise<void>) => void (hold.delete = until),
      expectNone,
    };
  }

  it('after it was ejected leaves none: the state is ready, and another model serves when it is loaded', async () => {
    const { eject, remove, expectNone, load, status } = await createStored();
    await eject();
    await remove();
    await expectNone();
    await load();
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'model 0' } });
  });

  it('while it serves, and is ejected then, leaves none as well', async () => {
    const { eject, remove, expectNone, status } = await createStored();
    await remove(STORED_FOLDER.key, true);
    expect(status()).toMatchObject({ state: 'ready', model: { id: 'scripted' } });
    await eject();
    await expectNone();
  });

  it('while its ejection waits for requests leaves none as well', async () => {
    const { eject, holdEject, remove, expectNone, log } = await createStored();
    const end = holdEject();
    const ejected = eject();
    await vi.waitFor(() => expect(log.at(-1)).toBe('eject'));
    await remove(STORED_FOLDER.key, true);
    end();
    await ejected;
    await expectNone();
  });

  it('is refused while it is loaded again, even with force, and serves', async () => {
    const { eject, want, remove, log, status } = await createStored();
    await eject();
    const loading = Promise.withResolvers<void>();
    platform.loadStored = () => loading.promise.then(loadScripted);
    want();
    await vi.waitFor(() => expect(status().load?.id).toBe('a/b'));
    for (const force of [false, true])
      await expect(remove(STORED_FOLDER.key, force)).rejects.toMatchObject({
        code: 'MODEL_IN_USE',
        message: expect.stringContaining('a/b is being loaded'),
      });
    loading.resolve();
    await vi.waitFor(() => expect(log.at(-1)).toBe('serve scripted'));
    expect(status()).toMatchObject({ state: 'ready' });
  });

  it('is a download that goes on: that is refused until it is cancelled', async () => {
    const { models, load, remove } = await createStored();
    platform.obtain = (job) => job.attempt(untilAborted);
    const hub = { type: 'hub', hub: 'https://hub', id: 'a/c', revision: 'main' } as const;
    const loading = load({ ...EMBEDDED, source: hub });
    await expect(remove('parts', true)).rejects.toMatchObject({ code: 'MODEL_IN_USE' });
    models.steer('cancel');
    await expect(loading).rejects.toMatchObject({ code: 'LOAD_CANCELLED' });
    await remove('parts');
  });

  it('is gone before a load that was asked for behind the deletion looks for it', async () => {
    const { eject, remove, holdDelete, load } = await createStored();
    await eject();
    const { promise, resolve } = Promise.withResolvers<void>();
    holdDelete(promise);
    const steps: string[] = [];
    platform.obtain = () => {
      steps.push('look');
      return Promise.resolve(STORED_FOLDER);
    };
    const hub = { type: 'hub', hub: 'https://hub', id: 'a/b', revision: 'main' } as const;
    const removed = remove().then(() => steps.push('deleted'));
    const loaded = load({ ...EMBEDDED, source: hub });
    await new Promise((done) => setImmediate(done));
    resolve();
    await Promise.all([removed, loaded]);
    expect(steps).toEqual(['deleted', 'look']);
  });
});

it('suggests models for the device that they would run on, also where no model serves', async () => {
  platform.load = () => Promise.reject(new Error('no model'));
  const { models } = createSwitch();
  const suggested = await models.calls['suggest-models']({ ...CALL, type: 'suggest-models' });
  expect(suggested.map(({ id }) => id)).toContain('openai-community/gpt2');
  expect(suggested.find(({ id }) => id === 'openai-community/gpt2')?.dtype, 'on a CPU').toBe('q8');
});

describe('a GPU that computes wrong values', () => {
  const WRONG = gpuWrongValues('float32', 'row 3 of a batch');
  const refuse = () => Promise.reject(WRONG);

  it('is a fault of the worker where there is another rung', async () => {
    vi.stubGlobal('crossOriginIsolated', true);
    vi.stubGlobal('navigator', { hardwareConcurrency: 8 });
    platform.checkGpu = refuse;
    const { models, log } = createSwitch();
    await expect(models.started).rejects.toMatchObject({ name: 'RuntimeLostError', cause: WRONG });
    expect(log).toEqual(['load model 0']);
    vi.unstubAllGlobals();
  });

  it('fails the start on the last rung, with its code', async () => {
    platform.checkGpu = refuse;
    const { models, log, status } = createSwitch();
    await models.started;
    expect(log).toEqual(['load model 0', 'fail GPU_WRONG_VALUES']);
    expect(status()).toMatchObject({ state: 'failed', error: { code: 'GPU_WRONG_VALUES' } });
  });

  it('fails the load of another model, and the one before it serves on', async () => {
    const { models, load, log, status } = createSwitch();
    await models.started;
    platform.checkGpu = refuse;
    await expect(load()).rejects.toBe(WRONG);
    expect(log.slice(2)).toEqual(['load model 1']);
    expect(status()).toMatchObject({
      model: { id: 'model 0' },
      loadFailure: { error: { code: 'GPU_WRONG_VALUES' } },
    });
  });

  it('is warned of on the console by the worker that serves instead', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const recovery = {
      kind: 'wrong-values',
      message: 'This GPU computes wrong values (x)',
      attempt: 1,
    } as const;
    const { models, log } = createSwitch({ recovery });
    await models.started;
    expect(log).toEqual(['load model 0', 'serve model 0']);
    expect(warn.mock.calls).toEqual([['This GPU computes wrong values (x). Using the CPU.']]);
    warn.mockRestore();
  });
});

describe('the worker of a check', () => {
  it('loads the model that was chosen, counts no start, and removes nothing that another worker stores', async () => {
    const notes: string[] = [];
    const sweep = vi.fn<ModelStore['sweep']>(() => Promise.resolve());
    platform.openStore = storeWith(notes, {
      chosen: () => Promise.resolve(STORED_FOLDER),
      served: () => Promise.reject(new Error('counts a start')),
      sweep,
    });
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    const { models, log } = createSwitch({}, FIRST, { isTrial: true });
    await models.started;
    expect(log).toEqual(['serve scripted']);
    expect(notes).toEqual([]);
    expect(sweep).not.toHaveBeenCalled();
  });

  it.each([
    ['takes the app’s model of the hub from the store', STORED_FOLDER, ['serve scripted']],
    ['downloads none that is not stored for its backend', undefined, ['fail UNSUPPORTED_DTYPE']],
  ])('%s', async (_, stored, expected) => {
    platform.openStore = storeWith([], { chosen: () => Promise.resolve(undefined) });
    platform.findStored = () => Promise.resolve(stored);
    platform.obtain = () => Promise.reject(new Error('downloads'));
    platform.loadStored = () => Promise.resolve(createScriptedModel(new ScriptedBackend()));
    const model = { type: 'hub', hub: 'https://hub', id: 'a/b', revision: 'main' } as const;
    const { models, log } = createSwitch({}, { model, dtype: 'auto' }, { isTrial: true });
    await models.started;
    expect(log).toEqual(expected);
  });
});

describe('a model that hangs while it is made ready', () => {
  it('is a fault of the worker where it is the first one', async () => {
    platform.warmUp = hang;
    const { models, log } = createSwitch();
    await expect(models.started).rejects.toMatchObject(LOST);
    expect(log).toEqual(['load model 0']);
  });

  it('is a fault of the worker where another one serves: its runtime waits for what hangs', async () => {
    const { models, load, log, status } = createSwitch();
    await models.started;
    platform.warmUp = hang;
    await expect(load()).rejects.toMatchObject(LOST);
    expect(log.slice(2)).toEqual(['load model 1']);
    expect(status()).not.toHaveProperty('loadFailure');
  });

  it('counts as a start without an end where there is no other rung', async () => {
    const notes: string[] = [];
    platform.openStore = storeWith(notes);
    platform.loadStored = hang;
    const recovery = { kind: 'gpu-hang', message: '', rung: 'wasm', attempt: 1 } as const;
    await expect(createSwitch({ recovery }).models.started).rejects.toMatchObject(LOST);
    expect(notes).toEqual([]);
  });
});
