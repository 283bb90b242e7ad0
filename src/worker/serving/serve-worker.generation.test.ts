import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import type { Outbox } from './tab-messages.ts';
import { createServeHost, EMBEDDED } from '../test-support.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { RequestUpdate, SubmittedRequest, TurnInfo } from '../../protocol/requests.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { ServeWorker } from './serve-worker.ts';
import type { Outgoing } from '../../client/links/link.ts';

// Tests the worker with a fake model that counts up through the alphabet. End-to-end tests use a real one.

vi.mock('./models/load-model.ts', async () => {
  const scripted = await import('../testing/scripted-backend.ts');
  const { createScriptedModel } = await import('../test-support.ts');
  return { loadModel: () => Promise.resolve(createScriptedModel(new scripted.ScriptedBackend())) };
});
vi.mock('../runtime/warm-up.ts', () => ({ warmUp: () => Promise.resolve() }));

const [A, B] = [clientId('a'), clientId('b')];

function createWorker() {
  const toAll: WorkerMessage[] = [];
  /** To whomever, in order. */
  const all: WorkerMessage[] = [];
  const toClient = new Map<ClientId, WorkerMessage[]>([
    [A, []],
    [B, []],
  ]);
  const toClientOf = (id: ClientId): readonly WorkerMessage[] => toClient.get(id) ?? [];
  const outbox: Outbox = {
    toAll: (message) => {
      all.push(structuredClone(message));
      toAll.push(structuredClone(message));
    },
    toClient: (id, message) => {
      all.push(structuredClone(message));
      toClient.set(id, [...toClientOf(id), structuredClone(message)]);
    },
  };
  const worker = new ServeWorker([], outbox, createServeHost());
  const send = (id: ClientId, message: Outgoing): void =>
    worker.receive({ version: PROTOCOL_VERSION, clientId: id, ...message });
  for (const id of [A, B]) send(id, { type: 'hello' });
  const submit = (id: ClientId, name: string, maxNewTokens: number, given: Partial<Submission> = {}): void =>
    send(id, {
      type: 'submit',
      requestId: requestId(name),
      deployment: 'text-generator',
      input: 'ab',
      options: { maxNewTokens },
      elapsedMs: 0,
      ...given,
    });
  /** The updates that a tab got, one list per message. */
  const updatesOf = (id: ClientId): (readonly RequestUpdate[])[] =>
    (toClient.get(id) ?? []).flatMap((message) => (message.type === 'updates' ? [message.updates] : []));
  const lastStats = () =>
    toAll.flatMap((message) => (message.type === 'stats' ? [message.stats] : [])).at(-1);
  const answersTo = (id: ClientId): readonly unknown[] =>
    (toClient.get(id) ?? []).flatMap((message) => (message.type === 'call-answered' ? [message.result] : []));
  const refusalsTo = (id: ClientId): readonly unknown[] =>
    (toClient.get(id) ?? []).flatMap((message) => (message.type === 'call-refused' ? [message.error] : []));
  return { worker, send, submit, updatesOf, answersTo, refusalsTo, lastStats, toAll, all, toClientOf };
}

/** Long enough for every step, and for the stats to be sent. */
const work = () => vi.advanceTimersByTimeAsync(1000);

type Submission = Extract<Outgoing, { type: 'submit' }>;

const linesOf = (updates: readonly RequestUpdate[]): string =>
  updates
    .map((update) => `${update.requestId} ${update.type === 'chunk' ? update.text : update.type}`)
    .join(', ');

const within = (timeoutMs: number): Partial<Submission> => ({ options: { maxNewTokens: 250, timeoutMs } });
const endOf = (updates: readonly (readonly RequestUpdate[])[]) => updates.flat().at(-1);
const timedOut = (ms: number) => ({
  type: 'failed',
  error: { code: 'REQUEST_TIMEOUT', message: expect.stringContaining(`within ${ms} ms`) },
});

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the steps of the engine', () => {
  it('are told before the answer that they brought, and to a tab that comes later', async () => {
    const { worker, send, submit, all, toClientOf } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    await work();
    submit(A, 'first', 3);
    submit(B, 'second', 3);
    await work();
    const reportedAt = all.findIndex((message) => message.type === 'stats' && message.stats.steps.length > 0);
    const answered = all.findLastIndex(
      (message) => message.type === 'updates' && message.updates.some(({ type }) => type === 'finished'),
    );
    expect([reportedAt >= 0, reportedAt < answered]).toEqual([true, true]);
    send(clientId('late'), { type: 'hello' });
    const welcome = toClientOf(clientId('late')).find(({ type }) => type === 'welcome');
    expect(welcome).toMatchObject({
      steps: expect.arrayContaining([
        expect.objectContaining({
          deployment: 'text-generator',
          kind: 'prefill',
          reason: 'deferred',
          batchIndex: 0,
        }),
        expect.objectContaining({ kind: 'decode', batchSize: 2, outcome: 'ok' }),
      ]),
    });
  });
});

