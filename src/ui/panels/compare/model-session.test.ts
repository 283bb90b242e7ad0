import { afterEach, expect, it, vi } from 'vitest';

import type { GenerationOptions, LoadModelOptions, TabserveClient } from '../../../client/index.ts';
import { createServeStore } from '../../state/serve-store.ts';
import { createStatus, MODEL, WEBGPU } from '../../testing/test-support.ts';
import type { ModelSide } from './model-choices.ts';
import { compareModels } from './model-session.ts';

const PROMPTS = [
  { prompt: 'one', options: { maxNewTokens: 8 }, seed: 7 },
  { prompt: 'two', options: { maxNewTokens: 8, temperature: 0.5 }, seed: 9 },
];
const Q8: ModelSide = { id: 'storyteller', dtype: 'q8', memoryBytes: 2e6 };
const FP32: ModelSide = { id: 'storyteller', dtype: 'fp32', memoryBytes: 5e6 };
const HUB: ModelSide = { id: 'owner/name', revision: 'main', dtype: 'fp16', memoryBytes: 9e6 };

afterEach(() => vi.useRealTimers());

interface Faults {
  readonly onLoad?: (signal: AbortSignal | undefined) => Promise<void>;
  readonly onSend?: (served: string) => void;
  /** What answers in place of the loaded model. */
  readonly answeredBy?: string;
}

/** Logs all that the session does. The storyteller serves in fp32. */
function createSession(sides: readonly ModelSide[], { onLoad, onSend, answeredBy }: Faults = {}) {
  const log: string[] = [];
  let served = { id: 'storyteller', precision: 'fp32' as ModelSide['dtype'] };
  const generator = {
    remote: (
      prompt: string,
      { signal: _signal, ...options }: GenerationOptions & { signal: AbortSignal },
    ) => {
      const name = `${served.id} ${served.precision}`;
      const requestId = `request ${log.push(`${name}: ${prompt} ${JSON.stringify(options)}`)}`;
      onSend?.(name);
      const model = { ...served, backend: 'wasm', ...(answeredBy !== undefined && { id: answeredBy }) };
      const result = () =>
        Promise.resolve({
          choices: [{ generatedText: `${prompt}, says ${name}` }],
          usage: { numOutputTokens: 8 },
          timings: { ttftMs: 2 },
        });
      return { requestId, model, result };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the session calls
  const serve = {
    getHandle: () => generator,
    status: () =>
      createStatus({
        model: { ...MODEL, id: served.id },
        backend: { ...WEBGPU, precision: served.precision },
      }),
    overridePolicy: (knobs: object) => {
      log.push(`override ${JSON.stringify(knobs)}`);
      return Promise.resolve({
        signal: new AbortController().signal,
        release: async () => void log.push('release'),
      });
    },
    loadModel: async (id: string, { dtype = 'auto', revision, isTemporary, signal }: LoadModelOptions) => {
      log.push(`load ${id} ${revision ?? ''} ${dtype} ${isTemporary ? 'for a while' : 'for good'}`);
      await onLoad?.(signal);
      if (dtype !== 'auto') served = { id, precision: dtype };
    },
    restoreModel: async () => {
      log.push('restore');
      served = { id: 'storyteller', precision: 'fp32' };
    },
  } as unknown as TabserveClient;
  // No step is ever reported, so that each trial waits for its timeout.
  vi.useFakeTimers();
  const abort = new AbortController();
  const session = compareModels(serve, createServeStore(createStatus()), PROMPTS, sides, abort.signal);
  const run = async () => {
    const ended = session.start();
    await vi.runAllTimersAsync();
    await ended;
    return session.store.getState();
  };
  return { log, abort, run };
}

const SENT_TO_SERVED = [
  'storyteller fp32: one {"maxNewTokens":8,"seed":7}',
  'storyteller fp32: two {"maxNewTokens":8,"temperature":0.5,"seed":9}',
];

it('asks the model that serves first, then loads the other for a while, sends the same, and restores', async () => {
  const { log, run } = createSession([Q8, FP32]);
  const { trials, isRunning, error } = await run();
  expect(log).toEqual([
    'override {"prefixCaching":false}',
    ...SENT_TO_SERVED,
    'load storyteller  q8 for a while',
    ...SENT_TO_SERVED.map((sent) => sent.replace('fp32', 'q8')),
    'restore',
    'release',
  ]);
  expect([isRunning, error]).toEqual([false, undefined]);
  expect(trials.map(({ label }) => label)).toEqual(['storyteller, fp32', 'storyteller, q8']);
  expect(trials[1]?.outcomes.map(({ texts }) => texts)).toEqual([
    ['one, says storyteller q8'],
    ['two, says storyteller q8'],
  ]);
  expect(trials.map(({ figures }) => figures.at(-1)?.value)).toEqual(['5.00 MB', '2.00 MB']);
});

it('loads both where neither serves, each in its revision', async () => {
  const { log, run } = createSession([HUB, Q8]);
  await run();
  expect(log.filter((line) => line.startsWith('load'))).toEqual([
    'load owner/name main fp16 for a while',
    'load storyteller  q8 for a while',
  ]);
  expect(log.slice(-2)).toEqual(['restore', 'release']);
});

it('restores after a stop in the texts of the second, whose trial is dropped', async () => {
  const session = createSession([FP32, Q8], {
    onSend: (served) => served === 'storyteller q8' && session.abort.abort(),
  });
  const { trials, error } = await session.run();
  expect(trials.map(({ label }) => label)).toEqual(['storyteller, fp32']);
  expect(error).toBeUndefined();
  expect(session.log.slice(-2)).toEqual(['restore', 'release']);
});

it('cancels the load at a stop, and restores', async () => {
  const session = createSession([FP32, Q8], {
    onLoad: async (signal) => {
      session.abort.abort();
      signal?.throwIfAborted();
    },
  });
  const { error } = await session.run();
  expect(error).toBeUndefined();
  expect(session.log.slice(-3)).toEqual(['load storyteller  q8 for a while', 'restore', 'release']);
});

it('says why a load failed, and restores', async () => {
  const failure = Object.assign(new Error('no room'), { code: 'MODEL_TOO_LARGE' });
  const { log, run } = createSession([FP32, Q8], { onLoad: () => Promise.reject(failure) });
  expect(await run()).toMatchObject({ error: { code: 'MODEL_TOO_LARGE', message: 'no room' } });
  expect(log.slice(-2)).toEqual(['restore', 'release']);
});

it('counts no texts of another model', async () => {
  const { log, run } = createSession([FP32, Q8], { answeredBy: 'other' });
  expect(await run()).toMatchObject({ trials: [], error: { code: 'MODEL_CHANGED' } });
  expect(log.slice(-2)).toEqual(['restore', 'release']);
});

it('refuses a model that serves no longer and can’t be fetched, before anything else', async () => {
  const { log, run } = createSession([{ id: 'picked', dtype: 'fp32', isFixed: true }, Q8]);
  expect(await run()).toMatchObject({ error: { code: 'MODEL_NOT_LOADED' } });
  expect(log).toEqual([]);
});
