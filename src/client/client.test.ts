import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClosedError, InvalidOptionError, RequestCancelledError } from '../batching/base/errors.ts';
import { clientId, requestId } from '../batching/generation/test-support.ts';
import { TabserveClient } from './client.ts';
import type { DeploymentResponse, GenerationChunk, GenerationResponse } from './responses.ts';
import type { Activity, ClientUpdate } from './topics.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../protocol/wire.ts';
import type { TabserveStats, StepBatch, StepRecord } from '../protocol/stats.ts';
import type { GenerationResult } from '../protocol/generation.ts';
import type { RequestActivity, RequestUpdate } from '../protocol/requests.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { TabserveStatus, TabRole } from '../protocol/status.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import type { Link, LinkListener, Outgoing } from './links/link.ts';
import {
  createTabNumbers,
  createBatch,
  createKnobs,
  createModelInfo,
  createServedModel,
  createWorkerStatus,
  overrideId,
  workerId,
} from '../worker/test-support.ts';

type Welcome = Extract<WorkerMessage, { type: 'welcome' }>;

const OWN = clientId('this tab');
const OTHER = clientId('other tab');

/** A link whose other end the test plays: workers `A`, `B`… that speak in turn. */
class ScriptedLink implements Link {
  readonly isolationReason: string;
  readonly received: Outgoing[] = [];
  isClosed = false;
  #listener: LinkListener | undefined;

  constructor(isolationReason = '') {
    this.isolationReason = isolationReason;
  }

  open(listener: LinkListener): this {
    this.#listener = listener;
    return this;
  }

  post(message: Outgoing): void {
    this.received.push(structuredClone(message));
  }

  close(): void {
    this.isClosed = true;
  }

  /** The link is there. */
  connect(): void {
    this.#listener?.onOpen();
  }

  /** What the next worker in this tab begins with. */
  get tabNumbers(): LinkListener['tabNumbers'] | undefined {
    return this.#listener?.tabNumbers;
  }

  say(message: Unsigned<WorkerMessage>, from = 'A'): void {
    this.#listener?.onMessage({ version: PROTOCOL_VERSION, workerId: workerId(from), ...message });
  }

  welcome(
    from = 'A',
    { status = createWorkerStatus(), activity = [], batches = [], ...rest }: Partial<Welcome> = {},
  ): void {
    this.say({ ...rest, type: 'welcome', status, activity, batches }, from);
  }

  status(change: Parameters<typeof createWorkerStatus>[0], from = 'A'): void {
    this.say({ type: 'status', status: createWorkerStatus(change) }, from);
  }

  update(...updates: RequestUpdate[]): void {
    this.updateFrom('A', ...updates);
  }

  updateFrom(worker: string, ...updates: RequestUpdate[]): void {
    this.say({ type: 'updates', updates }, worker);
  }

  interrupt(): void {
    this.#listener?.onInterrupted();
  }

  suspend(): void {
    this.#listener?.onSuspend();
  }

  role(role: TabRole): void {
    this.#listener?.onRole(role);
  }

  leader(isThere: boolean): void {
    this.#listener?.onLeader(isThere);
  }

  meetForeignWorker(version: number): void {
    this.#listener?.onForeignWorker(version);
  }

  fail(message: string): void {
    this.#listener?.onFailure(new Error(message));
  }

  /** Types of the messages received, in order. */
  get types(): string[] {
    return this.received.map(({ type }) => type);
  }

  submissions(): Extract<Outgoing, { type: 'submit' }>[] {
    return this.received.filter((message) => message.type === 'submit');
  }

  /** Forgets what was received so far. */
  clear(): void {
    this.received.length = 0;
  }
}

/** A tab that no worker has welcomed yet. */
function createServe(isolationReason?: string) {
  const link = new ScriptedLink(isolationReason);
  const serve = new TabserveClient(OWN, (listener) => link.open(listener));
  const updates: ClientUpdate[] = [];
  serve.subscribe('requests', (batch) => updates.push(...batch));
  const states: TabserveStatus['state'][] = [];
  serve.subscribe('status', ({ state }) => states.push(state));
  return { link, serve, updates, states, generator: serve.getHandle('text-generator') };
}

/** A tab that worker `A` serves. */
function createServed() {
  const served = createServe();
  served.link.connect();
  served.link.welcome();
  served.link.clear();
  return served;
}

function resultOf(generatedText: string): GenerationResult {
  const choice = {
    text: `Hi${generatedText}`,
    generatedText,
    tokenIds: [1],
    finishReason: 'length',
    seed: 7,
  } as const;
  return {
    ...choice,
    choices: [choice],
    usage: { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 1 },
    timings: { queueWaitMs: 0, ttftMs: 1, e2eMs: 1, tpotMs: 0 },
  };
}

async function textsOf(response: GenerationResponse): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of response) texts.push(text);
  return texts;
}

function createStats(steps: readonly StepRecord[]): TabserveStats {
  const latency = { count: 0, p50: 0, p95: 0, p99: 0 };
  const latencies = { ttftMs: latency, itlMs: latency, queueWaitMs: latency, e2eMs: latency };
  const ends = { submitted: 1, finished: 0, cancelled: 0, failed: 0, rejected: 0 };
  const totals = { ...ends, promptTokens: 0, outputTokens: 0, prefixCacheQueries: 0, prefixCacheHits: 0 };
  const finishReasons = { stop: 0, length: 0, abort: 0, error: 0 };
  const kvCache = { usedBytes: 0, reservedBytes: 0 };
  const counts = { numRunning: 5, numWaiting: 0, kvCache, tokensPerSecond: 0, totals, finishReasons };
  return { workerStartedAtMs: 5, sentAtMs: 7, steps, slotSpans: [], ...counts, ...latencies };
}

const started = (id: RequestId, queueWaitMs = 2, model = createServedModel()): RequestUpdate => ({
  type: 'started',
  requestId: id,
  queueWaitMs,
  model,
});

const chunk = (id: RequestId, text: string, tokenIds = [1], ttftMs?: number): RequestUpdate => ({
  type: 'chunk',
  requestId: id,
  index: 0,
  text,
  tokenIds,
  ...(ttftMs !== undefined && { ttftMs }),
});

const finished = (id: RequestId, text: string): RequestUpdate => ({
  type: 'finished',
  requestId: id,
  result: resultOf(text),
});

const typesOf = (updates: readonly ClientUpdate[]): string[] => updates.map(({ type }) => type);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function emptyPlaces(length: number): readonly unknown[] {
  const list: unknown[] = [];
  list.length = length;
  return list;
}

/** A handle as JavaScript sees it. */
interface LooseHandle {
  remote(input: unknown, options?: unknown): DeploymentResponse<unknown>;
  remoteAll(inputs: unknown, options?: unknown): readonly DeploymentResponse<unknown>[];
}

function looseHandle(serve: TabserveClient): LooseHandle {
  return serve.getHandle<unknown, unknown>('any');
}

