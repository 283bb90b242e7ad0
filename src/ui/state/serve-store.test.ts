import { describe, expect, it, vi } from 'vitest';

import type { ClientUpdate, RequestActivity, RequestId, ServeStats, StepRecord } from '../../client/index.ts';
import {
  createBatch,
  createStats,
  createStatus,
  createStepRecord,
  idOf,
  OTHER_TAB,
} from '../test-support.ts';
import { BATCH_SIZE_CHART } from '../watch/batch-size-chart.ts';
import {
  applyEvents,
  clearAnswers,
  clearFinished,
  createServeStore,
  recordedView,
  type ServeStore,
} from './serve-store.ts';

// A theme needs a page.
vi.mock(import('../theme/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

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

function statsOf(steps: ServeStats['steps'], change: Partial<ServeStats> = {}): ServeStats {
  return createStats({ steps, numRunning: 2, numWaiting: 1, tokensPerSecond: 30, ...change });
}

function createStep(stepIndex: number, kind: StepRecord['kind'], batchSize: number): StepRecord {
  return createStepRecord({ stepIndex, kind, batchSize, queueLength: 1, stepMs: 60, agoMs: 3 });
}

function createStore() {
  const store = createServeStore(STATUS);
  let numChanges = 0;
  store.subscribe(() => {
    numChanges += 1;
  });
  return { store, countChanges: () => numChanges };
}

function receive(store: ServeStore, updates: readonly ClientUpdate[], receivedAtMs = 0): void {
  applyEvents(store, [{ type: 'requests', updates, receivedAtMs }]);
}

/** Changes of a request of another tab. */
function activity(name: string, change: Partial<RequestActivity> = {}): RequestActivity {
  return {
    requestId: idOf(name),
    clientId: OTHER_TAB,
    deployment: 'text-generator',
    inputPreview: `${name}:`,
    state: 'running',
    numOutputTokens: 0,
    ...change,
  };
}

function observe(store: ServeStore, requests: readonly RequestActivity[], isSnapshot = false): void {
  applyEvents(store, [{ type: 'activity', activity: { isSnapshot, requests } }]);
}

function idsOf(store: ServeStore): readonly RequestId[] {
  return [...store.getState().requests.keys()];
}

function answersOf(store: ServeStore, deployment = 'adder') {
  return [...store.getState().answers.values()].filter((answer) => answer.deployment === deployment);
}

function rowOf(store: ServeStore, name: string) {
  return store.getState().requests.get(idOf(name));
}

describe('events of one frame', () => {
  it('are one change of the store, whatever their number and topics', () => {
    const { store, countChanges } = createStore();
    applyEvents(store, [
      { type: 'status', status: { ...STATUS, state: 'ready' }, receivedAtMs: 0 },
      { type: 'requests', updates: [submitted('a')], receivedAtMs: 0 },
      { type: 'stats', stats: statsOf([]), receivedAtMs: 0 },
      { type: 'requests', updates: [chunk('a', ' x')], receivedAtMs: 1 },
    ]);
    expect(countChanges()).toBe(1);
    expect(store.getState().status.state).toBe('ready');
    expect(rowOf(store, 'a')?.generatedTexts).toEqual([' x']);
  });

  it('change the status alone when nothing happened to a request', () => {
    const { store } = createStore();
    receive(store, [submitted('a')]);
    const { requests } = store.getState();
    applyEvents(store, [{ type: 'status', status: { ...STATUS, state: 'ready' }, receivedAtMs: 0 }]);
    expect(store.getState().status.state).toBe('ready');
    expect(store.getState().requests).toBe(requests);
  });
});

describe('requests', () => {
  it('of several continuations show each, as far as it has come', () => {
    const { store } = createStore();
    receive(store, [submitted('a'), chunk('a', ' z', undefined, 2), chunk('a', ' x')]);
    expect(rowOf(store, 'a')).toMatchObject({ generatedTexts: [' x', '', ' z'], numOutputTokens: 2 });
    receive(store, [chunk('a', '!', undefined, 2)]);
    expect(rowOf(store, 'a')?.generatedTexts).toEqual([' x', '', ' z!']);
  });

  it('go from waiting through running to finished, with the numbers of the worker', () => {
    const { store } = createStore();
    receive(store, [submitted('a')]);
    expect(rowOf(store, 'a')).toMatchObject({ status: 'waiting', prompt: 'a:', ordinal: 1 });
    receive(store, [{ type: 'started', requestId: idOf('a'), queueWaitMs: 4, model }]);
    expect(rowOf(store, 'a')).toMatchObject({ status: 'running', queueWaitMs: 4 });
    receive(store, [{ type: 'echo', requestId: idOf('a'), index: 0, text: 'a:' }, chunk('a', ' x', 48)]);
    expect(rowOf(store, 'a')).toMatchObject({ generatedTexts: [' x'], ttftMs: 48, numOutputTokens: 1 });
    receive(store, [finished('a', ' x y')]);
    expect(rowOf(store, 'a')).toMatchObject({
      status: 'finished',
      generatedTexts: [' x y'],
      finishReason: 'length',
      seed: 7,
      numOutputTokens: 6,
      tokensPerSecond: 50,
    });
  });

  it('measure their live speed from the first token, which is not counted', () => {
    const { store } = createStore();
    receive(store, [submitted('a'), chunk('a', ' x', 900)], 1000);
    expect(rowOf(store, 'a')?.tokensPerSecond).toBeUndefined();
    receive(store, [chunk('a', ' y')], 1050);
    receive(store, [chunk('a', ' z')], 1100);
    expect(rowOf(store, 'a')?.tokensPerSecond).toBe(20);
  });

  it('leave the rows of others and the list as they were', () => {
    const { store } = createStore();
    receive(store, [submitted('a'), submitted('b')]);
    const requestIds = idsOf(store);
    const other = rowOf(store, 'b');
    receive(store, [chunk('a', ' x')]);
    expect(idsOf(store)).toEqual(requestIds);
    expect(rowOf(store, 'b')).toBe(other);
  });

  it('keep their text when cancelled, and their reason when failed', () => {
    const { store } = createStore();
    receive(store, [submitted('a'), submitted('b'), chunk('a', ' x')]);
    receive(store, [failed('a', 'REQUEST_CANCELLED'), failed('b', 'PROMPT_TOO_LONG')]);
    expect(rowOf(store, 'a')).toMatchObject({ status: 'cancelled', generatedTexts: [' x'] });
    expect(rowOf(store, 'a')?.error).toBeUndefined();
    expect(rowOf(store, 'b')).toMatchObject({ status: 'failed', error: { code: 'PROMPT_TOO_LONG' } });
  });

  it('are forgotten once over, and stay forgotten', () => {
    const { store } = createStore();
    receive(store, [
      submitted('a'),
      submitted('b'),
      submitted('c'),
      finished('a', ' x'),
      failed('b', 'CLOSED'),
    ]);
    clearFinished(store);
    receive(store, [chunk('a', ' late')]);
    expect(idsOf(store)).toEqual([idOf('c')]);
    receive(store, [submitted('d')]);
    expect(rowOf(store, 'd')?.ordinal).toBe(4);
  });
});

describe('a resubmitted request', () => {
  it('waits again, with the text and the speed that it has', () => {
    const { store } = createStore();
    receive(store, [submitted('a'), { type: 'started', requestId: idOf('a'), queueWaitMs: 4, model }], 0);
    receive(store, [chunk('a', ' x', 48), chunk('a', ' y')], 10);
    receive(store, [{ type: 'resubmitted', requestId: idOf('a') }]);
    expect(rowOf(store, 'a')).toMatchObject({
      status: 'waiting',
      generatedTexts: [' x y'],
      numOutputTokens: 2,
      ttftMs: 48,
    });
    receive(store, [chunk('a', ' z')], 20);
    expect(rowOf(store, 'a')).toMatchObject({ status: 'running', generatedTexts: [' x y z'], ttftMs: 48 });
  });
});

describe('requests of other tabs', () => {
  it('have rows of their own: whose, what for and how far, but no text and no number', () => {
    const { store } = createStore();
    observe(store, [activity('f', { numOutputTokens: 3 })]);
    expect(rowOf(store, 'f')).toEqual({
      id: idOf('f'),
      clientId: OTHER_TAB,
      status: 'running',
      prompt: 'f:',
      generatedTexts: [''],
      numOutputTokens: 3,
    });
    observe(store, [activity('h', { isHttp: true })]);
    expect(rowOf(store, 'h')).toMatchObject({ isHttp: true });
    receive(store, [submitted('a')]);
    expect(rowOf(store, 'a')?.ordinal).toBe(1);
    expect(idsOf(store)).toEqual([idOf('f'), idOf('h'), idOf('a')]);
  });

  it('go on to their end in the same row', () => {
    const { store } = createStore();
    observe(store, [activity('f', { state: 'waiting' }), activity('g', { state: 'waiting' })]);
    const requestIds = idsOf(store);
    observe(store, [activity('f', { numOutputTokens: 7 })]);
    expect(rowOf(store, 'f')).toMatchObject({ status: 'running', numOutputTokens: 7 });
    observe(store, [activity('f', { state: 'cancelled', numOutputTokens: 7 })]);
    expect(rowOf(store, 'f')).toMatchObject({ status: 'cancelled', numOutputTokens: 7 });
    expect(rowOf(store, 'g')?.status).toBe('waiting');
    expect(idsOf(store)).toEqual(requestIds);
  });

  it('are the text generator’s alone', () => {
    const { store } = createStore();
    observe(store, [activity('f', { deployment: 'adder' })]);
    expect(idsOf(store)).toEqual([]);
  });

  it('are what a snapshot says: what it leaves out is gone, what is over stays', () => {
    const { store } = createStore();
    receive(store, [submitted('own')]);
    observe(store, [activity('lost'), activity('kept'), activity('over', { state: 'finished' })]);
    observe(store, [activity('over')]);
    observe(store, [activity('over', { state: 'finished' })]);
    observe(store, [activity('kept', { numOutputTokens: 4 }), activity('new')], true);
    expect(idsOf(store).toSorted()).toEqual(['kept', 'new', 'over', 'own']);
    expect(rowOf(store, 'kept')?.numOutputTokens).toBe(4);
    expect(rowOf(store, 'own')).toMatchObject({ status: 'waiting', ordinal: 1 });
  });

  it('keep their places through a snapshot', () => {
    const { store } = createStore();
    observe(store, [activity('f')]);
    receive(store, [submitted('a')]);
    observe(store, [activity('f')], true);
    receive(store, [submitted('b')]);
    expect(idsOf(store)).toEqual(['f', 'a', 'b']);
  });

  it('that are over are kept up to 50, the oldest goes first; own ones and live ones all stay', () => {
    const { store } = createStore();
    receive(store, [submitted('own'), finished('own', ' x')]);
    observe(store, [activity('live')]);
    for (let index = 0; index < 52; index++) {
      observe(store, [activity(`f${index}`)]);
      observe(store, [activity(`f${index}`, { state: 'finished' })]);
    }
    const requestIds = idsOf(store);
    expect(requestIds.slice(0, 3)).toEqual(['own', 'live', 'f2']);
    expect(requestIds).toHaveLength(52);
  });

  it('are forgotten once over, and stay forgotten', () => {
    const { store } = createStore();
    observe(store, [activity('f'), activity('g')]);
    observe(store, [activity('f', { state: 'failed' })]);
    clearFinished(store);
    observe(store, [activity('f', { state: 'failed' })]);
    expect(idsOf(store)).toEqual([idOf('g')]);
  });

  it('are left out if they ended before this tab came', () => {
    const { store } = createStore();
    observe(store, [activity('f', { state: 'finished' })]);
    expect(idsOf(store)).toEqual([]);
  });

  it('leave the rows of this tab as they were', () => {
    const { store } = createStore();
    receive(store, [submitted('a')]);
    const own = rowOf(store, 'a');
    observe(store, [activity('f')], true);
    observe(store, [activity('f', { state: 'finished' })]);
    expect(rowOf(store, 'a')).toBe(own);
  });
});

describe('answers', () => {
  it('keep the order of the calls, whatever the order in which they come', () => {
    const { store } = createStore();
    receive(store, [asked('a', 0), asked('b', 1), asked('c', 2)], 100);
    receive(store, [answered('c', 3), answered('a', 1)], 305);
    expect(answersOf(store)).toMatchObject([
      { ordinal: 1, status: 'answered', input: 0, result: 1, clientLatencyMs: 205 },
      { ordinal: 2, status: 'waiting', input: 1 },
      { ordinal: 3, status: 'answered', input: 2, result: 3, clientLatencyMs: 205 },
    ]);
  });

  it('are no requests of the text generator, nor are its requests answers', () => {
    const { store } = createStore();
    receive(store, [asked('a', 0), submitted('t'), answered('a', 1), finished('t', ' x')]);
    expect(idsOf(store)).toEqual([idOf('t')]);
    expect(answersOf(store)).toHaveLength(1);
    expect(answersOf(store, 'text-generator')).toEqual([]);
  });

  it('distinguish a cancelled request from a failed one, which has its reason', () => {
    const { store } = createStore();
    receive(store, [asked('a', 0), asked('b', 'x')]);
    receive(store, [failed('a', 'REQUEST_CANCELLED'), failed('b', 'INVALID_OPTION')]);
    expect(answersOf(store)).toMatchObject([
      { status: 'cancelled' },
      { status: 'failed', error: { code: 'INVALID_OPTION' } },
    ]);
    expect(answersOf(store)[0]?.error).toBeUndefined();
  });

  it('leave other rows, other deployments and the list as they were', () => {
    const { store } = createStore();
    receive(store, [asked('a', 0), asked('b', 1), asked('h', [], 'house-price')]);
    const before = store.getState().answers;
    receive(store, [answered('a', 1)]);
    const after = store.getState().answers;
    expect(after.get(idOf('h'))).toBe(before.get(idOf('h')));
    expect(after.get(idOf('b'))).toBe(before.get(idOf('b')));
    expect([...after.keys()]).toEqual([...before.keys()]);
    receive(store, [chunk('nobody', ' x')]);
    expect(store.getState().answers).toEqual(after);
  });

  it('are forgotten once settled, by deployment, and stay forgotten; the count goes on', () => {
    const { store } = createStore();
    receive(store, [asked('a', 0), asked('b', 1), answered('a', 1), asked('h', [], 'house-price')]);
    receive(store, [answered('h', 9)]);
    clearAnswers(store, 'adder');
    receive(store, [answered('a', 1), asked('c', 2)]);
    expect(answersOf(store).map((answer) => answer?.ordinal)).toEqual([2, 3]);
    expect(answersOf(store, 'house-price')).toHaveLength(1);
  });

  it('are bounded: the oldest row goes first', () => {
    const { store } = createStore();
    receive(
      store,
      Array.from({ length: 510 }, (_, index) => asked(`a${index}`, index)),
    );
    expect(answersOf(store)).toHaveLength(500);
    expect(answersOf(store)[0]).toMatchObject({ ordinal: 11, input: 10 });
  });
});

describe('batches', () => {
  it('are kept by deployment with the time of their arrival, the last twenty of each', () => {
    const { store } = createStore();
    applyEvents(store, [
      ...Array.from({ length: 23 }, (_, index) => ({
        type: 'batch' as const,
        batch: createBatch({ batchIndex: index }),
        receivedAtMs: 1000 + index,
      })),
      { type: 'batch', batch: createBatch({ deployment: 'house-price' }), receivedAtMs: 7 },
    ]);
    const { batches } = store.getState();
    expect(batches.get('adder')).toHaveLength(20);
    expect(batches.get('adder')?.at(-1)).toMatchObject({ batchIndex: 22, endedAtMs: 1022, reason: 'full' });
    expect(batches.get('house-price')).toMatchObject([{ batchIndex: 0, endedAtMs: 7 }]);
  });
});

describe('a batch', () => {
  it.each([
    [1, true],
    [2, false],
  ])('of a deployment with %d slots ran alone: %s', (maxConcurrentBatches, ranAlone) => {
    const { store } = createStore();
    const knobs = { maxBatchSize: 4, batchWaitTimeoutMs: 0, maxConcurrentBatches };
    applyEvents(store, [
      { type: 'status', status: { ...STATUS, deployments: [{ name: 'adder', knobs }] }, receivedAtMs: 0 },
      { type: 'batch', batch: createBatch(), receivedAtMs: 0 },
    ]);
    expect(store.getState().batches.get('adder')).toMatchObject([{ ranAlone }]);
  });
});

describe('stats', () => {
  it('put decode and prefill steps in columns of their own', () => {
    const { store } = createStore();
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
    const { store } = createStore();
    const idle = statsOf([], { numRunning: 0, numWaiting: 0, tokensPerSecond: 0 });
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'stats', stats: idle, receivedAtMs: 2000 },
    ]);
    expect(store.getState().figures).toMatchObject({ lastBatchSize: 0, tokensPerSecond: 0 });
  });

  it('of an engine that failed say that nothing runs', () => {
    const { store } = createStore();
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'status', status: createStatus({ state: 'failed' }), receivedAtMs: 0 },
    ]);
    const idle = { numRunning: 0, numWaiting: 0, tokensPerSecond: 0, lastBatchSize: 0 };
    expect(store.getState().figures).toMatchObject(idle);
  });

  it('keep the last batch size while requests wait for a step', () => {
    const { store } = createStore();
    applyEvents(store, [
      { type: 'stats', stats: statsOf([createStep(0, 'decode', 5)]), receivedAtMs: 0 },
      { type: 'stats', stats: statsOf([]), receivedAtMs: 100 },
    ]);
    expect(store.getState().figures?.lastBatchSize).toBe(5);
  });
});
