import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requestId } from '../../batching/generation/test-support.ts';
import { createClientId } from '../../protocol/ids.ts';
import type { LoadedModel } from '../runtime/loaded-model.ts';
import { defineDeployment } from '../../protocol/deployment.ts';
import type { ModelOptions } from './models/first-model.ts';
import type { HostMessage } from '../../protocol/host-messages.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import type { WorkerPast } from '../../protocol/recovery.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { RecoveryPlan } from '../../client/links/recovery-plan.ts';
import { WasmAbortError } from '../runtime/faults/runtime-errors.ts';
import { serveModel } from '../text-generation/serve-model.ts';
import { ServeWorker } from './serve-worker.ts';
import type { Outgoing } from '../../client/links/link.ts';
import { createScriptedModel, createServeHost, EMBEDDED } from '../test-support.ts';

const loading = vi.hoisted(() => ({ model: Promise.withResolvers<LoadedModel>() }));

vi.mock('./models/model-switch.ts', () => ({
  ModelSwitch: class {
    readonly started: Promise<void>;
    constructor({ generator, onStatus }: Pick<ModelOptions, 'generator' | 'onStatus'>) {
      this.started = loading.model.promise.then((model) => {
        onStatus({ state: 'ready' }, []);
        return serveModel(generator, model);
      });
    }
  },
}));

const echo = defineDeployment({
  name: 'echo',
  checkInput: (input) => input,
  batchOptions: { maxBatchSize: 8, batchWaitTimeoutMs: 10 },
  handler: (inputs) =>
    inputs.includes('abort')
      ? Promise.reject(WasmAbortError.because(new Error('Aborted()')))
      : Promise.resolve(inputs),
});

/** A worker whose model can be broken, and its only tab. */
async function createWorker(past: Partial<WorkerPast> = {}) {
  const backend = new ScriptedBackend();
  loading.model = Promise.withResolvers();
  const model = createScriptedModel(backend);
  loading.model.resolve(model);
  const said: WorkerMessage[] = [];
  const host = createServeHost(past);
  const worker = new ServeWorker(
    [echo],
    { toAll: (message) => said.push(message), toClient: (_, message) => said.push(message) },
    host,
  );
  const clientId = createClientId();
  const send = (message: Outgoing): void =>
    worker.receive({ version: PROTOCOL_VERSION, clientId, ...message });
  send({ type: 'hello' });
  await worker.start(EMBEDDED, 'auto');
  const request = (name: string, deployment: string, input: string, options: object): void =>
    send({ type: 'submit', requestId: requestId(name), deployment, input, options, elapsedMs: 0 });
  const submit = (name: string, maxNewTokens: number): void =>
    request(name, 'text-generator', 'ab', { maxNewTokens });
  const submitEcho = (name: string, input = 'ab'): void => request(name, 'echo', input, {});
  const updatesOf = (name: string): RequestUpdate[] =>
    said
      .flatMap((message) => (message.type === 'updates' ? message.updates : []))
      .filter((update) => update.requestId === requestId(name));
  const typesOf = (name: string): string[] => updatesOf(name).map(({ type }) => type);
  const lastStatus = () => said.findLast((message) => message.type === 'status')?.status;
  return { worker, backend, model, host, send, submit, submitEcho, updatesOf, typesOf, lastStatus };
}

/** Without which prompt it reads when. */
const reportsOf = ({ reports }: { readonly reports: readonly Unsigned<HostMessage>[] }) =>
  reports.filter(({ type }) => type !== 'reading');

