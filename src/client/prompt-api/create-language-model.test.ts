import { beforeEach, describe, expect, it, vi } from 'vitest';

import { createLanguageModel } from './create-language-model.ts';
import { BASE_MODEL, CHAT_MODEL, CONTEXT_LENGTH, PlayedWorker } from '../testing/played-worker.ts';
import type { CreateMonitor, ModelOptions } from './types.ts';

const MODEL = 'owner/chat';
const SERVED = { ...CHAT_MODEL, id: MODEL };
const STORED = { key: 'k', id: MODEL, revision: 'main', storedBytes: 1, totalBytes: 1 } as const;
const AT_SERVER = {
  name: 'server',
  precision: 'unknown',
  adapter: '',
  fallbackReason: '',
} as const;
const LOAD = { id: MODEL, isPaused: false, phase: 'download', loaded: 1, total: 4, fraction: 0.4 } as const;

const classOf = (worker: PlayedWorker, options: ModelOptions = {}) =>
  createLanguageModel({ serve: worker.serve, ...options });

/** The class to a caller without types. */
interface Untyped {
  availability(options: object): Promise<unknown>;
  create(options: object): Promise<unknown>;
}

/** Node has no such event. */
class FakeProgressEvent extends Event {
  readonly loaded: number;

  constructor(type: string, { loaded = 0 }: ProgressEventInit) {
    super(type);
    this.loaded = loaded;
  }
}

/** The events of a monitor. */
function listen() {
  const heard: number[] = [];
  const monitor = (target: CreateMonitor): void =>
    target.addEventListener('downloadprogress', ({ loaded }) => heard.push(loaded));
  return { heard, monitor };
}

beforeEach(() => {
  vi.stubGlobal('ProgressEvent', FakeProgressEvent);
});

describe('availability()', () => {
  it.each([
    ['available', 'a chat model serves', new PlayedWorker(), undefined],
    ['unavailable', 'a base model serves', new PlayedWorker({ model: BASE_MODEL }), undefined],
    ['downloading', 'the first model is being loaded', new PlayedWorker({ state: 'loading' }), undefined],
    ['unavailable', 'no model could be loaded', new PlayedWorker({ state: 'failed' }), undefined],
    ['unavailable', 'a server answers', new PlayedWorker({ backend: AT_SERVER }), undefined],
    ['available', 'the named model serves', new PlayedWorker({ model: SERVED }), MODEL],
    ['downloadable', 'another model serves', new PlayedWorker({ model: BASE_MODEL }), MODEL],
    ['downloading', 'the named model is being loaded', new PlayedWorker({ load: LOAD }), MODEL],
    ['downloadable', 'a part of the named model is stored', withStored({}), MODEL],
    ['available', 'the named model is stored', withStored({ dtype: 'fp16' }), MODEL],
    [
      'available',
      'the named model is stored, and another could not be loaded',
      withStored({ dtype: 'fp16' }, { state: 'failed' }),
      MODEL,
    ],
  ] as const)('is %s where %s', async (availability, _, worker, model) => {
    expect(await classOf(worker, model === undefined ? {} : { model }).availability()).toBe(availability);
  });

  it.each([
    ['images', { expectedInputs: [{ type: 'image' }] }],
    ['an answer that is spoken', { expectedOutputs: [{ type: 'audio' }] }],
    ['a language that nobody knows', { expectedInputs: [{ type: 'text', languages: ['unk'] }] }],
  ] as const)('is unavailable for %s, which create() refuses', async (_, options) => {
    const LanguageModel = classOf(new PlayedWorker());
    expect(await LanguageModel.availability(options)).toBe('unavailable');
    await expect(LanguageModel.create(options)).rejects.toMatchObject({ name: 'NotSupportedError' });
  });

  it.each([
    ['a type that does not exist', { expectedInputs: [{ type: 'soup' }] }, TypeError],
    ['a mode that does not exist', { samplingMode: 'wild' }, TypeError],
    [
      'a tag that is none',
      { expectedOutputs: [{ type: 'text', languages: ['en-abc-invalid'] }] },
      RangeError,
    ],
  ])('rejects for %s', async (_, options, error) => {
    const LanguageModel: Untyped = classOf(new PlayedWorker());
    await expect(LanguageModel.availability(options)).rejects.toBeInstanceOf(error);
    await expect(LanguageModel.create(options)).rejects.toBeInstanceOf(error);
  });
});