describe('prompts of several tabs', () => {
  it('reach each tab in few messages, with its own updates only', async () => {
    const { worker, submit, updatesOf } = createWorker();
    submit(A, 'a1', 3);
    submit(A, 'a2', 3);
    submit(B, 'b1', 3);
    await worker.start(EMBEDDED, 'auto');
    await work();
    expect(updatesOf(A).slice(-2).map(linesOf)).toEqual([
      // The second takes the prompt's K/V over and is a token behind.
      'a1 e, a1 finished, a2 d',
      'a2 e, a2 finished',
    ]);
    expect(updatesOf(B).slice(-2).map(linesOf)).toEqual(['b1 started, b1 c', 'b1 d, b1 e, b1 finished']);
  });

  it('share their steps, and all tabs see the same numbers', async () => {
    const { worker, submit, lastStats } = createWorker();
    submit(A, 'a1', 3);
    submit(B, 'b1', 3);
    await worker.start(EMBEDDED, 'auto');
    await work();
    expect(lastStats()).toMatchObject({
      numRunning: 0,
      totals: { submitted: 2, finished: 2, outputTokens: 6 },
    });
  });

  it('are known to other tabs by their state and their number of tokens', async () => {
    const { worker, send, submit, toAll } = createWorker();
    submit(A, 'a1', 3);
    submit(A, 'a2', 200);
    await worker.start(EMBEDDED, 'auto');
    await vi.advanceTimersByTimeAsync(10);
    send(A, { type: 'cancel', requestId: requestId('a2') });
    await work();
    const activities = toAll.flatMap((message) => (message.type === 'activity' ? message.activity : []));
    const lastOf = (name: string) => activities.findLast((activity) => activity.requestId === name);
    expect(lastOf('a1')).toMatchObject({ state: 'finished', numOutputTokens: 3 });
    expect(lastOf('a2')).toMatchObject({ state: 'cancelled', clientId: A });
  });

  it('go on after the tokens of a lost worker, for their tab and for the others', async () => {
    const { worker, submit, updatesOf, toAll } = createWorker();
    const resumption = { choices: [{ tokenIds: [2, 3] }], queueWaitMs: 5, ttftMs: 30 };
    submit(A, 'a1', 4, { elapsedMs: 1000, resumption });
    await worker.start(EMBEDDED, 'auto');
    await work();
    expect(updatesOf(A).map(linesOf)).toEqual(['a1 accepted', 'a1 started, a1 e', 'a1 f, a1 finished']);
    const activities = toAll.flatMap((message) => (message.type === 'activity' ? message.activity : []));
    expect(activities.at(-1)).toMatchObject({ state: 'finished', numOutputTokens: 4 });
  });

  it('leave no slot behind when their tab is gone', async () => {
    const { worker, submit, updatesOf, lastStats } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    await work();
    for (let index = 0; index < 20; index++) submit(A, `a${index}`, 250);
    submit(B, 'b1', 3);
    await vi.advanceTimersByTimeAsync(5);
    worker.forget(A);
    await work();
    expect(lastStats()).toMatchObject({
      numRunning: 0,
      numWaiting: 0,
      totals: { cancelled: 20, finished: 1 },
    });
    expect(updatesOf(B).flat().at(-1)?.type).toBe('finished');
  });
});

const requests = (count: number, given: Partial<SubmittedRequest> = {}): SubmittedRequest[] =>
  Array.from({ length: count }, (_, index) => ({
    requestId: requestId(`a${index}`),
    input: 'ab',
    options: { maxNewTokens: 2 },
    elapsedMs: 0,
    ...given,
  }));