const work = () => vi.advanceTimersByTimeAsync(1000);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a worker and the tab that made it', () => {
  it('tells that it serves, when it has work, and of its first token, once each', async () => {
    const { host, submit } = await createWorker();
    expect(reportsOf(host)).toEqual([{ type: 'ready' }]);
    submit('a', 2);
    submit('b', 2);
    await work();
    expect(reportsOf(host).slice(1)).toEqual([{ type: 'busy' }, { type: 'progress' }, { type: 'idle' }]);
    submit('c', 2);
    await work();
    expect(reportsOf(host).slice(4)).toEqual([{ type: 'busy' }, { type: 'idle' }]);
  });

  it.each(['worker-error', 'worker-hang', 'worker-ended'] as const)(
    'tells of each step before it begins, and who has no token, where the worker before could not: %s',
    async (kind) => {
      const { host, submit } = await createWorker({ recovery: { kind, message: '', attempt: 1 } });
      submit('a', 2);
      await work();
      expect(reportsOf(host).slice(2)).toEqual([
        { type: 'step', stalledIds: ['a'] },
        { type: 'step', stalledIds: [] },
        { type: 'progress' },
        { type: 'step', stalledIds: [] },
        { type: 'idle' },
      ]);
    },
  );

  it('names the request whose prompt it reads for as long as it reads it', async () => {
    const { host, model, submit } = await createWorker();
    const { tokenizer } = model;
    /** The tab's knowledge if reading never ends. */
    const namedInReading: unknown[] = [];
    // oxlint-disable-next-line require-yield -- a short text is one piece
    const encode = vi.spyOn(tokenizer, 'encodeInPieces').mockImplementation(function* encodeAtOnce(text) {
      namedInReading.push(host.reports.at(-1));
      if (encode.mock.calls.length === 2) throw new Error('unreadable');
      return Array.from(text, () => 1);
    });
    submit('a', 2);
    submit('b', 2);
    expect(namedInReading).toEqual([
      { type: 'reading', requestId: 'a' },
      { type: 'reading', requestId: 'b' },
    ]);
    expect(host.reports.at(-1)).toEqual({ type: 'reading' });
    await work();
  });

  it('tells that its start is over, where no model can be had', async () => {
    const { worker, host, lastStatus } = await createWorker();
    host.reports.length = 0;
    loading.model = Promise.withResolvers();
    loading.model.reject(new Error('no model'));
    await worker.start(EMBEDDED, 'auto');
    expect(lastStatus()).toMatchObject({ state: 'failed', error: { message: 'no model' } });
    expect(reportsOf(host)).toEqual([{ type: 'ready' }]);
  });

  it('tells of progress where a text ends before its first token', async () => {
    const { backend, host, submit } = await createWorker();
    // Whatever the prompt, the end token comes first.
    const { eosTokenIds } = ScriptedBackend.config;
    backend.sample = async (_, rows) => ({
      samples: (await rows).map(() => ({ tokenId: eosTokenIds[0] ?? 0, logprobs: undefined })),
      readbackMs: 0,
    });
    submit('a', 2);
    await work();
    expect(reportsOf(host).slice(1)).toEqual([{ type: 'busy' }, { type: 'progress' }, { type: 'idle' }]);
  });

  it('tells of progress where a batch is answered, unless a prompt waits or runs', async () => {
    const { backend, host, submit, submitEcho, send } = await createWorker();
    backend.forward = () => new Promise<never>(() => {});
    submit('a', 2);
    submitEcho('b');
    await work();
    expect(reportsOf(host).slice(1)).toEqual([{ type: 'busy' }]);
    send({ type: 'cancel', requestId: requestId('a') });
    submitEcho('c');
    await work();
    expect(reportsOf(host).slice(2)).toContainEqual({ type: 'progress' });
  });

  it('does not take the chunks of one long prompt for tokens', async () => {
    const recovery = { kind: 'worker-hang', message: '', attempt: 1 } as const;
    const { host, send, submit } = await createWorker({ recovery });
    send({ type: 'configure', callId: 1, deployment: 'text-generator', knobs: { maxBatchedTokens: 1 } });
    submit('long', 1);
    await work();
    const steps = host.reports.filter(({ type }) => type === 'step');
    expect(steps.slice(0, 2)).toEqual([0, 1].map(() => ({ type: 'step', stalledIds: ['long'] })));
  });
});