describe('TabserveClient', () => {
  it('says hello when the link is there, and not before', () => {
    const { link } = createServe();
    link.status({}, 'A');
    expect(link.received).toEqual([]);
    link.connect();
    expect(link.received).toEqual([{ type: 'hello' }]);
  });

  it('says hello once to each worker that it hears of', () => {
    const { link } = createServed();
    link.say({ type: 'serving' }, 'A');
    link.status({}, 'A');
    expect(link.types).toEqual([]);
    for (const _ of [1, 2]) link.say({ type: 'serving' }, 'B');
    link.status({}, 'B');
    expect(link.types).toEqual(['hello']);
  });

  it('sends a prompt with its options, without the signal, which cannot cross the wire', () => {
    const { link, generator } = createServed();
    const { signal } = new AbortController();
    const response = generator.remote('Hi', { maxNewTokens: 3, seed: 7, signal });
    expect(link.received).toEqual([
      {
        type: 'submit',
        requestId: response.requestId,
        deployment: 'text-generator',
        input: 'Hi',
        options: { maxNewTokens: 3, seed: 7 },
        elapsedMs: 0,
      },
    ]);
  });

  it('generate() and chat() send what the text generator’s handle does', async () => {
    const { link, serve } = createServed();
    const { signal } = new AbortController();
    const text = serve.generate('Hi', { maxNewTokens: 3, seed: 7, signal });
    serve.chat([{ role: 'user', content: 'Hi' }], { seed: 7 });
    const submit = { type: 'submit', deployment: 'text-generator' };
    expect(link.received).toMatchObject([
      { ...submit, input: 'Hi', options: { maxNewTokens: 3, seed: 7 } },
      { ...submit, input: [{ role: 'user', content: 'Hi' }], options: { seed: 7 } },
    ]);
    link.update(finished(text.requestId, '!'));
    expect((await text).generatedText).toBe('!');
  });

  it('gives chunks in order, then the result, to every iteration and every await', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    const early = textsOf(response);
    link.update(chunk(response.requestId, ' there'));
    link.update(chunk(response.requestId, ' you'), finished(response.requestId, ' there you'));
    expect(await early).toEqual([' there', ' you']);
    expect(await textsOf(response)).toEqual([' there', ' you']);
    expect(await response.result()).toBe(await response.result());
    expect((await response.result()).text).toBe('Hi there you');
  });

  it('begins the stream with the prompt’s echo, which has no tokens', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi', { echo: true });
    const { requestId: id } = response;
    link.update(started(id), { type: 'echo', requestId: id, index: 0, text: 'Hi' });
    link.update(chunk(id, ' there', [3]), finished(id, ' there'));
    const pieces: [string, readonly number[]][] = [];
    for await (const { text, tokenIds } of response) pieces.push([text, tokenIds]);
    expect(pieces).toEqual([
      ['Hi', []],
      [' there', [3]],
    ]);
    expect((await response.result()).text).toBe('Hi there');
  });

  it('says of each chunk which continuation it belongs to, and with the last why that one ends', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi', { n: 2 });
    const { requestId: id } = response;
    const own = { type: 'chunk', requestId: id, text: 'x', tokenIds: [1] } as const;
    link.update({ ...own, index: 1, finishReason: 'stop' }, { ...own, index: 0 }, finished(id, 'x'));
    const chunks: GenerationChunk[] = [];
    for await (const piece of response) chunks.push(piece);
    expect(chunks).toEqual([
      { index: 1, text: 'x', tokenIds: [1], finishReason: 'stop' },
      { index: 0, text: 'x', tokenIds: [1] },
    ]);
  });

  it('publishes what happens to each request, the submission included', () => {
    const { link, generator, updates } = createServed();
    const { requestId: id } = generator.remote('Hi');
    link.update(started(id), chunk(id, '!'));
    expect(typesOf(updates)).toEqual(['submitted', 'started', 'chunk']);
    expect(updates[0]).toEqual({
      type: 'submitted',
      requestId: id,
      deployment: 'text-generator',
      input: 'Hi',
    });
  });

  it('says nothing of requests that it has not made', () => {
    const { link, updates } = createServed();
    link.update(started(requestId('unknown')));
    expect(updates).toEqual([]);
  });

  it('re-creates an error as the class that its code names', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi', { temperature: -1 });
    const error = { code: 'INVALID_OPTION', message: 'Expected `temperature` to be …' };
    link.update({ type: 'failed', requestId: response.requestId, error });
    await expect(response.result()).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(response.result()).rejects.toMatchObject(error);
    await expect(textsOf(response)).rejects.toMatchObject(error);
  });

  it('tells an iteration the good chunks before the error', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    link.update(chunk(response.requestId, 'a'), {
      type: 'failed',
      requestId: response.requestId,
      error: { code: 'MODEL_RUN_FAILED', message: 'The model run failed' },
    });
    const iterator = response[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: { index: 0, text: 'a', tokenIds: [1] } });
    await expect(iterator.next()).rejects.toMatchObject({ code: 'MODEL_RUN_FAILED' });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('knows the last status, and calls a new status listener with it at once', () => {
    const { link, serve } = createServed();
    const states: string[] = [];
    const unsubscribe = serve.subscribe('status', ({ state }) => states.push(state));
    link.status({ state: 'warming-up' });
    unsubscribe();
    link.status({ state: 'ready', tabs: createTabNumbers('a', 'b', 'c') });
    expect(states).toEqual(['loading', 'warming-up']);
    expect(serve.status()).toMatchObject({ state: 'ready', numTabs: 3 });
  });

  it('knows the tabs by their numbers, and gives them to the next worker of this tab', () => {
    const { link, serve } = createServed();
    expect(createServe().link.tabNumbers, 'of a tab that no worker knows').toEqual({
      tabs: [],
      leader: OWN,
      last: 0,
    });
    const known = createTabNumbers(OTHER, OWN);
    link.status({ tabs: { ...known, last: 5 } });
    expect(serve.status().tabs).toEqual([
      { number: 1, isThis: false, isLeader: true },
      { number: 2, isThis: true, isLeader: false },
    ]);
    expect(link.tabNumbers).toEqual({ tabs: known.tabs, leader: OWN, last: 5 });
  });

  it('shows the knobs in force, whoever turned them', () => {
    const { link, serve } = createServed();
    const deployments = [
      { name: 'adder', knobs: { maxBatchSize: 9, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 } },
    ];
    const policy = { ...createKnobs().policy, maxBatchSize: 3 };
    link.status({ knobs: createKnobs({ revision: 2, policy, deployments }) });
    expect(serve.status()).toMatchObject({ policy, deployments });
    expect(serve.status()).not.toHaveProperty('knobs');
  });

  it('is ready when the model is, and rejects with the reason when it cannot be', async () => {
    const { link, serve } = createServed();
    const ready = serve.ready();
    link.status({ state: 'ready' });
    expect((await ready).state).toBe('ready');
    link.status({ state: 'failed', error: { code: 'MODEL_FILE_MISSING', message: 'config.json' } });
    await expect(serve.ready()).rejects.toMatchObject({
      name: 'ModelFileMissingError',
      code: 'MODEL_FILE_MISSING',
    });
  });

  it('passes knobs on and answers each call by itself', async () => {
    const { link, serve } = createServed();
    const [good, bad] = [
      serve.configure('text-generator', { maxBatchSize: 4 }),
      serve.configure('text-generator', { maxBatchSize: 0 }),
    ];
    link.say({ type: 'call-refused', callId: 2, error: { code: 'INVALID_OPTION', message: 'no' } });
    link.say({ type: 'call-answered', callId: 1, result: { ...serve.status().policy, maxBatchSize: 4 } });
    await expect(bad).rejects.toBeInstanceOf(InvalidOptionError);
    expect((await good).maxBatchSize).toBe(4);
  });

  it('publishes the worker’s stats', () => {
    const { link, serve } = createServed();
    const published: number[] = [];
    serve.subscribe('stats', ({ numRunning }) => published.push(numRunning));
    link.say({ type: 'stats', stats: createStats([]) });
    expect(published).toEqual([5]);
  });

  it('has the steps of the engine as the batches of the text generator, those before this tab came among them', () => {
    const { link, serve } = createServe();
    link.connect();
    expect(serve.batches('text-generator')).toEqual([]);
    const executed = { waitMs: 4, outcome: 'ok' } as const;
    const step = {
      kind: 'prefill',
      reason: 'full',
      batchSize: 2,
      numTokens: 9,
      queueLength: 3,
      ...executed,
    } as const;
    const batchOf = (batchIndex: number): StepBatch => ({
      deployment: 'text-generator',
      batchIndex,
      executionMs: 30,
      ...step,
    });
    link.welcome('A', { steps: [batchOf(6)] });
    const timed = { stepMs: 30, runMs: 20, readbackMs: 5, agoMs: 1, numGuessedTokens: 0, numRightGuesses: 0 };
    const record: StepRecord = { stepIndex: 7, isBehind: false, slots: [0, 1], ...step, ...timed };
    link.say({ type: 'stats', stats: createStats([record]) });
    expect(serve.batches('text-generator')).toEqual([batchOf(6), batchOf(7)]);
    expect(serve.batches('adder')).toEqual([]);
  });
});

const groups = (link: ScriptedLink) => link.received.filter((message) => message.type === 'submit-all');