const submitAll = (
  send: ReturnType<typeof createWorker>['send'],
  all: readonly SubmittedRequest[],
  turnInfo: TurnInfo = {},
): void =>
  send(A, { type: 'submit-all', deployment: 'text-generator', turnId: 't', requests: all, ...turnInfo });
const typesOf = (updates: readonly (readonly RequestUpdate[])[]) => updates.flat().map(({ type }) => type);

describe('several prompts of one turn', () => {
  it('are told that they are accepted in one message, before anything starts', async () => {
    const { worker, send, updatesOf } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    submitAll(send, requests(3));
    expect(updatesOf(A).map(linesOf)).toEqual(['a0 accepted, a1 accepted, a2 accepted']);
    await work();
    expect(typesOf(updatesOf(A)).filter((type) => type === 'finished')).toHaveLength(3);
  });

  it.each(['before', 'after'])(
    'are refused for good, all of them, where an empty queue is too small; sent %s the model is there',
    async (when) => {
      const { worker, send, updatesOf, lastStats } = createWorker();
      const knobs = { maxQueuedRequests: 3 };
      if (when === 'after') await worker.start(EMBEDDED, 'auto');
      send(A, { type: 'configure', callId: 1, deployment: 'text-generator', knobs });
      submitAll(send, requests(2, { options: { n: 2, maxNewTokens: 2 } }));
      if (when === 'before') await worker.start(EMBEDDED, 'auto');
      await work();
      expect(updatesOf(A).flat()).toMatchObject(
        requests(2).map(({ requestId: id }) => ({
          type: 'failed',
          requestId: id,
          error: { code: 'INVALID_OPTION', message: expect.stringContaining('maxQueuedRequests') },
        })),
      );
      expect(lastStats()).toMatchObject({ numWaiting: 0, totals: { submitted: 0 } });
    },
  );

  it('run none where one of them is bad', async () => {
    const { worker, send, updatesOf, lastStats } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    submitAll(send, [...requests(2), ...requests(1, { input: '', requestId: requestId('bad') })]);
    await work();
    expect(typesOf(updatesOf(A))).toEqual(['failed', 'failed', 'failed']);
    expect(lastStats()?.totals.submitted ?? 0).toBe(0);
  });

  it('that a lost worker had accepted are not refused for a full queue', async () => {
    const { worker, send, updatesOf } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    const knobs = { maxQueuedRequests: 2, maxBatchSize: 1 };
    send(A, { type: 'configure', callId: 1, deployment: 'text-generator', knobs });
    submitAll(send, requests(5, { resumption: { choices: [], isAccepted: true } }));
    await work();
    expect(typesOf(updatesOf(A)).filter((type) => type === 'finished')).toHaveLength(5);
  });

  it.each<readonly [string, TurnInfo, TurnInfo]>([
    ['of one HTTP client', { caller: ['peer', '', ''] }, { caller: ['peer', '', ''] }],
    ['of one tab', {}, {}],
    ['of two HTTP clients', { caller: ['peer', '', ''] }, { caller: ['another', '', ''] }],
  ])('let another turn in after one of them: %s', async (_, first, second) => {
    const { worker, send, updatesOf } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    send(A, { type: 'configure', callId: 1, deployment: 'text-generator', knobs: { policy: 'off' } });
    submitAll(send, requests(40), first);
    const [plain] = requests(1, { requestId: requestId('plain') });
    if (plain) send(A, { type: 'submit', deployment: 'text-generator', ...plain, ...second });
    await work();
    const started = updatesOf(A)
      .flat()
      .filter(({ type }) => type === 'started');
    expect(started.map((update) => update.requestId).slice(0, 3)).toContain('plain');
  });
});

