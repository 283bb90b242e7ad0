import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  ClientUpdate,
  RequestActivity,
  RequestId,
  TabserveStats,
  StepRecord,
} from '../../client/index.ts';
import {
  createBatch,
  createSlotSpan,
  createStats,
  createStatus,
  createStepRecord,
  idOf,
  OTHER_TAB,
} from '../testing/test-support.ts';
import { BATCH_SIZE_CHART } from '../panels/watch/batch-size-chart.ts';
import { latestRun } from './run.ts';
import { summarizeRun } from './run-summary.ts';
import {
  applyEvents,
  clearAnswers,
  clearFinished,
  createServeStore,
  recordedView,
  type ServeStore,
} from './serve-store.ts';

// A theme needs a page.
vi.mock(import('../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const STATUS = createStatus({ state: 'loading' });
const model = { id: 'm', backend: 'wasm', precision: 'fp32' } as const;

function submitted(name: string): ClientUpdate {
  return { type: 'submitted', requestId: idOf(name), deployment: 'text-generator', input: `${name}:` };
}

function asked(name: string, input: unknown, deployment = 'adder'): ClientUpdate {
  return { type: 'submitted', requestId: idOf(name), deployment, input };
}

function answered(name: string, result: unknown): ClientUpdate {
  return { type: 'answered', requestId: idOf(name), result };
}

function chunk(name: string, text: string, ttftMs?: number, index = 0): ClientUpdate {
  return {
    type: 'chunk',
    requestId: idOf(name),
    index,
    text,
    tokenIds: [1],
    ...(ttftMs !== undefined && { ttftMs }),
  };
}

function failed(name: string, code: string): ClientUpdate {
  return { type: 'failed', requestId: idOf(name), error: { code, message: 'why' } };
}

function finished(name: string, generatedText: string): ClientUpdate {
  const timings = { queueWaitMs: 5, ttftMs: 50, e2eMs: 150, tpotMs: 20 };
  const usage = { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 6 };
  const text = `${name}:${generatedText}`;
  const choice = { text, generatedText, tokenIds: [], finishReason: 'length', seed: 7 } as const;
  const result = { ...choice, choices: [choice], usage, timings };
  return { type: 'finished', requestId: idOf(name), result };
}

function statsOf(steps: TabserveStats['steps'], change: Partial<TabserveStats> = {}): TabserveStats {
  return createStats({ steps, numRunning: 2, numWaiting: 1, tokensPerSecond: 30, ...change });
}

function createStep(stepIndex: number, kind: StepRecord['kind'], batchSize: number): StepRecord {
  return createStepRecord({ stepIndex, kind, batchSize, queueLength: 1, stepMs: 60, agoMs: 3 });
}

let store: ServeStore;

beforeEach(() => {
  store = createServeStore(STATUS);
});

function receive(updates: readonly ClientUpdate[], receivedAtMs = 0): void {
  applyEvents(store, [{ type: 'requests', updates, receivedAtMs }]);
}

/** Changes of a request of another tab. */
function activity(name: string, change: Partial<RequestActivity> = {}): RequestActivity {
  return {
    requestId: idOf(name),
    clientId: OTHER_TAB,
    tab: 2,
    deployment: 'text-generator',
    inputPreview: `${name}:`,
    state: 'running',
    numOutputTokens: 0,
    ...change,
  };
}

function observe(requests: readonly RequestActivity[], isSnapshot = false): void {
  applyEvents(store, [{ type: 'activity', activity: { isSnapshot, requests } }]);
}

function idsOf(): readonly RequestId[] {
  return [...store.getState().requests.keys()];
}

function answersOf(deployment = 'adder') {
  return [...store.getState().answers.values()].filter((answer) => answer.deployment === deployment);
}

function rowOf(name: string) {
  return store.getState().requests.get(idOf(name));
}

describe('events of one frame', () => {
  it('are one change of the store, whatever their number and topics', () => {
    const onChange = vi.fn<() => void>();
    store.subscribe(onChange);
    applyEvents(store, [
      { type: 'status', status: { ...STATUS, state: 'ready' }, receivedAtMs: 0 },
      { type: 'requests', updates: [submitted('a')], receivedAtMs: 0 },
      { type: 'stats', stats: statsOf([]), receivedAtMs: 0 },
      { type: 'requests', updates: [chunk('a', ' x')], receivedAtMs: 1 },
    ]);
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(store.getState().status.state).toBe('ready');
    expect(rowOf('a')?.generatedTexts).toEqual([' x']);
  });

  it('change the status alone when nothing happened to a request', () => {
    receive([submitted('a')]);
    const { requests } = store.getState();
    applyEvents(store, [{ type: 'status', status: { ...STATUS, state: 'ready' }, receivedAtMs: 0 }]);
    expect(store.getState().status.state).toBe('ready');
    expect(store.getState().requests).toBe(requests);
  });
});

describe('requests', () => {
  it('of several continuations show each, as far as it has come', () => {
    receive([submitted('a'), chunk('a', ' z', undefined, 2), chunk('a', ' x')]);
    expect(rowOf('a')).toMatchObject({ generatedTexts: [' x', '', ' z'], numOutputTokens: 2 });
    receive([chunk('a', '!', undefined, 2)]);
    expect(rowOf('a')?.generatedTexts).toEqual([' x', '', ' z!']);
  });

  it('go from waiting through running to finished, with the numbers of the worker', () => {
    receive([submitted('a')]);
    expect(rowOf('a')).toMatchObject({ status: 'waiting', prompt: 'a:', ordinal: 1 });
    receive([{ type: 'started', requestId: idOf('a'), queueWaitMs: 4, model }]);
    expect(rowOf('a')).toMatchObject({ status: 'running', queueWaitMs: 4 });
    receive([{ type: 'echo', requestId: idOf('a'), index: 0, text: 'a:' }, chunk('a', ' x', 48)]);
    expect(rowOf('a')).toMatchObject({ generatedTexts: [' x'], ttftMs: 48, numOutputTokens: 1 });
    receive([finished('a', ' x y')]);
    expect(rowOf('a')).toMatchObject({
      status: 'finished',
      generatedTexts: [' x y'],
      finishReason: 'length',
      seed: 7,
      numOutputTokens: 6,
      tokensPerSecond: 50,
    });
  });

  it('measure their live speed from the first token, which is not counted', () => {
    receive([submitted('a'), chunk('a', ' x', 900)], 1000);
    expect(rowOf('a')?.tokensPerSecond).toBeUndefined();
    receive([chunk('a', ' y')], 1050);
    receive([chunk('a', ' z')], 1100);
    expect(rowOf('a')?.tokensPerSecond).toBe(20);
  });

  it('leave the rows of others and the list as they were', () => {
    receive([submitted('a'), submitted('b')]);
    const requestIds = idsOf();
    const other = rowOf('b');
    receive([chunk('a', ' x')]);
    expect(idsOf()).toEqual(requestIds);
    expect(rowOf('b')).toBe(other);
  });

  it('keep their text when cancelled, and their reason when failed', () => {
    receive([submitted('a'), submitted('b'), chunk('a', ' x')]);
    receive([failed('a', 'REQUEST_CANCELLED'), failed('b', 'PROMPT_TOO_LONG')]);
    expect(rowOf('a')).toMatchObject({ status: 'cancelled', generatedTexts: [' x'] });
    expect(rowOf('a')?.error).toBeUndefined();
    expect(rowOf('b')).toMatchObject({ status: 'failed', error: { code: 'PROMPT_TOO_LONG' } });
  });

  it('are forgotten once over, and stay forgotten', () => {
    receive([submitted('a'), submitted('b'), submitted('c'), finished('a', ' x'), failed('b', 'CLOSED')]);
    clearFinished(store);
    receive([chunk('a', ' late')]);
    expect(idsOf()).toEqual([idOf('c')]);
    receive([submitted('d')]);
    expect(rowOf('d')?.ordinal).toBe(4);
  });
});

it('a resubmitted request waits again, with the text and the speed that it has', () => {
  receive([submitted('a'), { type: 'started', requestId: idOf('a'), queueWaitMs: 4, model }], 0);
  receive([chunk('a', ' x', 48), chunk('a', ' y')], 10);
  receive([{ type: 'resubmitted', requestId: idOf('a') }]);
  expect(rowOf('a')).toMatchObject({
    status: 'waiting',
    generatedTexts: [' x y'],
    numOutputTokens: 2,
    ttftMs: 48,
  });
  receive([chunk('a', ' z')], 20);
  expect(rowOf('a')).toMatchObject({ status: 'running', generatedTexts: [' x y z'], ttftMs: 48 });
});

describe('requests of other tabs', () => {
  it('have rows of their own: whose, what for and how far, but no text and no number', () => {
    observe([activity('f', { numOutputTokens: 3 })]);
    expect(rowOf('f')).toEqual({
      id: idOf('f'),
      sender: 2,
      status: 'running',
      prompt: 'f:',
      generatedTexts: [''],
      numOutputTokens: 3,
    });
    const { tab: _tab, ...ofNoTab } = activity('h');
    observe([
      { ...ofNoTab, isHttp: true },
      { ...ofNoTab, requestId: idOf('j') },
    ]);
    expect([rowOf('h')?.sender, rowOf('j')?.sender]).toEqual(['HTTP', 'Jobs']);
    receive([submitted('a')]);
    expect(rowOf('a')?.ordinal).toBe(1);
    expect(idsOf()).toEqual(['f', 'h', 'j', 'a']);
  });

  it('go on to their end in the same row', () => {
    observe([activity('f', { state: 'waiting' }), activity('g', { state: 'waiting' })]);
    const requestIds = idsOf();
    observe([activity('f', { numOutputTokens: 7 })]);
    expect(rowOf('f')).toMatchObject({ status: 'running', numOutputTokens: 7 });
    observe([activity('f', { state: 'cancelled', numOutputTokens: 7 })]);
    expect(rowOf('f')).toMatchObject({ status: 'cancelled', numOutputTokens: 7 });
    expect(rowOf('g')?.status).toBe('waiting');
    observe([activity('g', { state: 'finished', finishReason: 'length' })]);
    expect(rowOf('g')).toMatchObject({ status: 'finished', finishReason: 'length' });
    expect(idsOf()).toEqual(requestIds);
  });

  it('are the text generator’s alone', () => {
    observe([activity('f', { deployment: 'adder' })]);
    expect(idsOf()).toEqual([]);
  });

  it('are what a snapshot says: what it leaves out has ended with its tab, until that sends it again', () => {
    receive([submitted('own')]);
    observe([activity('lost'), activity('kept'), activity('over', { state: 'finished' })]);
    observe([activity('over')]);
    observe([activity('over', { state: 'finished' })]);
    observe([activity('kept', { numOutputTokens: 4 }), activity('new')], true);
    expect(idsOf()).toEqual(['own', 'lost', 'kept', 'over', 'new']);
    expect(['lost', 'kept', 'over'].map((name) => rowOf(name)?.status)).toEqual([
      'cancelled',
      'running',
      'finished',
    ]);
    expect(rowOf('kept')?.numOutputTokens).toBe(4);
    expect(rowOf('own')).toMatchObject({ status: 'waiting', ordinal: 1 });
    observe([activity('lost')]);
    expect(rowOf('lost')?.status).toBe('running');
  });

  it('keep their places through a snapshot', () => {
    observe([activity('f')]);
    receive([submitted('a')]);
    observe([activity('f')], true);
    receive([submitted('b')]);
    expect(idsOf()).toEqual(['f', 'a', 'b']);
  });

  it('that are over are kept up to 50, the oldest goes first; own ones and live ones all stay', () => {
    receive([submitted('own'), finished('own', ' x')]);
    observe([activity('live')]);
    for (let index = 0; index < 52; index++) {
      observe([activity(`f${index}`)]);
      observe([activity(`f${index}`, { state: 'finished' })]);
    }
    const requestIds = idsOf();
    expect(requestIds.slice(0, 3)).toEqual(['own', 'live', 'f2']);
    expect(requestIds).toHaveLength(52);
  });

  it('are forgotten once over, and stay forgotten', () => {
    observe([activity('f'), activity('g')]);
    observe([activity('f', { state: 'failed' })]);
    clearFinished(store);
    observe([activity('f', { state: 'failed' })]);
    expect(idsOf()).toEqual([idOf('g')]);
  });

  it('count in their run and own their bars, also where far more come and go in a frame than rows are kept', () => {
    const names = Array.from({ length: 400 }, (_, index) => String(index));
    const requests = names.flatMap((name) => [
      activity(name, { state: 'waiting' }),
      activity(name, { state: 'finished', numOutputTokens: 4 }),
    ]);
    const slotSpans = names.map((name, index) =>
      createSlotSpan({
        requestId: idOf(name),
        queueWaitMs: 0,
        startedAgoMs: 400 - index,
        firstTokenAgoMs: 400 - index,
        endedAgoMs: 399 - index,
        end: 'length',
        numTokens: 4,
      }),
    );
    applyEvents(store, [
      { type: 'activity', activity: { isSnapshot: false, requests } },
      { type: 'stats', stats: createStats({ slotSpans }), receivedAtMs: 1000 },
    ]);
    const view = recordedView(store);
    const run = latestRun(view.runs);
    expect(run && summarizeRun(run, view)).toMatchObject({ numRequests: 400, tokensPerSecond: 4000 });
    expect(new Set(view.history.slots.bars.map(({ owner }) => owner?.sender))).toEqual(new Set([2]));
  });

  it('are left out if they ended before this tab came', () => {
    observe([activity('f', { state: 'finished' })]);
    expect(idsOf()).toEqual([]);
  });

  it('leave the rows of this tab as they were', () => {
    receive([submitted('a')]);
    const own = rowOf('a');
    observe([activity('f')], true);
    observe([activity('f', { state: 'finished' })]);
    expect(rowOf('a')).toBe(own);
  });
});

describe('answers', () => {
  it('keep the order of the calls, whatever the order in which they come', () => {
    receive([asked('a', 0), asked('b', 1), asked('c', 2)], 100);
    receive([answered('c', 3), answered('a', 1)], 305);
    expect(answersOf()).toMatchObject([
      { ordinal: 1, status: 'answered', input: 0, result: 1, clientLatencyMs: 205 },
      { ordinal: 2, status: 'waiting', input: 1 },
      { ordinal: 3, status: 'answered', input: 2, result: 3, clientLatencyMs: 205 },
    ]);
  });

  it('are no requests of the text generator, nor are its requests answers', () => {
    receive([asked('a', 0), submitted('t'), answered('a', 1), finished('t', ' x')]);
    expect(idsOf()).toEqual([idOf('t')]);
    expect(answersOf()).toHaveLength(1);
    expect(answersOf('text-generator')).toEqual([]);
  });

  it('of encoders are not kept: they are large, and their view has them', () => {
    receive([asked('e', ['x'], 'embedder'), answered('e', []), asked('r', {}, 'reranker')]);
    expect(store.getState().answers.size).toBe(0);
  });

  it('distinguish a cancelled request from a failed one, which has its reason', () => {
    receive([asked('a', 0), asked('b', 'x')]);
    receive([failed('a', 'REQUEST_CANCELLED'), failed('b', 'INVALID_OPTION')]);
    expect(answersOf()).toMatchObject([
      { status: 'cancelled' },
      { status: 'failed', error: { code: 'INVALID_OPTION' } },
    ]);
    expect(answersOf()[0]?.error).toBeUndefined();
  });

  it('leave other rows, other deployments and the list as they were', () => {
    receive([asked('a', 0), asked('b', 1), asked('h', [], 'house-price')]);
    const before = store.getState().answers;
    receive([answered('a', 1)]);
    const after = store.getState().answers;
    expect(after.get(idOf('h'))).toBe(before.get(idOf('h')));
    expect(after.get(idOf('b'))).toBe(before.get(idOf('b')));
    expect([...after.keys()]).toEqual([...before.keys()]);
    receive([chunk('nobody', ' x')]);
    expect(store.getState().answers).toEqual(after);
  });

  it('are forgotten once settled, by deployment, and stay forgotten; the count goes on', () => {
    receive([asked('a', 0), asked('b', 1), answered('a', 1), asked('h', [], 'house-price')]);
    receive([answered('h', 9)]);
    clearAnswers(store, 'adder');
    receive([answered('a', 1), asked('c', 2)]);
    expect(answersOf().map((answer) => answer?.ordinal)).toEqual([2, 3]);
    expect(answersOf('house-price')).toHaveLength(1);
  });

  it('are bounded: the oldest settled row goes first, and those that wait all stay, so that each can be cancelled', () => {
    const names = Array.from({ length: 510 }, (_, index) => `a${index}`);
    receive(names.map((name, index) => asked(name, index)));
    expect(answersOf()).toHaveLength(510);
    receive(names.slice(1).map((name) => answered(name, 1)));
    expect(answersOf()).toHaveLength(501);
    expect(answersOf().slice(0, 2)).toMatchObject([
      { ordinal: 1, status: 'waiting' },
      { ordinal: 11, input: 10 },
    ]);
  });
});

it('a load test of any length leaves the texts of the run before it', () => {
  const end = (name: string): void =>
    applyEvents(store, [
      { type: 'requests', updates: [submitted(name), failed(name, 'REQUEST_CANCELLED')], receivedAtMs: 0 },
    ]);
  end('own');
  for (let index = 0; index < 301; index++) {
    store.experiments.set(idOf(`load${index}`), 'trial');
    end(`load${index}`);
  }
  expect(store.getState().requests.has(idOf('own'))).toBe(true);
  expect(store.getState().requests.size, 'those of the load test are bounded').toBe(301);
});

it('batches are kept by deployment with the time of their arrival, the last twenty of each', () => {
  applyEvents(store, [
    ...Array.from({ length: 23 }, (_, index) => ({
      type: 'batch' as const,
      batch: createBatch({ batchIndex: index }),
      receivedAtMs: 1000 + index,
    })),
    { type: 'batch', batch: createBatch({ deployment: 'house-price' }), receivedAtMs: 7 },
    ...Array.from({ length: 2010 }, () => ({
      type: 'batch' as const,
      batch: createBatch({ deployment: 'embedder' }),
      receivedAtMs: 0,
    })),
  ]);
  const { batches } = store.getState();
  expect(batches.get('adder')).toHaveLength(20);
  expect(batches.get('adder')?.at(-1)).toMatchObject({ batchIndex: 22, endedAtMs: 1022, reason: 'full' });
  expect(batches.get('house-price')).toMatchObject([{ batchIndex: 0, endedAtMs: 7 }]);
  // A chart shows those of 10,000 texts.
  expect(batches.get('embedder')).toHaveLength(2000);
});

it.each([
  [1, true],
  [2, false],
])('a batch of a deployment with %d slots ran alone: %s', (maxConcurrentBatches, ranAlone) => {
  const knobs = { maxBatchSize: 4, batchWaitTimeoutMs: 0, maxConcurrentBatches };
  applyEvents(store, [
    { type: 'status', status: { ...STATUS, deployments: [{ name: 'adder', knobs }] }, receivedAtMs: 0 },
    { type: 'batch', batch: createBatch(), receivedAtMs: 0 },
  ]);
  expect(store.getState().batches.get('adder')).toMatchObject([{ ranAlone }]);
});

describe('stats', () => {
  it('put decode and prefill steps in columns of their own', () => {
    const steps = [createStep(0, 'prefill', 1), createStep(1, 'decode', 2)];
    applyEvents(store, [{ type: 'stats', stats: statsOf(steps), receivedAtMs: 0 }]);
    const { historyRevision, figures } = store.getState();
    const span = { startMs: -100, endMs: 100, untilMs: 100, originMs: -100, isLive: false };
    expect(BATCH_SIZE_CHART.read(recordedView(store), span).slice(1, 4)).toEqual([
      [null, 2],
      [1, null],
      [1, 1],
    ]);
    expect(historyRevision).toBe(1);
    expect(figures).toMatchObject({ numRunning: 2, numWaiting: 1, lastBatchSize: 2 });
  });

  it('have no last batch once nothing runs or waits', () => {
    const idle = statsOf([], { numRunning: 0, numWaiting: 0, tokensPerSecond: 0 });
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'stats', stats: idle, receivedAtMs: 2000 },
    ]);
    expect(store.getState().figures).toMatchObject({ lastBatchSize: 0, tokensPerSecond: 0 });
  });

  it('of an engine that failed say that nothing runs', () => {
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'status', status: createStatus({ state: 'failed' }), receivedAtMs: 0 },
    ]);
    const idle = { numRunning: 0, numWaiting: 0, tokensPerSecond: 0, lastBatchSize: 0 };
    expect(store.getState().figures).toMatchObject(idle);
  });

  it('keep the last batch size while requests wait for a step', () => {
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'stats', stats: statsOf([]), receivedAtMs: 100 },
    ]);
    expect(store.getState().figures?.lastBatchSize).toBe(5);
  });
});

