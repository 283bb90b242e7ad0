import { createStore, type StoreApi } from 'zustand/vanilla';
import {
  END_TYPES,
  TEXT_GENERATOR,
  type BatchingPolicy,
  type BatchKnobs,
  type BatchRecord,
  type RequestId,
  type TabserveClient,
  type TabserveStats,
  type TabserveStatus,
} from '../../client/index.ts';
import { appendBatches, type BatchViews, type ReceivedBatch } from './batch-view.ts';
import { canGenerate } from './can-generate.ts';
import { ChartHistory, type RecordedMessage } from './chart-history.ts';
import { updateHandover, type Handover } from './handover.ts';
import { isActive, updateTables, type RequestsEvent, type RequestTables } from './request-view.ts';
import { latencyReader, type RunLatencies } from './run-summary.ts';
import { isOver, latestRun, updateRuns, type Experiment, type Run, type Runs } from './run.ts';
import { frames } from '../drawing/frame-scheduler.ts';

/** A message of a client's topic, with the time of receipt on this tab's clock. */
export type ServeEvent =
  | { readonly type: 'status'; readonly status: TabserveStatus; readonly receivedAtMs: number }
  | { readonly type: 'stats'; readonly stats: TabserveStats; readonly receivedAtMs: number }
  | { readonly type: 'batch'; readonly batch: BatchRecord; readonly receivedAtMs: number }
  | RequestsEvent;

/** The latest numbers. The steps are in the history. */
export interface Figures extends Omit<TabserveStats, 'steps'> {
  readonly lastBatchSize: number;
}

export interface ServeView extends RequestTables {
  readonly status: TabserveStatus;
  /** Undefined until the first step. */
  readonly figures: Figures | undefined;
  /** Counts the changes of the store's history. */
  readonly historyRevision: number;
  readonly batches: BatchViews;
  readonly runs: Runs;
  readonly handover: Handover | undefined;
}

/** Holds the view, which is a value, and beside it what changes in place. */
export interface ServeStore extends StoreApi<ServeView> {
  /** The steps and samples so far, too many to copy at each message. */
  readonly history: ChartHistory;
  /** Requests whose texts aren't shown. Add each before its request is submitted, or right after. */
  readonly experiments: Map<RequestId, Experiment>;
  /** Applies the event in the next frame, or within a second where it can wait. */
  readonly receive: (event: ServeEvent, canWait?: boolean) => void;
  /** Applies the events that wait for a frame. */
  readonly applyPending: () => void;
}

/** The view together with the history, for charts and slots. */
export interface RecordedView extends ServeView {
  readonly history: ChartHistory;
}

export function recordedView(store: ServeStore): RecordedView {
  return { ...store.getState(), history: store.history };
}

/** Creates the store that follows all topics of `serve` for the life of the page. It changes at most once per frame. */
export function connectStore(serve: TabserveClient): ServeStore {
  const store = createServeStore(serve.status());
  const { receive } = store;
  serve.subscribe('status', (status) => receive({ type: 'status', status, receivedAtMs: performance.now() }));
  /** Running requests of this tab. Without any, updates of other tabs can wait. */
  const own = new Set<RequestId>();
  /** A request of this tab has ended since the last stats, so the next stats have its last step. */
  let hasOwnEnd = false;
  serve.subscribe('stats', (stats) => {
    // The last step of a run is shown at once, whoever sent it.
    const isIdle = stats.numRunning + stats.numWaiting === 0;
    receive(
      { type: 'stats', stats, receivedAtMs: performance.now() },
      own.size === 0 && !hasOwnEnd && !isIdle,
    );
    hasOwnEnd = false;
  });
  serve.subscribe('batch', (batch) => receive({ type: 'batch', batch, receivedAtMs: performance.now() }));
  serve.subscribe('requests', (updates) => {
    for (const { type, requestId } of updates) {
      if (type === 'submitted') own.add(requestId);
      else if (END_TYPES.has(type)) hasOwnEnd = own.delete(requestId) || hasOwnEnd;
    }
    receive({ type: 'requests', updates, receivedAtMs: performance.now() });
  });
  serve.subscribe('activity', (activity) => {
    const goesOn = activity.requests.some(({ state }) => isActive(state));
    receive({ type: 'activity', activity }, own.size === 0 && goesOn);
  });
  return store;
}