describe('create()', () => {
  it('computes the initial prompts ahead, and counts them', async () => {
    const worker = new PlayedWorker();
    const initialPrompts = [
      { role: 'system', content: 'abc' },
      { role: 'user', content: 'd' },
    ] as const;
    const session = await classOf(worker).create({ initialPrompts });
    expect(worker.submitted).toMatchObject([{ input: initialPrompts, options: { maxNewTokens: 1 } }]);
    expect(session.contextUsage).toBe('sabc.ud.'.length);
    expect(await session.measureContextUsage(initialPrompts)).toBe(session.contextUsage);
  });

  it('refuses initial prompts beyond the context window', async () => {
    const initialPrompts = [{ role: 'user', content: 'x'.repeat(CONTEXT_LENGTH) }] as const;
    await expect(classOf(new PlayedWorker()).create({ initialPrompts })).rejects.toMatchObject({
      name: 'QuotaExceededError',
      requested: CONTEXT_LENGTH + 2,
      quota: CONTEXT_LENGTH,
    });
  });

  it('names the model that cannot chat, and the way out', async () => {
    await expect(classOf(new PlayedWorker({ model: BASE_MODEL })).create()).rejects.toMatchObject({
      name: 'NotSupportedError',
      message: expect.stringMatching(/^base has no chat template: name a chat model in `model`/),
    });
  });

  it('loads the named model, and tells its monitor how far the download is', async () => {
    const worker = new PlayedWorker({ model: BASE_MODEL });
    const { heard, monitor } = listen();
    const created = classOf(worker, { model: MODEL, load: { dtype: 'q8' } }).create({ monitor });
    await vi.waitFor(() => expect(worker.received.at(-1)).toMatchObject({ type: 'load-model' }));
    expect(worker.received.at(-1)).toMatchObject({ source: { type: 'hub', id: MODEL }, dtype: 'q8' });
    for (const load of [LOAD, LOAD, { ...LOAD, loaded: 3 }, { ...LOAD, phase: 'convert' } as const])
      worker.change({ load });
    worker.change({ model: SERVED });
    worker.endLoad();
    expect((await created).contextWindow).toBe(CONTEXT_LENGTH);
    expect(heard).toEqual([0, 0.25, 0.75, 1]);
  });

  it('fails as the download does', async () => {
    const worker = new PlayedWorker({ model: BASE_MODEL });
    const created = classOf(worker, { model: MODEL }).create();
    await vi.waitFor(() => expect(worker.received.at(-1)).toMatchObject({ type: 'load-model' }));
    worker.endLoad({ code: 'HUB_UNREACHABLE', message: 'No network.' });
    await expect(created).rejects.toMatchObject({ name: 'NetworkError', message: 'No network.' });
  });

  it('begins no download before the user has touched the page', async () => {
    vi.stubGlobal('navigator', { userActivation: { hasBeenActive: false } });
    const worker = new PlayedWorker({ model: BASE_MODEL });
    const LanguageModel = classOf(worker, { model: MODEL });
    await expect(LanguageModel.create()).rejects.toMatchObject({ name: 'NotAllowedError' });
    worker.change({ model: SERVED });
    expect(await LanguageModel.create()).toBeInstanceOf(LanguageModel);
  });

  it('is ended by its signal, after which its monitor hears nothing', async () => {
    const worker = new PlayedWorker({ model: BASE_MODEL });
    const controller = new AbortController();
    const { heard, monitor } = listen();
    const created = classOf(worker, { model: MODEL }).create({ monitor, signal: controller.signal });
    await vi.waitFor(() => expect(heard).toEqual([0]));
    const reason = new Error('left');
    controller.abort(reason);
    worker.change({ load: LOAD });
    await expect(created).rejects.toBe(reason);
    expect(heard).toEqual([0]);
    await expect(classOf(worker).create({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('throws what its monitor throws', async () => {
    const error = new Error('mine');
    const monitor = (): never => {
      throw error;
    };
    await expect(classOf(new PlayedWorker()).create({ monitor })).rejects.toBe(error);
  });

  it('is the only way to a session', () => {
    const LanguageModel = classOf(new PlayedWorker());
    expect(() => Reflect.construct(Object(LanguageModel), [])).toThrow(TypeError);
    expect(LanguageModel).toHaveProperty('name', 'LanguageModel');
  });
});

describe('the legacy members', () => {
  it('are not there unless they are asked for', async () => {
    const LanguageModel = classOf(new PlayedWorker());
    const session = await LanguageModel.create({ temperature: 0.3, topK: 3 });
    for (const name of ['topK', 'temperature', 'inputUsage', 'inputQuota', 'measureInputUsage'])
      expect(session).not.toHaveProperty(name);
    expect('params' in LanguageModel).toBe(false);
    expect(session.samplingMode).toBe('balanced');
  });

  it('take the parameters within their limits, or not at all', async () => {
    const worker = new PlayedWorker();
    const LanguageModel = classOf(worker, { legacy: true });
    expect(await Reflect.apply(Reflect.get(LanguageModel, 'params'), LanguageModel, [])).toEqual({
      defaultTopK: CHAT_MODEL.vocabSize,
      maxTopK: CHAT_MODEL.vocabSize,
      defaultTemperature: 0.8,
      maxTemperature: 2,
    });
    const session = await LanguageModel.create({ temperature: Infinity, topK: 1.5 });
    expect(session).toMatchObject({
      temperature: 2,
      topK: 1,
      samplingMode: null,
      inputQuota: CONTEXT_LENGTH,
    });
    await session.prompt('one');
    expect(worker.submitted[0]?.options).toMatchObject({ temperature: 2, topK: 1 });
    expect(session).toMatchObject({ inputUsage: session.contextUsage });
    expect(await session.clone()).toMatchObject({ topK: 1 });
    await expect(LanguageModel.create({ temperature: -1 })).rejects.toBeInstanceOf(RangeError);
    await expect(LanguageModel.create({ topK: 0 })).rejects.toBeInstanceOf(RangeError);
    const both = LanguageModel.create({ samplingMode: 'balanced', topK: 3 });
    await expect(both).rejects.toBeInstanceOf(TypeError);
  });

  it('hear of an overflow by its former name', async () => {
    const session = await classOf(new PlayedWorker(), { legacy: true }).create();
    const onquotaoverflow = vi.fn<() => void>();
    Object.assign(session, { onquotaoverflow });
    for (const text of ['1', '2']) await session.prompt(text.repeat(60));
    expect(onquotaoverflow).toHaveBeenCalledOnce();
  });
});

function withStored(
  rest: { readonly dtype?: 'fp16' },
  status: ConstructorParameters<typeof PlayedWorker>[0] = { model: BASE_MODEL },
): PlayedWorker {
  const worker = new PlayedWorker(status);
  worker.stored = [{ ...STORED, ...rest }];
  return worker;
}