describe('pending events', () => {
  let createPendingEvents: typeof import('./serve-store.ts').createPendingEvents;
  const frames: (() => void)[] = [];

  beforeEach(async () => {
    vi.resetModules();
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    vi.stubGlobal('requestAnimationFrame', (callback: () => void) => frames.push(callback));
    vi.stubGlobal('document', { hidden: false });
    ({ createPendingEvents } = await import('./serve-store.ts'));
  });

  afterEach(() => {
    for (const runFrame of frames.splice(0)) runFrame();
    vi.useRealTimers();
  });

  /** After the time between two frames. */
  function runNextFrame(): void {
    vi.advanceTimersByTime(50);
    frames.shift()?.();
  }

  function createEvents() {
    const applied: (readonly string[])[] = [];
    return {
      applied,
      frameCallbacks: frames,
      ...createPendingEvents<string>((items) => applied.push(items)),
      nextFrame: runNextFrame,
      endWait: () => vi.advanceTimersByTime(1000),
      setHidden: (hidden: boolean) => vi.stubGlobal('document', { hidden }),
    };
  }

  it('that arrived since the last frame are applied at once and in order', () => {
    const { applied, push, nextFrame } = createEvents();
    push('a');
    push('b');
    expect(applied).toEqual([]);
    nextFrame();
    push('c');
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('are applied on request, and not again in the frame', () => {
    const { applied, push, apply, nextFrame } = createEvents();
    push('a');
    push('b', true);
    apply();
    expect(applied).toEqual([['a', 'b']]);
    nextFrame();
    apply();
    expect(applied).toHaveLength(1);
  });

  it('need one frame, however many arrive', () => {
    const { frameCallbacks, push } = createEvents();
    push('a');
    push('b');
    push('c');
    expect(frameCallbacks).toHaveLength(1);
  });

  it('are applied on arrival while the page gets no frames', () => {
    const { applied, frameCallbacks, push, setHidden } = createEvents();
    setHidden(true);
    push('a');
    push('b');
    expect(applied).toEqual([['a'], ['b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('that can wait are applied together, in the frame after a second', () => {
    const { applied, frameCallbacks, push, nextFrame, endWait } = createEvents();
    push('a', true);
    push('b', true);
    expect(frameCallbacks).toHaveLength(0);
    endWait();
    nextFrame();
    push('c', true);
    endWait();
    nextFrame();
    expect(applied).toEqual([['a', 'b'], ['c']]);
  });

  it('that can wait are applied with those that cannot, and need no frame after the second', () => {
    const { applied, frameCallbacks, push, nextFrame, endWait } = createEvents();
    push('a', true);
    push('b');
    nextFrame();
    endWait();
    expect(applied).toEqual([['a', 'b']]);
    expect(frameCallbacks).toHaveLength(0);
  });

  it('keep their order when the page is hidden between an event and its frame', () => {
    const { applied, push, nextFrame, setHidden } = createEvents();
    push('a');
    setHidden(true);
    push('b');
    nextFrame();
    expect(applied).toEqual([['a', 'b']]);
  });
});