describe('several prompts of one turn', () => {
  const CALLER = ['127.0.0.1', 'key', 'user'];

  it('go to the worker in one message, signed with who asks', () => {
    const { link, serve } = createServed();
    const responses = serve
      .getHandle('text-generator', { caller: CALLER })
      .remoteAll(['a', 'b'], { seed: 7 });
    expect(groups(link)).toEqual([
      {
        type: 'submit-all',
        deployment: 'text-generator',
        turnId: expect.any(String),
        caller: CALLER,
        requests: ['a', 'b'].map((input, index) => ({
          requestId: responses[index]?.requestId,
          input,
          options: { seed: 7 },
          place: index,
          elapsedMs: 0,
        })),
      },
    ]);
  });

  it('go to the next worker together, in their turn, with what has come of each', () => {
    const { link, serve } = createServed();
    const handle = serve.getHandle('text-generator', { caller: CALLER });
    const alone = handle.remote('alone');
    const [a, b, c] = handle.remoteAll(['a', 'b', 'c']).map(({ requestId: id }) => id);
    if (!a || !b || !c) return;
    link.update({ type: 'accepted', requestId: a }, { type: 'accepted', requestId: b });
    link.update(chunk(a, 'x'), finished(c, 'done'));
    const [before] = groups(link);
    link.clear();
    link.welcome('B');
    expect(link.submissions()).toMatchObject([{ requestId: alone.requestId, caller: CALLER }]);
    expect(groups(link)).toMatchObject([
      {
        turnId: before?.turnId,
        caller: CALLER,
        requests: [
          { requestId: a, resumption: { isAccepted: true, choices: [{}] } },
          { requestId: b, resumption: { isAccepted: true, choices: [] } },
        ],
      },
    ]);
    expect(groups(link)[0]?.requests).toHaveLength(2);
  });

  it('fail together where one of them cannot be sent', async () => {
    const { link, serve } = createServed();
    const responses = serve.getHandle<unknown, number>('any').remoteAll([1, () => 2]);
    for (const response of responses)
      await expect(response).rejects.toThrow(
        /^`inputs\[1\]`: `input(?:\.\w+)?` can't be sent to the worker: it is /,
      );
    expect(link.received).toEqual([]);
  });

  it('are sent with the empty places of their list, which are inputs too', () => {
    const { link, serve } = createServed();
    expect(serve.getHandle<unknown, number>('any').remoteAll(emptyPlaces(4096))).toHaveLength(4096);
    expect(groups(link)[0]?.requests).toHaveLength(4096);
  });

  it.each([
    ['more than 4,096', emptyPlaces(4097), /^Expected `inputs` to be a list of at most 4096 .*`4097 inputs`/],
    ['a text', 'ab', /^Expected `inputs` to be a list, got `ab`/],
    ['a typed array', new Float32Array(2), /^Expected `inputs` to be a list/],
    ['nothing', undefined, /^Expected `inputs` to be a list/],
  ])('are refused where they are %s', async (_, inputs, message) => {
    const { link, serve } = createServed();
    const responses = looseHandle(serve).remoteAll(inputs);
    for (const response of responses)
      await expect(response).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(message),
      });
    expect(responses.length).toBeGreaterThan(0);
    expect(link.received).toEqual([]);
  });

  it.each([
    ['a number', 5, 'options'],
    ['a list', [], 'options'],
    ['a signal that is none', { signal: 5 }, 'signal'],
  ])('are refused with options that are %s', async (_, options, param) => {
    const { link, serve } = createServed();
    const handle = looseHandle(serve);
    for (const response of [handle.remote(1, options), ...handle.remoteAll([1, 2], options)])
      await expect(response).rejects.toMatchObject({ code: 'INVALID_OPTION', param });
    expect(link.received).toEqual([]);
  });
});

describe('accepted()', () => {
  it('resolves when the worker has accepted the prompt, and says nothing of its end', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    link.update({ type: 'accepted', requestId: response.requestId });
    await response.accepted();
    link.update({ type: 'failed', requestId: response.requestId, error: { code: 'CLOSED', message: '' } });
    await expect(response.accepted()).resolves.toBeUndefined();
    await expect(response.result()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('rejects with the refusal', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    const error = { code: 'BACK_PRESSURE', message: 'full' };
    link.update({ type: 'failed', requestId: response.requestId, error });
    await expect(response.accepted()).rejects.toMatchObject(error);
  });
});

describe('a deployment other than the text generator', () => {
  it('answers what is awaited, result() and every later call alike', async () => {
    const { link, serve } = createServed();
    const response = serve.getHandle('adder').remote(3);
    expect(link.received.at(-1)).toMatchObject({
      type: 'submit',
      deployment: 'adder',
      input: 3,
      options: {},
    });
    link.update({ type: 'answered', requestId: response.requestId, result: 4 });
    expect(await response).toBe(4);
    expect(await response.result({ timeoutMs: 0 })).toBe(4);
  });

  it('rejects every way of asking with the same error', async () => {
    const { link, serve } = createServed();
    const response = serve.getHandle<string, string>('shout').remote('hi');
    const error = { code: 'UNKNOWN_DEPLOYMENT', message: 'There is no deployment `shout`' };
    link.update({ type: 'failed', requestId: response.requestId, error });
    await expect(response).rejects.toMatchObject(error);
    await expect(response.result()).rejects.toMatchObject({ name: 'UnknownDeploymentError' });
  });

  it('is cancelled by cancel() and by a signal', async () => {
    const { link, serve } = createServed();
    const controller = new AbortController();
    const [first, second] = [
      serve.getHandle('adder').remote(1),
      serve.getHandle('adder').remote(2, { signal: controller.signal }),
    ];
    first.cancel();
    controller.abort('bored');
    await expect(first).rejects.toBeInstanceOf(RequestCancelledError);
    await expect(second).rejects.toMatchObject({ cause: 'bored' });
    expect(link.types).toEqual(['submit', 'submit', 'cancel', 'cancel']);
  });

  it('keeps its last 200 batches and publishes each', () => {
    const { link, serve } = createServed();
    const published: number[] = [];
    serve.subscribe('batch', ({ batchIndex }) => published.push(batchIndex));
    for (let index = 0; index < 201; index++) link.say({ type: 'batch', batch: createBatch('adder', index) });
    expect(published).toHaveLength(201);
    expect(serve.batches('adder').map(({ batchIndex }) => batchIndex)).toEqual(published.slice(1));
    expect(serve.batches('house-price')).toEqual([]);
  });

  it('has the batches that were cut before this tab came, or before a new worker took it in', () => {
    const { link, serve } = createServe();
    link.connect();
    link.welcome('A', { batches: [createBatch('adder', 5), createBatch('adder', 6)] });
    expect(serve.batches('adder')).toEqual([createBatch('adder', 5), createBatch('adder', 6)]);
    link.say({ type: 'batch', batch: createBatch('adder', 0) }, 'B');
    link.welcome('B', { batches: [createBatch('adder', 0)] });
    expect(serve.batches('adder')).toEqual([
      createBatch('adder', 5),
      createBatch('adder', 6),
      createBatch('adder', 0),
    ]);
  });

  it('asks the worker for its metrics', async () => {
    const { link, serve } = createServed();
    const metrics = serve.metrics();
    expect(link.received).toEqual([{ type: 'metrics', callId: 1 }]);
    link.say({ type: 'call-answered', callId: 1, result: '# HELP' });
    expect(await metrics).toBe('# HELP');
  });

  it('asks the worker for its log, and then for what came since', async () => {
    const { link, serve } = createServed();
    const empty = { startedAtMs: 1, cursor: '1/0/0', isWhole: true, requests: [], slices: [] };
    const log = serve.workerLog();
    link.say({ type: 'call-answered', callId: 1, result: empty });
    expect(await log).toEqual(empty);
    const next = serve.workerLog('1/0/0');
    link.say({ type: 'call-answered', callId: 2, result: { ...empty, isWhole: false } });
    expect(await next).toMatchObject({ isWhole: false });
    expect(link.received).toEqual([
      { type: 'read-log', callId: 1, cursor: '' },
      { type: 'read-log', callId: 2, cursor: '1/0/0' },
    ]);
  });

  it('asks the worker to eject its model, or another one by its name', async () => {
    const { link, serve } = createServed();
    const ejected = [serve.ejectModel(), serve.ejectModel('embedder')];
    expect(link.received).toEqual([
      { type: 'eject-model', callId: 1 },
      { type: 'eject-model', callId: 2, model: 'embedder' },
    ]);
    for (const callId of [1, 2]) link.say({ type: 'call-answered', callId, result: undefined });
    await Promise.all(ejected);
  });

  it('asks the worker for the texts of tokens', async () => {
    const { link, serve } = createServed();
    const texts = serve.tokenTexts([262, 257]);
    expect(link.received).toEqual([{ type: 'token-texts', callId: 1, tokenIds: [262, 257] }]);
    link.say({ type: 'call-answered', callId: 1, result: [' the', ' a'] });
    expect(await texts).toEqual([' the', ' a']);
  });

  it('leaves a text that is none to the worker, which refuses it by name, and refuses options that are none', async () => {
    const { link, serve } = createServed();
    // @ts-expect-error A script without types.
    const calls = [serve.tokenize(undefined), serve.tokenizeChat([undefined])];
    expect(link.received).toMatchObject([{ type: 'tokenize' }, { type: 'tokenize-chat' }]);
    const error = { code: 'INVALID_OPTION', message: '`text` can’t be sent' };
    link.say({ type: 'call-refused', callId: 1, error });
    link.say({ type: 'call-refused', callId: 2, error });
    for (const call of calls) await expect(call).rejects.toMatchObject(error);

    // @ts-expect-error A script without types.
    const refused = [serve.tokenize('a', 'b'), serve.tokenizeChat([], 'b')];
    for (const call of refused) await expect(call).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(link.received).toHaveLength(2);
  });

  it('asks the worker for the tokens of a text, and for the text of tokens', async () => {
    const { link, serve } = createServed();
    const [tokenized, text] = [serve.tokenize('Hi'), serve.detokenize([1])];
    expect(link.received).toEqual([
      { type: 'tokenize', callId: 1, text: 'Hi', addSpecialTokens: true },
      { type: 'detokenize', callId: 2, tokenIds: [1] },
    ]);
    const tokenization = { modelId: 'm', contextLength: 8, tokenIds: [1], spellings: ['Hi'] };
    link.say({ type: 'call-answered', callId: 1, result: tokenization });
    link.say({ type: 'call-answered', callId: 2, result: { modelId: 'm', text: 'Hi' } });
    expect(await tokenized).toEqual(tokenization);
    expect(await text).toEqual({ modelId: 'm', text: 'Hi' });
  });

  it('asks the worker for the tokens of a chat, by default with the beginning of the answer', async () => {
    const { link, serve } = createServed();
    const messages = [{ role: 'user', content: 'Hi' }] as const;
    const tokenized = serve.tokenizeChat(messages);
    void serve.tokenizeChat(messages, {
      addGenerationPrompt: false,
      chatTemplateArguments: { enable_thinking: false },
    });
    void serve.tokenizeChat(messages, { continueFinalMessage: true });
    await expect(
      serve.tokenizeChat(messages, { continueFinalMessage: true, addGenerationPrompt: true }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION', param: 'addGenerationPrompt' });
    const asked = { type: 'tokenize-chat', messages };
    expect(link.received).toEqual([
      { ...asked, callId: 1, addGenerationPrompt: true, chatTemplateArguments: {} },
      { ...asked, callId: 2, addGenerationPrompt: false, chatTemplateArguments: { enable_thinking: false } },
      {
        ...asked,
        callId: 3,
        addGenerationPrompt: false,
        continueFinalMessage: true,
        chatTemplateArguments: {},
      },
    ]);
    const tokenization = { modelId: 'm', contextLength: 8, tokenIds: [1], spellings: ['Hi'] };
    link.say({ type: 'call-answered', callId: 1, result: tokenization });
    expect(await tokenized).toEqual(tokenization);
  });
});

describe('cancellation', () => {
  it('rejects the caller at once, tells the worker, and drops what still arrives', async () => {
    const { link, generator, updates } = createServed();
    const response = generator.remote('Hi');
    response.cancel();
    response.cancel();
    link.update(chunk(response.requestId, 'late'));
    await expect(response.result()).rejects.toBeInstanceOf(RequestCancelledError);
    expect(link.types).toEqual(['submit', 'cancel']);
    expect(typesOf(updates)).toEqual(['submitted', 'failed']);
  });

  it('can be asked for by the request’s id', async () => {
    const { link, serve, generator } = createServed();
    const response = generator.remote('Hi');
    serve.cancel(response.requestId);
    serve.cancel(requestId('unknown'));
    await expect(response.result()).rejects.toBeInstanceOf(RequestCancelledError);
    expect(link.received.slice(1)).toEqual([{ type: 'cancel', requestId: response.requestId }]);
  });

  it('follows a signal and keeps its reason', async () => {
    const { link, generator } = createServed();
    const controller = new AbortController();
    const response = generator.remote('Hi', { signal: controller.signal });
    controller.abort('bored');
    await expect(response).rejects.toMatchObject({
      name: 'AbortError',
      code: 'REQUEST_CANCELLED',
      cause: 'bored',
    });
    expect(link.types).toEqual(['submit', 'cancel']);
  });

  it('never submits where the signal has aborted before', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi', { signal: AbortSignal.abort('before') });
    await expect(response.result()).rejects.toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'before' });
    expect(link.types).toEqual([]);
  });

  it('lets go of the signal when the request has ended', () => {
    const { link, generator } = createServed();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const { requestId: id } = generator.remote('Hi', { signal });
    link.update(finished(id, '!'));
    expect(removed).toHaveBeenCalledOnce();
  });

  it('does nothing to a request that has finished', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    link.update(finished(response.requestId, '!'));
    response.cancel();
    expect((await response.result()).generatedText).toBe('!');
    expect(link.types).toEqual(['submit']);
  });
});

