import { createStore } from 'zustand/vanilla';
import type { StoreApi } from 'zustand/vanilla';

import type { BatchRecord, RequestId, ServeStats, ServeStatus } from '../../client/index.ts';
import { appendBatches, type BatchViews } from './batch-view.ts';
import { canGenerate } from './can-generate.ts';
import type { ChartHistory } from './chart-history.ts';
import { updateTables, type RequestsEvent, type RequestTables } from './request-tables.ts';
import { isActive } from './request-view.ts';
import { updateRuns, type Runs } from './run.ts';

/** A message of a client's topic, with the time of receipt on this tab's clock. */
export type ServeEvent =
  | { readonly type: 'status'; readonly status: ServeStatus; readonly receivedAtMs: number }
  | { readonly type: 'stats'; readonly stats: ServeStats; readonly receivedAtMs: number }
  | { readonly type: 'batch'; readonly batch: BatchRecord; readonly receivedAtMs: number }
  | RequestsEvent;

/** The latest numbers. The steps are in the history. */
export interface Figures extends Omit<ServeStats, 'steps'> {
  readonly lastBatchSize: number;
}

export interface ServeView extends RequestTables {
  readonly status: ServeStatus;
  /** Undefined until the first step. */
  readonly figures: Figures | undefined;
  readonly history: ChartHistory;
  /** Counts the changes of `history`, which is mutable. */
  readonly historyRevision: number;
  readonly batches: BatchViews;
  readonly runs: Runs;
  /** Requests of load tests and comparisons. Mutable: add each before its request is submitted, or right after. */
  readonly experimentIds: Set<RequestId>;
  /** Applies the events that wait for a frame. */
  readonly applyPending: () => void;
}

export type ServeStore = StoreApi<ServeView>;

export function createServeStore(status: ServeStatus, history: ChartHistory): ServeStore {
  return createStore<ServeView>(() => ({
    status,
    figures: undefined,
    history,
    historyRevision: 0,
    batches: new Map(),
    runs: {},
    experimentIds: new Set(),
    applyPending: () => {},
    requests: new Map(),
    answers: new Map(),
    numSubmitted: new Map(),
  }));
}

/** Applies the events of a frame as one change, so that they cost one render. */
export function applyEvents(
  store: ServeStore,
  events: readonly ServeEvent[],
  nowMs = performance.now(),
): void {
  store.setState((view) => {
    let { status, figures, historyRevision } = view;
    for (const event of events) {
      if (event.type === 'status') {
        status = event.status;
        view.history.recordPolicy(status.policy.policy, event.receivedAtMs);
        if (!canGenerate(status.state)) figures = figuresAtRest(figures);
      } else if (event.type === 'stats') {
        view.history.record(event.stats, event.receivedAtMs, status.policy.maxBatchSize);
        figures = latestFigures(event.stats, figures);
        historyRevision += 1;
      }
    }
    const tableEvents = events.filter((event) => event.type === 'requests' || event.type === 'activity');
    const batchEvents = events.filter((event) => event.type === 'batch');
    const tables = updateTables(view, tableEvents);
    view.history.slots.nameOwners(tables.requests);
    const slotSpans = events.flatMap((event) =>
      event.type === 'stats'
        ? event.stats.slotSpans.map((slotSpan) => ({ slotSpan, receivedAtMs: event.receivedAtMs }))
        : [],
    );
    const { experimentIds } = view;
    return {
      runs: updateRuns(view.runs, {
        events: tableEvents,
        slotSpans,
        before: view,
        after: tables,
        experimentIds,
        nowMs,
      }),
      status,
      figures,
      historyRevision,
      ...tables,
      batches: appendBatches(view.batches, batchEvents, status.deployments),
    };
  });
}

/** What is submitted next begins a run of its own, unless one lasts. */
export function closeRun(store: ServeStore): void {
  // The event that ended the previous run may still wait for a frame.
  store.getState().applyPending();
  store.setState(({ runs }) => {
    const { prompts } = runs;
    return prompts?.endedAtMs === undefined
      ? {}
      : { runs: { ...runs, prompts: { ...prompts, isClosed: true } } };
  });
}

/** Drops the requests that are over; those that wait or run stay. */
export function clearFinished(store: ServeStore): void {
  // A request that has just ended may still wait for a frame.
  store.getState().applyPending();
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

/** Without a step in the message, the last batch size stays; at rest it is 0. */
function latestFigures({ steps, ...stats }: ServeStats, previous: Figures | undefined): Figures {
  const isAtRest = stats.numRunning + stats.numWaiting === 0;
  const before = isAtRest ? 0 : (previous?.lastBatchSize ?? 0);
  return { ...stats, lastBatchSize: steps.at(-1)?.batchSize ?? before };
}

/** The figures of an engine that is gone. */
function figuresAtRest(figures: Figures | undefined): Figures | undefined {
  return figures && { ...figures, numRunning: 0, numWaiting: 0, tokensPerSecond: 0, lastBatchSize: 0 };
}
