import { createStore } from 'zustand/vanilla';
import type { StoreApi } from 'zustand/vanilla';

import type { Activity, ClientUpdate } from '../../worker/client/client.ts';
import { TEXT_GENERATOR } from '../../worker/protocol/generation.ts';
import type { BatchRecord, ServeStats } from '../../worker/protocol/stats.ts';
import type { RequestId } from '../../worker/protocol/ids.ts';
import type { ServeStatus } from '../../worker/protocol/status.ts';
import { updateAnswers, type AnswerTable } from './answer-table.ts';
import { appendBatches, type BatchViews } from './batch-view.ts';
import { canGenerate } from './can-generate.ts';
import type { ChartHistory } from './chart-history.ts';
import { removeOldest, removeWhere } from './remove-rows.ts';
import {
  createRequestView,
  foreignRequestView,
  isActive,
  updateRequestView,
  type RequestView,
} from './request-view.ts';

/** A message of a client's topic, with the time of receipt on this tab's clock. */
export type ServeEvent =
  | { readonly type: 'status'; readonly status: ServeStatus }
  | { readonly type: 'stats'; readonly stats: ServeStats; readonly receivedAtMs: number }
  | { readonly type: 'batch'; readonly batch: BatchRecord; readonly receivedAtMs: number }
  | { readonly type: 'activity'; readonly activity: Activity }
  | { readonly type: 'requests'; readonly updates: readonly ClientUpdate[]; readonly receivedAtMs: number };

type RequestsEvent = Extract<ServeEvent, { type: 'requests' }>;
type TableEvent = Extract<ServeEvent, { type: 'requests' | 'activity' }>;

/** The latest numbers. The steps are in the history. */
export interface Figures extends Omit<ServeStats, 'steps'> {
  readonly lastBatchSize: number;
}

/** The text generator's requests, those of other tabs included. */
interface RequestTable {
  readonly requests: ReadonlyMap<RequestId, RequestView>;
  readonly numSubmitted: number;
}

export interface ServeView extends RequestTable, AnswerTable {
  readonly status: ServeStatus;
  /** Undefined until the first step. */
  readonly figures: Figures | undefined;
  readonly history: ChartHistory;
  /** Counts the changes of `history`, which is mutable. */
  readonly historyRevision: number;
  readonly batches: BatchViews;
}

export type ServeStore = StoreApi<ServeView>;

export function createServeStore(status: ServeStatus, history: ChartHistory): ServeStore {
  return createStore<ServeView>(() => ({
    status,
    figures: undefined,
    history,
    historyRevision: 0,
    answers: new Map(),
    numAsked: new Map(),
    batches: new Map(),
    requests: new Map(),
    numSubmitted: 0,
  }));
}

/** Applies the events of a frame as one change, so that they cost one render. */
export function applyEvents(store: ServeStore, events: readonly ServeEvent[]): void {
  store.setState((view) => {
    let { status, figures, historyRevision } = view;
    for (const event of events) {
      if (event.type === 'status') {
        status = event.status;
        if (!canGenerate(status.state)) figures = figuresAtRest(figures);
      } else if (event.type === 'stats') {
        view.history.record(event.stats, event.receivedAtMs, status.policy.maxBatchSize);
        figures = latestFigures(event.stats, figures);
        historyRevision += 1;
      }
    }
    const requestEvents = events.filter((event) => event.type === 'requests');
    const tableEvents = events.filter((event) => event.type === 'requests' || event.type === 'activity');
    const batchEvents = events.filter((event) => event.type === 'batch');
    const table = updateRequestTable(view, tableEvents);
    view.history.slots.nameOwners(table.requests);
    return {
      status,
      figures,
      historyRevision,
      ...table,
      ...updateAnswers(view, requestEvents),
      batches: appendBatches(view.batches, batchEvents, status.deployments),
    };
  });
}

/** Drops the requests that are over; those that wait or run stay. */
export function clearFinished(store: ServeStore): void {
  store.setState(({ requests }) => ({
    requests: new Map([...requests].filter(([, { status }]) => isActive(status))),
  }));
}

export function clearAnswers(store: ServeStore, deployment: string): void {
  store.setState(({ answers }) => {
    const kept = new Map(answers);
    removeWhere(kept, (answer) => answer.deployment === deployment && answer.status !== 'waiting');
    return { answers: kept };
  });
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

function updateRequestTable(
  { requests, numSubmitted }: RequestTable,
  events: readonly TableEvent[],
): RequestTable {
  if (events.length === 0) return { requests, numSubmitted };
  const draft = { requests: new Map(requests), numSubmitted };
  for (const event of events) {
    if (event.type === 'requests') applyUpdates(draft, event);
    else applyActivity(draft.requests, event.activity);
  }
  removeOldest(draft.requests, ({ status }) => !isActive(status), MAX_OVER);
  return draft;
}

function applyUpdates(
  table: { readonly requests: Map<RequestId, RequestView>; numSubmitted: number },
  { updates, receivedAtMs }: RequestsEvent,
): void {
  const { requests } = table;
  for (const update of updates) {
    const request = requests.get(update.requestId);
    if (update.type !== 'submitted') {
      // An unknown request is another deployment's, or its row was cleared.
      if (request) requests.set(request.id, updateRequestView(request, update, receivedAtMs));
    } else if (!request && update.deployment === TEXT_GENERATOR) {
      table.numSubmitted += 1;
      requests.set(update.requestId, createRequestView(update, table.numSubmitted));
    }
  }
}

/** The most rows of requests that are over; thousands would be slow. */
const MAX_OVER = 300;

/** The most rows of other tabs' requests that are over, so that a busy tab doesn't fill every list. */
const MAX_FOREIGN_OVER = 50;

function applyActivity(
  requests: Map<RequestId, RequestView>,
  { isSnapshot, requests: changed }: Activity,
): void {
  if (isSnapshot) {
    const live = new Set(changed.map(({ requestId }) => requestId));
    removeWhere(
      requests,
      ({ id, clientId, status }) => clientId !== undefined && isActive(status) && !live.has(id),
    );
  }
  for (const activity of changed) {
    if (activity.deployment !== TEXT_GENERATOR) continue;
    // An ended request that isn't in the list was cleared.
    if (requests.has(activity.requestId) || isActive(activity.state))
      requests.set(activity.requestId, foreignRequestView(activity));
  }
  removeOldest(requests, isForeignOver, MAX_FOREIGN_OVER);
}

function isForeignOver({ clientId, status }: RequestView): boolean {
  return clientId !== undefined && !isActive(status);
}