describe('a request with timeoutMs', () => {
  it('ends in time though it runs, and its slot is free', async () => {
    const { worker, submit, updatesOf, lastStats } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    await work();
    submit(A, 'a1', 250, within(20));
    await vi.advanceTimersByTimeAsync(19);
    expect(endOf(updatesOf(A))?.type).toBe('chunk');
    await vi.advanceTimersByTimeAsync(1);
    expect(endOf(updatesOf(A))).toMatchObject(timedOut(20));
    await work();
    expect(lastStats()).toMatchObject({ numRunning: 0, totals: { submitted: 1, failed: 1, cancelled: 0 } });
  });

  it('ends in time though it waits for its turn, and leaves the others alone', async () => {
    const { worker, send, submit, updatesOf, lastStats } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    await work();
    send(B, { type: 'configure', callId: 1, deployment: 'text-generator', knobs: { policy: 'off' } });
    submit(B, 'b1', 50);
    submit(A, 'a1', 250, within(20));
    await vi.advanceTimersByTimeAsync(20);
    expect(updatesOf(A)).toMatchObject([[{ type: 'accepted' }], [timedOut(20)]]);
    await work();
    expect(endOf(updatesOf(B))?.type).toBe('finished');
    expect(lastStats()).toMatchObject({ numWaiting: 0, totals: { finished: 1, failed: 1 } });
  });

  it('ends in time though the model still loads', async () => {
    const { worker, submit, updatesOf } = createWorker();
    submit(A, 'a1', 250, within(20));
    await vi.advanceTimersByTimeAsync(20);
    expect(updatesOf(A)).toMatchObject([[timedOut(20)]]);
    await worker.start(EMBEDDED, 'auto');
    await work();
    expect(updatesOf(A)).toHaveLength(1);
  });

  it('counts what has passed since its submission, at a lost worker or before there was one', async () => {
    const { worker, submit, updatesOf } = createWorker();
    submit(A, 'a1', 250, { ...within(1000), elapsedMs: 980 });
    submit(B, 'b1', 250, { ...within(1000), elapsedMs: 1200 });
    await vi.advanceTimersByTimeAsync(0);
    expect(updatesOf(B)).toMatchObject([[timedOut(1000)]]);
    expect(updatesOf(A)).toEqual([]);
    await worker.start(EMBEDDED, 'auto');
    await vi.advanceTimersByTimeAsync(20);
    expect(endOf(updatesOf(A))).toMatchObject(timedOut(1000));
  });

  it('leaves no timer behind when it ends before', async () => {
    const { worker, send, submit, updatesOf } = createWorker();
    await worker.start(EMBEDDED, 'auto');
    await work();
    submit(A, 'finished', 3, { options: { maxNewTokens: 3, timeoutMs: 1e9 } });
    submit(A, 'refused', 3, { options: { maxNewTokens: 0, timeoutMs: 1e9 } });
    submit(A, 'cancelled', 250, within(1e9));
    send(A, { type: 'cancel', requestId: requestId('cancelled') });
    await work();
    expect(
      updatesOf(A)
        .flat()
        .filter(({ type }) => type === 'failed' || type === 'finished'),
    ).toHaveLength(3);
    // The last message of the stats follows two seconds after the work.
    await vi.advanceTimersByTimeAsync(2100);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('tells the tokens of a text, and the text of tokens, of the model that serves', async () => {
  const { worker, send, answersTo, refusalsTo } = createWorker();
  await worker.start(EMBEDDED, 'auto');
  const { ScriptedBackend: Scripted } = await import('../testing/scripted-backend.ts');
  const { contextLength, vocabSize } = Scripted.config;
  send(A, { type: 'tokenize', callId: 1, text: 'cab', addSpecialTokens: false });
  send(A, { type: 'detokenize', callId: 2, tokenIds: [2, 0, 1] });
  send(A, { type: 'detokenize', callId: 3, tokenIds: [2, vocabSize] });
  await work();
  expect(answersTo(A)).toEqual([
    { modelId: 'scripted', contextLength, tokenIds: [2, 0, 1], spellings: ['c', 'a', 'b'] },
    { modelId: 'scripted', text: 'cab' },
  ]);
  expect(refusalsTo(A)).toMatchObject([
    { code: 'INVALID_OPTION', message: expect.stringContaining('`tokens[1]` to be a token id below') },
  ]);
});

it('tells the text of each token by itself', async () => {
  const { worker, send, answersTo } = createWorker();
  await worker.start(EMBEDDED, 'auto');
  send(A, { type: 'token-texts', callId: 2, tokenIds: [2, 0, 999] });
  await work();
  expect(answersTo(A)).toEqual([['c', 'a', '']]);
});