export function createServeStore(status: TabserveStatus): ServeStore {
  const pending = createPendingEvents<ServeEvent>((events) => applyEvents(store, events));
  const store: ServeStore = {
    ...createStore<ServeView>(() => ({
      status,
      figures: undefined,
      historyRevision: 0,
      batches: new Map(),
      runs: {},
      handover: undefined,
      requests: new Map(),
      answers: new Map(),
      numSubmitted: new Map(),
    })),
    history: new ChartHistory(),
    experiments: new Map(),
    receive: pending.push,
    applyPending: pending.apply,
  };
  return store;
}

/** Applies the events of a frame as one change, so that they cost one render. */
export function applyEvents(
  store: ServeStore,
  events: readonly ServeEvent[],
  nowMs = performance.now(),
): void {
  const before = store.getState();
  const { history, experiments } = store;
  const requestEvents = events.filter((event) => event.type === 'requests' || event.type === 'activity');
  const after = updateTables(before, requestEvents, experiments);
  const { messages, ...latest } = readEvents(store, events);
  const runs = updateRuns(before.runs, {
    events: requestEvents,
    bars: history.slots.bars,
    modelId: latest.status.model?.id,
    before,
    after,
    experiments,
    nowMs,
  });
  history.slots.nameOwners(after.requests, runs.prompts?.senders);
  const run = latestRun(runs);
  if (run?.requestIds[0] !== latestRun(before.runs)?.requestIds[0]) history.slots.adjustClock();
  const isServer = latest.status.backend?.name === 'server';
  let latenciesAt: ReturnType<typeof latencyReader> | undefined;
  for (const message of messages)
    history.sample(message, () => {
      if (!run || isServer) return latenciesIn(message.stats);
      latenciesAt ??= latencyReader(run, { ...after, history });
      return latenciesAt(message.sentAtMs);
    });
  store.setState({
    ...latest,
    ...after,
    runs,
    handover: updateHandover(before, events),
  });
}

/** The worker's own: a server reports no steps. */
function latenciesIn({ ttftMs, itlMs, queueWaitMs, e2eMs }: TabserveStats): RunLatencies {
  return { ttftMs, itlMs, queueWaitMs, e2eMs };
}

/** Records steps, and finds what else the events change. */
function readEvents({ getState, history }: ServeStore, events: readonly ServeEvent[]) {
  let { status, figures, historyRevision } = getState();
  const batches: ReceivedBatch[] = [];
  const messages: RecordedMessage[] = [];
  for (const event of events) {
    if (event.type === 'status') {
      const wasReady = status.state === 'ready';
      ({ status } = event);
      history.recordPolicy(status.policy.policy, event.receivedAtMs);
      if (wasReady && status.state !== 'ready') history.slots.loseWorker();
      if (!canGenerate(status.state)) figures = idleFigures(figures);
    } else if (event.type === 'stats') {
      const { stats, receivedAtMs } = event;
      const sentAtMs = history.slots.record(stats, receivedAtMs);
      figures = latestFigures(stats, figures);
      historyRevision += 1;
      messages.push({ stats, sentAtMs, maxBatchSize: status.policy.maxBatchSize });
    } else if (event.type === 'batch') {
      batches.push(event);
    }
  }
  return {
    status,
    figures,
    historyRevision,
    messages,
    batches: appendBatches(getState().batches, batches, status.deployments),
  };
}

/** The next request begins a run of its own, unless a run lasts. */
export function closeRun(store: ServeStore): void {
  // The event that ended the previous run may still wait for a frame.
  store.applyPending();
  store.setState(({ runs, requests }) => ({
    runs: {
      ...runs,
      prompts: runs.prompts && closed(runs.prompts, { requests }),
      experiment: runs.experiment && closed(runs.experiment, { requests }),
    },
  }));
}