describe('a worker whose model can run no more', () => {
  it('says so to all, blames those of the step that have no token, and fails nobody', async () => {
    const { backend, host, submit, typesOf, lastStatus } = await createWorker();
    submit('old', 250);
    await vi.advanceTimersByTimeAsync(3);
    backend.runError = new Error('the runtime is broken');
    submit('new', 250);
    await work();
    const fault = { kind: 'run-failed', message: 'the runtime is broken' };
    expect(host.reports.filter(({ type }) => type === 'fault')).toEqual([
      { type: 'fault', fault, stalledIds: expect.any(Array), numRunning: expect.any(Number) },
    ]);
    expect(host.reports.at(-1)).toMatchObject({ numRunning: 2 });
    expect(host.reports.at(-1)).not.toMatchObject({ stalledIds: expect.arrayContaining(['old']) });
    expect(lastStatus()).toMatchObject({ state: 'loading', recovery: { ...fault, attempt: 1 } });
    expect([...typesOf('old'), ...typesOf('new')]).not.toContain('failed');
  });

  it('has sent every token by then, even those of short steps', async () => {
    const { backend, host, submit, updatesOf } = await createWorker();
    submit('a', 250);
    await vi.advanceTimersByTimeAsync(3);
    const numSteps = backend.calls.filter((call) => call.startsWith('forward')).length;
    backend.runError = new Error('the runtime is broken');
    await vi.advanceTimersByTimeAsync(3);
    expect(host.reports.at(-1)).toMatchObject({ type: 'fault' });
    const tokenIds = updatesOf('a').flatMap((update) => (update.type === 'chunk' ? update.tokenIds : []));
    expect(numSteps).toBeGreaterThan(2);
    expect(tokenIds.length).toBeGreaterThanOrEqual(numSteps - 1);
  });

  it('says so at once where nothing runs', async () => {
    const { backend, host } = await createWorker();
    backend.fail(new Error('the device is gone'));
    await work();
    expect(host.reports.at(-1)).toMatchObject({ type: 'fault', stalledIds: [], numRunning: 0 });
  });

  it('gives a step up that never ends', async () => {
    const { backend, host, submit } = await createWorker();
    backend.forward = () => new Promise<never>(() => {});
    submit('a', 2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reportsOf(host).at(-1)).toEqual({ type: 'busy' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(host.reports.at(-1)).toMatchObject({ fault: { kind: 'gpu-hang' }, stalledIds: ['a'] });
  });

  it('blames those of the last step that have no token for an error that nobody has caught', async () => {
    const { worker, backend, host, submit } = await createWorker();
    submit('old', 250);
    await vi.advanceTimersByTimeAsync(3);
    backend.forward = () => new Promise<never>(() => {});
    submit('new', 250);
    await work();
    worker.fail(new Error('unexpected'));
    expect(host.reports.at(-1)).toMatchObject({
      fault: { kind: 'worker-error', message: 'unexpected' },
      stalledIds: ['new'],
    });
  });

  it('still ends what is cancelled or late', async () => {
    const { backend, send, submit, updatesOf } = await createWorker();
    backend.runError = new Error('broken');
    submit('a', 2);
    await work();
    send({ type: 'cancel', requestId: requestId('a') });
    expect(updatesOf('a')).toMatchObject([
      { type: 'accepted' },
      { type: 'failed', error: { code: 'REQUEST_CANCELLED' } },
    ]);
  });

  it('counts on from the workers before it while there is no token', async () => {
    const recovery = { kind: 'run-failed', message: '', attempt: 3 } as const;
    const { backend, submit, lastStatus } = await createWorker({ recovery });
    backend.runError = new Error('broken');
    submit('a', 2);
    await work();
    expect(lastStatus()?.recovery?.attempt).toBe(4);
  });
});

describe('a worker whose runtime a batch has ended', () => {
  it('says so once, blames the requests of the batch, and tells them nothing', async () => {
    const { host, submitEcho, typesOf } = await createWorker();
    for (const name of ['a', 'b']) submitEcho(name, 'abort');
    await work();
    submitEcho('c', 'abort');
    await work();
    expect(host.reports.filter(({ type }) => type === 'fault')).toMatchObject([
      { fault: { kind: 'wasm-abort', message: 'Aborted()' }, stalledIds: ['a', 'b'] },
    ]);
    expect(['a', 'b', 'c'].flatMap(typesOf)).toEqual([]);
  });
});

describe('a worker that knows what came before it', () => {
  it('fails the request that has ended every worker, and says what helps', async () => {
    const recovery = { kind: 'run-failed', message: 'broken', attempt: 1 } as const;
    const { submit, updatesOf } = await createWorker({ recovery, fatalIds: [requestId('bad')] });
    submit('bad', 2);
    submit('good', 2);
    await work();
    expect(updatesOf('bad')).toEqual([
      {
        type: 'failed',
        requestId: 'bad',
        error: {
          code: 'MODEL_RUN_FAILED',
          message: 'Every run of this request failed (broken): shorten the prompt, or change its options.',
        },
      },
    ]);
    expect(updatesOf('good').at(-1)?.type).toBe('finished');
  });

  it('finds the item of a batch that ends every worker, fails it alone, and answers the others', async () => {
    const plan = new RecoveryPlan('wasm');
    const names = Array.from({ length: 8 }, (_, index) => `r${index}`);
    const ends = new Map<string, string>();
    for (let life = 0; life < 8 && ends.size < names.length; life++) {
      const { host, submitEcho, typesOf } = await createWorker(plan.past);
      plan.recordRung('wasm');
      const waiting = names.filter((name) => !ends.has(name));
      for (const name of waiting) submitEcho(name, name === 'r5' ? 'abort' : name);
      await work();
      for (const name of waiting) for (const type of typesOf(name)) ends.set(name, type);
      for (const message of host.reports) {
        if (message.type === 'progress') plan.recordProgress();
        if (message.type === 'fault') plan.recordEnd({ ...message, phase: 'busy' });
      }
    }
    const expected = names.map((name) => [name, name === 'r5' ? 'failed' : 'answered'] as const);
    expect(ends).toEqual(new Map(expected));
  });

  it('names for an item what helps an item', async () => {
    const { submitEcho, updatesOf } = await createWorker({ fatalIds: [requestId('bad')] });
    submitEcho('bad');
    expect(updatesOf('bad')).toMatchObject([
      { error: { message: expect.stringMatching(/: change its input\.$/) } },
    ]);
  });

  it('runs fewer together where that was too much, and as many as the policy has after a while', async () => {
    const { backend, submit } = await createWorker({ maxRows: 2 });
    for (let index = 0; index < 24; index++) submit(`r${index}`, 200);
    await vi.advanceTimersByTimeAsync(5000);
    const rows = backend.calls.flatMap((call) => /^forward slots (\d+)x/.exec(call)?.[1] ?? []).map(Number);
    expect(Math.max(...rows.slice(0, 200))).toBe(2);
    expect(Math.max(...rows)).toBe(8);
  });
});