describe('before a worker has welcomed this tab', () => {
  it('requests and calls wait, and are sent in order at the welcome, as new ones', () => {
    const { link, serve, generator, updates } = createServe();
    const first = generator.remote('one');
    const second = serve.getHandle('adder').remote(2);
    const third = generator.remote('three');
    void serve.metrics();
    link.connect();
    link.say({ type: 'serving' });
    expect(link.types.filter((type) => type !== 'hello')).toEqual([]);
    link.clear();
    link.welcome();
    expect(link.types).toEqual(['submit', 'submit', 'submit', 'metrics']);
    expect(link.submissions().map((message) => message.requestId)).toEqual(
      [first, second, third].map((response) => response.requestId),
    );
    for (const message of link.submissions()) expect(message).not.toHaveProperty('resumption');
    expect(typesOf(updates)).toEqual(['submitted', 'submitted', 'submitted']);
  });

  it('a cancelled request is forgotten: the worker hears nothing of it', async () => {
    const { link, generator } = createServe();
    const response = generator.remote('one');
    response.cancel();
    link.connect();
    link.welcome();
    await expect(response.result()).rejects.toBeInstanceOf(RequestCancelledError);
    expect(link.types).toEqual(['hello']);
  });

  it('a model load that its signal has ended is forgotten: the worker hears nothing of it', async () => {
    const { link, serve } = createServe();
    link.connect();
    link.clear();
    const controller = new AbortController();
    const loaded = serve.loadModel('owner/model', { signal: controller.signal });
    const other = serve.loadModel('owner/other');
    await Promise.resolve();
    controller.abort('bored');
    await expect(loaded).rejects.toMatchObject({
      name: 'AbortError',
      code: 'LOAD_CANCELLED',
      cause: 'bored',
    });
    link.welcome();
    expect(link.received).toMatchObject([{ type: 'load-model', source: { id: 'owner/other' } }]);
    serve.close();
    await expect(other).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('what waits is a copy: what its caller changes afterwards is not sent', () => {
    const { link, serve } = createServe();
    const features = [1, 2];
    const knobs = { maxBatchSize: 4 };
    serve.getHandle('house-price').remote(features);
    void serve.configure('house-price', knobs);
    features.push(3);
    knobs.maxBatchSize = 5;
    link.welcome();
    expect(link.received).toMatchObject([{ input: [1, 2] }, { knobs: { maxBatchSize: 4 } }]);
  });

  it('a second welcome of the same worker changes nothing', () => {
    const { link, serve, generator, states } = createServe();
    generator.remote('one');
    link.welcome();
    link.status({ state: 'ready' });
    const activities: Activity[] = [];
    serve.subscribe('activity', (activity) => activities.push(activity));
    link.clear();
    link.welcome();
    expect(link.received).toEqual([]);
    expect(activities).toEqual([]);
    expect(states).toEqual(['loading', 'loading', 'ready']);
  });
});

describe('a new worker', () => {
  it('gets everything outstanding once, with what the lost one has done of it', () => {
    const { link, serve, generator } = createServed();
    const [begun, waiting] = [generator.remote('begun'), generator.remote('waiting')];
    const sum = serve.getHandle('adder').remote(3);
    vi.advanceTimersByTime(20);
    link.update(started(begun.requestId, 5), chunk(begun.requestId, 'a', [3], 18));
    link.update(chunk(begun.requestId, 'b', [4, 5]));
    vi.advanceTimersByTime(50);
    link.clear();
    link.welcome('B');
    link.welcome('B');
    expect(link.received).toMatchObject([
      {
        requestId: begun.requestId,
        input: 'begun',
        elapsedMs: 70,
        resumption: { choices: [{ tokenIds: [3, 4, 5] }], queueWaitMs: 5, ttftMs: 18 },
      },
      { requestId: waiting.requestId, input: 'waiting', elapsedMs: 70, resumption: { choices: [] } },
      { requestId: sum.requestId, deployment: 'adder', input: 3 },
    ]);
    expect(link.submissions()[1]?.resumption).toEqual({ choices: [] });
  });

  it('gets nothing that has ended', () => {
    const { link, serve, generator } = createServed();
    const ended = [generator.remote('finished'), generator.remote('failed'), generator.remote('cancelled')];
    const [first, second, third] = ended.map((response) => response.requestId);
    const sum = serve.getHandle('adder').remote(3);
    if (first) link.update(finished(first, '!'));
    if (second) link.update({ type: 'failed', requestId: second, error: { code: 'CLOSED', message: '' } });
    if (third) serve.cancel(third);
    link.update({ type: 'answered', requestId: sum.requestId, result: 4 });
    link.clear();
    link.welcome('B');
    expect(link.received).toEqual([]);
  });

  it('goes on with a stream where the lost one stopped', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    const texts = textsOf(response);
    link.update(chunk(response.requestId, 'a'));
    link.welcome('B');
    link.updateFrom('B', chunk(response.requestId, 'b'), finished(response.requestId, 'ab'));
    expect(await texts).toEqual(['a', 'b']);
    expect((await response.result()).generatedText).toBe('ab');
  });

  it('gets the tokens of all that were lost before it, and the time since the first submission', () => {
    const { link, generator } = createServed();
    const { requestId: id } = generator.remote('Hi');
    vi.advanceTimersByTime(10);
    link.update(started(id, 2), chunk(id, 'a', [3], 9));
    link.welcome('B');
    vi.advanceTimersByTime(20);
    link.updateFrom('B', started(id, 12), chunk(id, 'b', [4]));
    link.clear();
    link.welcome('C');
    expect(link.submissions()).toMatchObject([
      { elapsedMs: 30, resumption: { choices: [{ tokenIds: [3, 4] }], queueWaitMs: 2, ttftMs: 9 } },
    ]);
  });

  it('gets the tokens with their model’s name, though one was lost in between that had none, or another', () => {
    const { link, generator } = createServed();
    const { requestId: id } = generator.remote('Hi');
    const [first, second] = [createServedModel('first'), createServedModel('second')];
    link.update(started(id, 2, first), chunk(id, 'a', [3]));
    for (const worker of ['B', 'C']) {
      link.welcome(worker);
      expect(link.submissions().at(-1)?.resumption).toMatchObject({
        model: first,
        choices: [{ tokenIds: [3] }],
      });
    }
    const restarted = { type: 'restarted', requestId: id, model: second } as const;
    link.updateFrom('C', restarted, started(id, 3, second), chunk(id, 'b', [4]));
    link.welcome('D');
    expect(link.submissions().at(-1)?.resumption).toMatchObject({
      model: second,
      choices: [{ tokenIds: [4] }],
    });
  });

  it('is told in the requests’ updates, for those that a worker had been asked for', () => {
    const { link, generator, updates } = createServed();
    const { requestId: id } = generator.remote('Hi');
    updates.length = 0;
    link.welcome('B');
    expect(updates).toEqual([{ type: 'resubmitted', requestId: id }]);
  });

  it('is the only one that is listened to', () => {
    const { link, serve, generator, updates } = createServed();
    const { requestId: id } = generator.remote('Hi');
    link.updateFrom('B', chunk(id, 'too early'));
    expect(typesOf(updates)).toEqual(['submitted']);
    link.welcome('B');
    link.update(chunk(id, 'too late'), finished(id, 'too late'));
    link.say({ type: 'batch', batch: createBatch('adder', 9) });
    link.status({ state: 'ready' });
    link.say({ type: 'activity', activity: [activityOf(OTHER, 'x')] });
    expect(typesOf(updates)).toEqual(['submitted', 'resubmitted']);
    expect(serve.batches('adder')).toEqual([]);
    expect(serve.status().state).toBe('loading');
  });

  it('gets a copy: what the caller has changed since is not sent', () => {
    const { link, serve } = createServed();
    const features = [1, 2];
    serve.getHandle('house-price').remote(features);
    features.push(3);
    link.welcome('B');
    expect(link.submissions().map(({ input }) => input)).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it('draws with the same seed, which is chosen once, by this tab', () => {
    const { link, serve, generator } = createServed();
    generator.remote('own choice');
    generator.remote('given', { seed: 7 });
    serve.getHandle('adder').remote(3);
    link.welcome('B');
    const options = link.submissions().map((message) => message.options);
    expect(options.slice(0, 3)).toEqual([
      { seed: expect.toSatisfy((seed: number) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32) },
      { seed: 7 },
      {},
    ]);
    expect(options.slice(3)).toEqual(options.slice(0, 3));
  });

  it('is asked again what the lost one has not answered', async () => {
    const { link, serve } = createServed();
    const [answered, knobs, metrics] = [
      serve.metrics(),
      serve.configure('adder', { maxBatchSize: 4 }),
      serve.metrics(),
    ];
    link.say({ type: 'call-answered', callId: 1, result: 'before' });
    link.clear();
    link.welcome('B');
    expect(link.received).toEqual([
      { type: 'configure', callId: 4, deployment: 'adder', knobs: { maxBatchSize: 4 } },
      { type: 'metrics', callId: 5 },
    ]);
    link.say({ type: 'call-answered', callId: 5, result: 'after' }, 'B');
    link.say({ type: 'call-refused', callId: 4, error: { code: 'INVALID_OPTION', message: 'no' } }, 'B');
    expect([await answered, await metrics]).toEqual(['before', 'after']);
    await expect(knobs).rejects.toBeInstanceOf(InvalidOptionError);
  });

  it('is not asked for a model whose load was ended while the lost one still seemed to listen', async () => {
    const { link, serve } = createServed();
    const controller = new AbortController();
    const loaded = serve.loadModel('owner/model', { signal: controller.signal });
    await vi.waitFor(() => expect(link.types).toContain('load-model'));
    controller.abort();
    expect(link.types).toEqual(['load-model', 'leave-load']);
    link.welcome('B');
    await expect(loaded).rejects.toMatchObject({ code: 'LOAD_CANCELLED' });
    expect(link.types).toEqual(['load-model', 'leave-load']);
  });

  it('hears which caller leaves a load, under the ID that it knows; the others wait on', async () => {
    const { link, serve } = createServed();
    const controller = new AbortController();
    const left = serve.loadModel('owner/model', { signal: controller.signal });
    const other = serve.loadModel('owner/model');
    const later = new AbortController();
    const served = serve.loadModel('owner/model', { signal: later.signal });
    await vi.waitFor(() => expect(link.types).toHaveLength(3));
    link.welcome('B');
    link.clear();
    controller.abort('bored');
    await expect(left).rejects.toMatchObject({ name: 'AbortError', code: 'LOAD_CANCELLED', cause: 'bored' });
    expect(link.received).toEqual([{ type: 'leave-load', loadId: 4 }]);
    link.say({ type: 'call-refused', callId: 4, error: { code: 'LOAD_CANCELLED', message: 'late' } }, 'B');
    for (const callId of [5, 6]) link.say({ type: 'call-answered', callId, result: undefined }, 'B');
    expect(await Promise.all([other, served])).toHaveLength(2);
    later.abort('too late');
    expect(link.types, 'what is over cannot be left').toEqual(['leave-load']);
  });

  it('is not asked for a model whose signal had aborted before', async () => {
    const { link, serve } = createServed();
    const loaded = serve.loadModel('owner/model', { signal: AbortSignal.abort('before') });
    await expect(loaded).rejects.toMatchObject({
      name: 'AbortError',
      code: 'LOAD_CANCELLED',
      cause: 'before',
    });
    expect(link.types).toEqual([]);
  });

  it('reports the progress of a load, which any tab can pause, resume and cancel', async () => {
    const { link, serve } = createServed();
    const phases: string[] = [];
    const loaded = serve.loadModel('owner/model', { onProgress: ({ phase }) => phases.push(phase) });
    await vi.waitFor(() => expect(link.types).toContain('load-model'));
    const load = {
      id: 'owner/model',
      isPaused: false,
      phase: 'download',
      loaded: 1,
      total: 2,
      fraction: 0.4,
    } as const;
    link.status({ load: { ...load, id: 'an/encoder', phase: 'prepare' } });
    link.status({ load });
    serve.pauseLoad();
    serve.resumeLoad();
    serve.cancelLoad();
    expect(phases).toEqual(['download']);
    expect(link.received.slice(1)).toEqual(
      ['pause', 'resume', 'cancel'].map((action) => ({ type: 'steer-load', action })),
    );
    const error = { code: 'LOAD_CANCELLED', message: 'cancelled' };
    link.say({ type: 'call-refused', callId: 1, error });
    // No signal of this caller did it.
    await expect(loaded).rejects.toMatchObject({ ...error, name: 'LoadCancelledError' });
  });

  it('comes from the hub of the page where the call names none', async () => {
    const link = new ScriptedLink();
    const serve = new TabserveClient(OWN, (listener) => link.open(listener), 'https://mirror.example');
    link.connect();
    link.welcome();
    const loads = [
      serve.loadModel('owner/model'),
      serve.loadModel('owner/model', { hub: 'https://other.example' }),
    ];
    await vi.waitFor(() => expect(link.types).toEqual(['hello', 'load-model', 'load-model']));
    const hubs = link.received.map((message) => 'source' in message && message.source);
    expect(hubs.slice(1)).toMatchObject([
      { hub: 'https://mirror.example' },
      { hub: 'https://other.example' },
    ]);
    serve.close();
    await Promise.allSettled(loads);
  });

  it('serves for a while where the call says so', async () => {
    const { link, serve } = createServed();
    const loaded = serve.loadModel('storyteller', { dtype: 'q8', isTemporary: true });
    await vi.waitFor(() => expect(link.types).toEqual(['load-model']));
    expect(link.received).toMatchObject([{ dtype: 'q8', isTemporary: true }]);
    const restored = serve.restoreModel();
    expect(link.types).toEqual(['load-model', 'restore-model']);
    serve.close();
    await Promise.allSettled([loaded, restored]);
  });

  it('gets the calls about its model in the order in which they were made', async () => {
    const { link, serve } = createServed();
    const calls = [
      serve.loadModel('storyteller', { isTemporary: true }),
      serve.restoreModel(),
      serve.loadModel('storyteller'),
      serve.ejectModel(),
    ];
    expect(link.types).toEqual(['load-model', 'restore-model', 'load-model', 'eject-model']);
    serve.close();
    await Promise.allSettled(calls);
  });

  it('gets them in order also where the files of a model are read first, and where there are none', async () => {
    const { link, serve } = createServed();
    const file = Object.defineProperty(new File(['GGUF'], 'mine.gguf'), 'webkitRelativePath', { value: '' });
    const calls: Promise<unknown>[] = [serve.loadModel(file), serve.ejectModel()];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
    const refused = serve.loadModel(5 as unknown as string);
    calls.push(serve.loadModel('storyteller'), serve.restoreModel());
    await expect(refused).rejects.toBeInstanceOf(InvalidOptionError);
    await vi.waitFor(() => expect(link.types).toContain('restore-model'));
    expect(link.types).toEqual(['load-model', 'eject-model', 'load-model', 'restore-model']);
    calls.push(serve.ejectModel());
    expect(link.types.at(-1), 'nothing is read any more').toBe('eject-model');
    serve.close();
    await Promise.allSettled(calls);
  });

  it.each(['loadModel', 'planModel', 'ggufFiles', 'searchModels', 'deleteModel'] as const)(
    '%s takes no options for null, and refuses what can’t be any',
    async (name) => {
      const { link, serve } = createServed();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
      const loose = serve as unknown as Record<
        typeof name,
        (first: unknown, options: unknown) => Promise<void>
      >;
      await expect(loose[name]('gpt2', 5)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        param: 'options',
      });
      const call = loose[name]('gpt2', null);
      await vi.waitFor(() => expect(link.types).toHaveLength(1));
      serve.close();
      await expect(call).rejects.toBeInstanceOf(ClosedError);
    },
  );

  it.each([
    ['ggufFiles', 'model'],
    ['searchModels', 'query'],
  ] as const)('%s needs a text', async (name, param) => {
    const { serve } = createServed();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
    const loose = serve as unknown as Record<typeof name, (first: unknown) => Promise<void>>;
    await expect(loose[name](undefined)).rejects.toMatchObject({ code: 'INVALID_OPTION', param });
  });

  it('is told of the model before, but not of a temporary one, which it doesn’t miss', () => {
    const { link } = createServed();
    link.status({ model: createModelInfo() });
    link.say({ type: 'serving' }, 'B');
    expect(link.received.at(-1)).toMatchObject({ type: 'hello', modelBefore: 'model' });
    link.welcome('B', { status: createWorkerStatus({ model: createModelInfo({ isTemporary: true }) }) });
    link.say({ type: 'serving' }, 'C');
    expect(link.types).toEqual(['hello', 'hello']);
    expect(link.received.at(-1)).not.toHaveProperty('modelBefore');
  });

  it('is asked once more for a model under which the lost one died, and none after it', async () => {
    const { link, serve } = createServed();
    const loaded = serve.loadModel('owner/huge');
    await vi.waitFor(() => expect(link.types).toContain('load-model'));
    const texts = serve.tokenTexts([1]);
    link.welcome('B');
    expect(link.types).toEqual(['load-model', 'token-texts', 'load-model', 'token-texts']);
    link.clear();
    link.welcome('C');
    expect(link.types).toEqual(['token-texts']);
    await expect(loaded).rejects.toMatchObject({
      code: 'LOAD_ABANDONED',
      message: expect.stringMatching(/owner\/huge: 2 workers were lost .* smaller model/),
    });
    link.say({ type: 'call-answered', callId: 5, result: ['x'] }, 'C');
    expect(await texts).toEqual(['x']);
  });

  it('is asked again for a model, however often the tab that leads is closed or reloaded meanwhile', async () => {
    let left = 'worker 0';
    vi.stubGlobal('localStorage', { getItem: () => left });
    const { link, serve } = createServed();
    const loaded = serve.loadModel('owner/model');
    await vi.waitFor(() => expect(link.types).toContain('load-model'));
    for (const worker of ['B', 'C', 'D']) {
      left = `the worker before ${worker}`;
      link.welcome(worker);
    }
    expect(link.types).toEqual(Array(4).fill('load-model'));
    link.welcome('E');
    link.welcome('F');
    await expect(loaded, 'two have crashed').rejects.toMatchObject({ code: 'LOAD_ABANDONED' });
    vi.unstubAllGlobals();
  });

  it('hears in the hello how the knobs were last', () => {
    const { link } = createServed();
    const knobs = createKnobs({ revision: 3, policy: { ...createKnobs().policy, maxBatchSize: 5 } });
    link.status({ knobs });
    link.say({ type: 'serving' }, 'B');
    expect(link.received).toEqual([{ type: 'hello', knobs }]);
  });
});

describe('an override', () => {
  const off = { ...createKnobs().policy, policy: 'off' } as const;

  /** A tab whose override worker `A` has granted. */
  async function createOverriding() {
    const served = createServed();
    const overriding = served.serve.overridePolicy({ policy: 'off' });
    served.link.say({ type: 'call-answered', callId: 1, result: off });
    const override = await overriding;
    const { overrideId: id } = override;
    served.link.clear();
    return { ...served, override, id, held: { overrideId: id, deployment: 'text-generator', knobs: off } };
  }

  it('is asked of the worker, changed there under the same id, and released', async () => {
    const { link, override, id } = await createOverriding();
    const changed = override.change({ maxBatchSize: 2 });
    link.say({ type: 'call-answered', callId: 2, result: { ...off, maxBatchSize: 2 } });
    expect(await changed).toMatchObject({ policy: 'off', maxBatchSize: 2 });
    const released = override.release();
    link.say({ type: 'call-answered', callId: 3, result: undefined });
    await released;
    expect(link.received).toEqual([
      {
        type: 'set-override',
        callId: 2,
        overrideId: id,
        deployment: 'text-generator',
        knobs: { maxBatchSize: 2 },
      },
      { type: 'release-override', callId: 3, overrideId: id },
    ]);
    await override.release();
    expect(link.received).toHaveLength(2);
    await expect(override.change({})).rejects.toMatchObject({ code: 'OVERRIDE_ENDED' });
  });

  it('is released at the end of its scope', async () => {
    const { link, override, id } = await createOverriding();
    const left = override[Symbol.asyncDispose]();
    link.say({ type: 'call-answered', callId: 2, result: undefined });
    await left;
    expect(link.received).toEqual([{ type: 'release-override', callId: 2, overrideId: id }]);
  });

  it('shows in the status whose it is, and the users’ own policy beside it', async () => {
    const { link, serve, held } = await createOverriding();
    const knobs = createKnobs({ revision: 1 });
    link.status({ knobs, override: held });
    expect(serve.status()).toMatchObject({
      policy: off,
      override: { isOwn: true, basePolicy: knobs.policy },
    });
    link.status({ knobs, override: { ...held, overrideId: overrideId('another') } });
    expect(serve.status().override?.isOwn).toBe(false);
    link.status({ knobs });
    expect(serve.status().policy).toEqual(knobs.policy);
    expect(serve.status()).not.toHaveProperty('override');
  });

  it('is the only one of a tab, until it has ended', async () => {
    const { link, serve, override } = await createOverriding();
    await expect(serve.overridePolicy()).rejects.toMatchObject({ code: 'OVERRIDE_HELD' });
    void override.release();
    link.clear();
    void serve.overridePolicy();
    expect(link.types).toEqual(['set-override']);
  });

  it('that the worker refuses can be asked for again', async () => {
    const { link, serve } = createServed();
    const refused = serve.overridePolicy();
    link.say({ type: 'call-refused', callId: 1, error: { code: 'OVERRIDE_HELD', message: 'another' } });
    await expect(refused).rejects.toMatchObject({ name: 'OverrideHeldError', message: 'another' });
    link.clear();
    void serve.overridePolicy();
    expect(link.types).toEqual(['set-override']);
  });

  it('goes with the hello to the next worker, the users’ own policy beside it', async () => {
    const { link, override, held } = await createOverriding();
    const knobs = createKnobs({ revision: 1 });
    link.status({ knobs, override: held });
    link.say({ type: 'serving' }, 'B');
    expect(link.received).toEqual([{ type: 'hello', knobs, override: held }]);
    link.welcome('B', { status: createWorkerStatus({ knobs, override: held }) });
    expect(override.signal.aborted).toBe(false);
  });

  it('that the next worker has not taken over has ended, and the worker is told so', async () => {
    const { link, override, id } = await createOverriding();
    link.welcome('B');
    expect(override.signal.reason).toMatchObject({ code: 'OVERRIDE_ENDED' });
    expect(link.received).toMatchObject([
      { type: 'release-override', overrideId: id },
      { type: 'release-override', overrideId: id },
    ]);
    link.say({ type: 'serving' }, 'C');
    expect(link.received.at(-1)).not.toHaveProperty('override');
  });

  it.each(['granted', 'asked for'])('that was %s ends when the browser puts the tab away', async (stage) => {
    const { link, serve } = createServed();
    const overriding = serve.overridePolicy({ policy: 'off' });
    const answer = () => link.say({ type: 'call-answered', callId: 1, result: off });
    if (stage === 'granted') answer();
    const override = stage === 'granted' ? await overriding : undefined;
    link.clear();
    link.suspend();
    expect(link.types).toEqual(['release-override']);
    if (stage === 'asked for') answer();
    const end = override ? Promise.reject(override.signal.reason) : overriding;
    await expect(end).rejects.toMatchObject({ code: 'OVERRIDE_ENDED', message: /froze this tab/ });
    link.say({ type: 'serving' }, 'B');
    expect(link.received.at(-1)).not.toHaveProperty('override');
  });

  it('ends with the client', async () => {
    const { serve, override } = await createOverriding();
    serve.close();
    expect(override.signal.reason).toBeInstanceOf(ClosedError);
    await override.release();
  });
});

describe('a link that was interrupted', () => {
  it('has the same worker go on with all that is outstanding, once it is greeted again', () => {
    const { link, serve, generator } = createServed();
    const begun = generator.remote('begun');
    void serve.metrics();
    link.update(started(begun.requestId, 5), chunk(begun.requestId, 'a', [3], 18));
    link.clear();
    link.interrupt();
    const since = generator.remote('since');
    link.update(chunk(begun.requestId, 'lost', [9]));
    expect(link.received).toEqual([]);
    link.connect();
    link.welcome();
    expect(link.types).toEqual(['hello', 'submit', 'submit', 'metrics']);
    expect(link.submissions()).toMatchObject([
      { requestId: begun.requestId, resumption: { choices: [{ tokenIds: [3] }] } },
      { requestId: since.requestId },
    ]);
  });
});

describe('the status on the way to a new worker', () => {
  it('says that there is a hand-over until the new worker is ready', () => {
    const { link, serve } = createServed();
    link.status({ state: 'ready' });
    link.role('leader');
    const seen = [serve.status()];
    link.welcome('B');
    seen.push(serve.status());
    link.status({ state: 'warming-up' }, 'B');
    seen.push(serve.status());
    link.status({ state: 'ready' }, 'B');
    seen.push(serve.status());
    expect(seen.map(({ role, state, isHandover }) => [role, state, isHandover])).toEqual([
      ['leader', 'loading', true],
      ['leader', 'loading', true],
      ['leader', 'warming-up', true],
      ['leader', 'ready', false],
    ]);
  });

  it('says so in a tab that only hears of it, too', () => {
    const { link, serve } = createServed();
    link.status({ state: 'ready' });
    link.welcome('B');
    expect(serve.status()).toMatchObject({ role: 'follower', state: 'loading', isHandover: true });
    link.status({ state: 'failed', error: { code: 'DEVICE_LOST', message: '' } }, 'B');
    expect(serve.status()).toMatchObject({ state: 'failed', isHandover: false });
  });

  it('has no hand-over to a worker that is ready at once', () => {
    const { link, serve } = createServed();
    link.welcome('B', { status: createWorkerStatus({ state: 'ready' }) });
    expect(serve.status()).toMatchObject({ state: 'ready', isHandover: false });
  });

  it('has none where there was no worker before', () => {
    const { link, serve } = createServe();
    link.role('leader');
    expect(serve.status()).toMatchObject({ role: 'leader', state: 'loading', isHandover: false });
    link.welcome();
    expect(serve.status()).toMatchObject({ role: 'leader', state: 'loading', isHandover: false });
  });

  it('follows the role, and keeps all else when this tab gives up the lead', () => {
    const { link, serve } = createServe();
    const roles: TabRole[] = [];
    serve.subscribe('status', ({ role }) => roles.push(role));
    link.role('leader');
    link.welcome();
    link.status({ state: 'ready' });
    link.role('follower');
    expect(roles).toEqual(['follower', 'leader', 'leader', 'leader', 'follower']);
    expect(serve.status()).toMatchObject({ state: 'ready', isHandover: false });
  });

  it('says why this tab shares its worker with no other', () => {
    const { link, serve } = createServe('no Web Locks');
    expect(serve.status().isolationReason).toBe('no Web Locks');
    link.welcome();
    expect(serve.status().isolationReason).toBe('no Web Locks');
  });
});

describe('a tab that may not lead', () => {
  it('says while no tab leads why it waits, and goes on with the next leader’s worker', async () => {
    const { link, serve, generator } = createServe();
    link.connect();
    link.leader(false);
    expect(serve.status()).toMatchObject({
      state: 'loading',
      isHandover: false,
      waitReason: expect.stringContaining('No tab leads'),
    });
    link.leader(true);
    expect(serve.status()).toMatchObject({ state: 'loading', waitReason: '' });
    link.welcome('A', { status: createWorkerStatus({ state: 'ready' }) });
    expect(serve.status()).toMatchObject({ state: 'ready', waitReason: '' });

    const running = generator.remote('one');
    link.leader(false);
    expect(serve.status()).toMatchObject({
      state: 'loading',
      isHandover: true,
      waitReason: expect.stringContaining('No tab leads'),
    });
    const waiting = generator.remote('two');
    expect(link.submissions().map(({ input }) => input)).toEqual(['one']);
    link.welcome('B', { status: createWorkerStatus({ state: 'loading' }) });
    expect(serve.status()).toMatchObject({ state: 'loading', isHandover: true, waitReason: '' });
    expect(link.submissions().map(({ input }) => input)).toEqual(['one', 'one', 'two']);
    link.updateFrom('B', finished(running.requestId, '1'), finished(waiting.requestId, '2'));
    expect([(await running).generatedText, (await waiting).generatedText]).toEqual(['1', '2']);
  });

  it('loads anew with the next leader where the last one’s worker had failed', () => {
    const { link, serve } = createServed();
    link.status({ state: 'failed', error: { code: 'MODEL_FILE_CORRUPT', message: 'bad' } });
    link.leader(false);
    expect(serve.status().state).toBe('loading');
    expect(serve.status()).not.toHaveProperty('error');
  });

  it('keeps the failure of a tab that has to reload', () => {
    const { link, serve } = createServed();
    link.meetForeignWorker(PROTOCOL_VERSION + 1);
    link.leader(false);
    expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'VERSION_MISMATCH' } });
  });
});