/** Charts and figures are of the texts' run again, after the trials of a comparison or a load test. */
export function showPrompts(store: ServeStore): void {
  store.setState(({ runs: { prompts, own } }) => ({ runs: { prompts, own } }));
}

function closed(run: Run, tables: Pick<RequestTables, 'requests'>): Run {
  return isOver(run, tables) ? { ...run, isClosed: true } : run;
}

/** Drops the requests that are over and keeps those that wait or run. */
export function clearFinished(store: ServeStore): void {
  // A request that has just ended may still wait for a frame.
  store.applyPending();
  store.setState(({ requests }) => ({
    requests: new Map([...requests].filter(([, { status }]) => isActive(status))),
  }));
}

export function clearAnswers(store: ServeStore, deployment: string): void {
  store.setState(({ answers }) => ({
    answers: new Map(
      [...answers].filter(([, answer]) => answer.deployment !== deployment || answer.status === 'waiting'),
    ),
  }));
}

/** Changes the users' own policy and shows it at once; rejects with the refusal. */
export async function configurePolicy(
  serve: TabserveClient,
  store: ServeStore,
  knobs: Partial<BatchingPolicy>,
): Promise<void> {
  const policy = await serve.configure(TEXT_GENERATOR, knobs);
  store.setState(({ status }) => ({ status: withBasePolicy(status, policy) }));
}

export async function configureDeployment(
  serve: TabserveClient,
  store: ServeStore,
  name: string,
  change: Partial<BatchKnobs>,
): Promise<void> {
  const knobs = await serve.configure(name, change);
  store.setState(({ status }) => {
    const deployments = status.deployments.map((info) => (info.name === name ? { name, knobs } : info));
    return { status: { ...status, deployments } };
  });
}

/** The users' own policy, which a load test may override for a while. The policy panel shows and changes this one. */
export function basePolicyOf({ override, policy }: TabserveStatus): BatchingPolicy {
  return override?.basePolicy ?? policy;
}

function withBasePolicy(status: TabserveStatus, policy: BatchingPolicy): TabserveStatus {
  if (!status.override) return { ...status, policy };
  return { ...status, override: { ...status.override, basePolicy: policy } };
}

/** Without a step in the message, the last batch size stays. It is 0 while the engine is idle. */
function latestFigures({ steps, ...stats }: TabserveStats, previous: Figures | undefined): Figures {
  const isIdle = stats.numRunning + stats.numWaiting === 0;
  const before = isIdle ? 0 : (previous?.lastBatchSize ?? 0);
  return { ...stats, lastBatchSize: steps.at(-1)?.batchSize ?? before };
}

/** The figures of an engine that is gone. */
function idleFigures(figures: Figures | undefined): Figures | undefined {
  return figures && { ...figures, numRunning: 0, numWaiting: 0, tokensPerSecond: 0, lastBatchSize: 0 };
}

/** The longest time that an event waits where it can, ms. */
const MAX_WAIT_MS = 1000;

/**
 * Applies events together, in order and at most once per frame. Events that can wait are applied with the next one that can't, or
 * after a second, so that an idle tab costs little. A hidden tab gets no frames: there each event is applied at once.
 */
export function createPendingEvents<Event>(applyAll: (events: readonly Event[]) => void) {
  let pending: Event[] = [];
  let isWaiting = false;

  const apply = (): void => {
    const events = pending;
    pending = [];
    if (events.length > 0) applyAll(events);
  };

  const endWait = (): void => {
    isWaiting = false;
    if (pending.length > 0) frames.request(apply);
  };

  const push = (event: Event, canWait = false): void => {
    pending.push(event);
    if (document.hidden) {
      apply();
    } else if (!canWait) {
      frames.request(apply);
    } else if (!isWaiting) {
      isWaiting = true;
      setTimeout(endWait, MAX_WAIT_MS);
    }
  };

  return { push, apply };
}