describe('a worker of another version', () => {
  const [older, newer] = [PROTOCOL_VERSION - 1, PROTOCOL_VERSION + 1];

  it('ends this tab where it is the older one, and says to reload it', async () => {
    const { link, serve, generator } = createServed();
    const [response, knobs] = [generator.remote('Hi'), serve.configure('adder', {})];
    link.meetForeignWorker(newer);
    const refusal = { code: 'VERSION_MISMATCH', message: expect.stringContaining('reload this tab') };
    for (const refused of [
      response.result(),
      knobs,
      generator.remote('again').result(),
      serve.metrics(),
      serve.ready(),
    ]) {
      await expect(refused).rejects.toMatchObject(refusal);
    }
    expect(serve.status()).toMatchObject({ state: 'failed', error: refusal });
    expect(link.types).toEqual(['submit', 'configure']);
  });

  it('keeps this tab waiting where it is the newer one: its requests go on at the next welcome', async () => {
    const { link, serve, generator } = createServe();
    const before = generator.remote('before');
    link.meetForeignWorker(older);
    const after = generator.remote('after');
    expect(serve.status()).toMatchObject({
      state: 'failed',
      error: { code: 'VERSION_MISMATCH', message: expect.stringContaining('close the other tabs') },
    });
    link.welcome();
    expect(link.submissions().map(({ input }) => input)).toEqual(['before', 'after']);
    expect(serve.status().state).toBe('loading');
    expect(serve.status()).not.toHaveProperty('error');
    link.update(finished(before.requestId, '!'), finished(after.requestId, '?'));
    expect((await after.result()).generatedText).toBe('?');
  });

  it('is told once, however much it says, and again should it come back', () => {
    const { link, states } = createServe();
    for (const _ of [1, 2, 3]) link.meetForeignWorker(older);
    expect(states).toEqual(['loading', 'failed']);
    link.welcome();
    link.meetForeignWorker(older);
    expect(states).toEqual(['loading', 'failed', 'loading', 'failed']);
  });

  it('is forgotten where it was older, when the worker of this tab speaks again', () => {
    const { link, serve } = createServed();
    link.status({ state: 'ready' });
    link.meetForeignWorker(older);
    expect(serve.status().state).toBe('failed');
    link.say({ type: 'serving' });
    expect(serve.status()).toMatchObject({ state: 'ready', isHandover: false });
    expect(serve.status()).not.toHaveProperty('error');
  });

  it('has the last word where it is newer, whatever the worker of this tab had said before', () => {
    const { link, serve } = createServed();
    link.meetForeignWorker(newer);
    link.say({ type: 'serving' });
    link.say({ type: 'batch', batch: createBatch('adder', 0) });
    expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'VERSION_MISMATCH' } });
  });

  it('that is gone leaves an older tab free to go on', async () => {
    const { link, serve, generator } = createServe();
    link.meetForeignWorker(newer);
    link.welcome();
    const response = generator.remote('Hi');
    link.update(finished(response.requestId, '!'));
    expect((await response.result()).generatedText).toBe('!');
    expect(serve.status().state).toBe('loading');
  });

  it('opens no tab that is closed', () => {
    const { link, serve } = createServe();
    serve.close();
    link.meetForeignWorker(newer);
    expect(serve.status().state).toBe('closed');
  });
});

describe('the requests of other tabs', () => {
  it('come as a snapshot with the welcome, then as changes, without this tab’s own', () => {
    const { link, serve } = createServe();
    const published: Activity[] = [];
    serve.subscribe('activity', (activity) => published.push(activity));
    const [own, other, late] = [
      activityOf(OWN, 'own'),
      activityOf(OTHER, 'other'),
      activityOf(OTHER, 'late'),
    ];
    link.welcome('A', { activity: [own, other] });
    link.say({ type: 'activity', activity: [own, late] });
    expect(published).toEqual([
      { isSnapshot: true, requests: [other] },
      { isSnapshot: false, requests: [late] },
    ]);
  });

  it('are told where there are none: a snapshot clears what a lost worker had', () => {
    const { link, serve } = createServed();
    const published: Activity[] = [];
    serve.subscribe('activity', (activity) => published.push(activity));
    link.welcome('B', { activity: [activityOf(OWN, 'own')] });
    link.say({ type: 'activity', activity: [activityOf(OWN, 'own')] }, 'B');
    expect(published).toEqual([{ isSnapshot: true, requests: [] }]);
  });
});

describe('the end', () => {
  it('close() leaves, and rejects what is outstanding and what comes after', async () => {
    const { link, serve, generator } = createServed();
    const response = generator.remote('Hi');
    const configured = serve.configure('text-generator', {});
    serve.close();
    serve.close();
    expect(link.isClosed).toBe(true);
    for (const refused of [
      response.result(),
      configured,
      generator.remote('again').result(),
      serve.configure('text-generator', {}),
      serve.ready(),
    ]) {
      await expect(refused).rejects.toBeInstanceOf(ClosedError);
    }
    expect(serve.status().state).toBe('closed');
    expect(link.types).toEqual(['submit', 'configure']);
  });

  it('comes with the end of the client’s scope too', async () => {
    const { link, serve } = createServed();
    await serve[Symbol.asyncDispose]();
    expect(link.isClosed).toBe(true);
    expect(serve.status().state).toBe('closed');
  });

  it('of all workers of this tab fails what is outstanding and is told in the status', async () => {
    const { link, serve, generator } = createServed();
    const response = generator.remote('Hi');
    link.fail('The worker failed (out of memory): reload the page.');
    await expect(response.result()).rejects.toThrow(/out of memory/);
    await expect(generator.remote('again').result()).rejects.toThrow(/reload the page/);
    await expect(serve.configure('text-generator', {})).rejects.toThrow(/reload the page/);
    expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'INTERNAL_ERROR' } });
  });

  it('of all workers of this tab is none where another tab’s worker takes it in', async () => {
    const { link, serve, generator } = createServed();
    link.fail('out of memory');
    link.welcome('B', { status: createWorkerStatus({ state: 'ready' }) });
    expect(serve.status()).toMatchObject({ state: 'ready' });
    expect(serve.status()).not.toHaveProperty('error');
    const response = generator.remote('again');
    link.updateFrom('B', finished(response.requestId, '!'));
    expect((await response.result()).generatedText).toBe('!');
  });
});

describe('result({ timeoutMs })', () => {
  it('gives up waiting, while the request goes on', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    const timedOut = response.result({ timeoutMs: 50 });
    vi.advanceTimersByTime(60);
    await expect(timedOut).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    link.update(finished(response.requestId, '!'));
    expect((await response.result({ timeoutMs: 50 })).generatedText).toBe('!');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes an answer that has come in time, though the timer was late', async () => {
    const { link, generator } = createServed();
    const response = generator.remote('Hi');
    const result = response.result({ timeoutMs: 50 });
    // A busy page finds the timer first, and behind it the message.
    setTimeout(() => setTimeout(() => link.update(finished(response.requestId, '!')), 0), 50);
    vi.advanceTimersByTime(60);
    expect((await result).generatedText).toBe('!');
  });
});

describe('rejects', () => {
  it.each([
    ['longer than a message may carry', 'x'.repeat(101)],
    ['no text', 7],
  ])('a name of a deployment that is %s, at once', async (_, name) => {
    const { link, serve } = createServed();
    link.clear();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a caller without types
    const handle = serve.getHandle<number, number>(name as string);
    await expect(handle.remote(1)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    await expect(serve.configure(name as string, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(link.received).toEqual([]);
  });

  it('knobs that cannot be sent to the worker', async () => {
    const { link, serve } = createServed();
    const refused = serve.configure('adder', { maxBatchSize: () => 3 } as object);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    link.clear();
    link.welcome('B');
    expect(link.received).toEqual([]);
  });

  it('an input or options that cannot be sent to the worker, at once, with or without one', async () => {
    for (const { link, serve, generator } of [createServed(), createServe()]) {
      const responses = [
        generator.remote('Hi', { stop: () => true } as object).result(),
        serve.getHandle<unknown, unknown>('shout').remote(() => 'hi'),
      ];
      for (const response of responses) {
        await expect(response).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      }
      link.welcome('B');
      expect(link.received).toEqual([]);
    }
  });

  it('an unknown topic, and listeners and callbacks that are no functions, by name', async () => {
    const { serve } = createServed();
    expect(() => serve.subscribe(Object('steps'), () => {})).toThrow(
      'Expected `topic` to be one of status, stats, batch, requests, activity, got `steps`',
    );
    expect(() => serve.subscribe('status', Object(5))).toThrow('Expected `listener` to be a function');
    expect(() => serve.jobs.subscribe(Object('log'))).toThrow('Expected `listener` to be a function');
    const refused = [
      serve.loadModel('storyteller', { onProgress: Object(5) }),
      serve.check(Object(() => {})),
      serve.check({ onRequest: Object(5) }),
      serve.check({ signal: Object(() => {}) }),
    ];
    const params = await Promise.all(refused.map((call) => call.catch((error: unknown) => error)));
    expect(params).toMatchObject(
      ['onProgress', 'options', 'onRequest', 'signal'].map((param) => ({ code: 'INVALID_OPTION', param })),
    );
  });

  it.each([-1, Number.NaN, Infinity])('a time-out of %s', async (timeoutMs) => {
    const response = createServed().generator.remote('Hi');
    await expect(response.result({ timeoutMs })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});

function activityOf(owner: typeof OWN, name: string): RequestActivity {
  return {
    requestId: requestId(name),
    clientId: owner,
    deployment: 'text-generator',
    inputPreview: name,
    state: 'running',
    numOutputTokens: 1,
  };
}

describe('what comes at a bad time', () => {
  it('is not heard after close()', () => {
    const { link, serve } = createServed();
    serve.close();
    link.welcome('B');
    expect(serve.status().state).toBe('closed');
  });

  it('drops the error of a failure when this tab leads again', () => {
    const { link, serve } = createServed();
    link.fail('out of memory');
    expect(serve.status()).toMatchObject({ state: 'failed' });
    link.role('leader');
    expect(serve.status()).toMatchObject({ state: 'loading', role: 'leader' });
    expect(serve.status()).not.toHaveProperty('error');
  });
});
