import { createStore } from 'zustand/vanilla';
import type { StoreApi } from 'zustand/vanilla';

import type { RequestId, RequestUpdate, ServeStats, ServeStatus } from '../../worker/protocol.ts';
import type { ChartHistory } from './chart-history.ts';
import { createRequestView, isActive, updateRequestView } from './request-view.ts';
import type { RequestView } from './request-view.ts';

/** What the client's topics bring, with the time of receipt on this tab's clock. */
export type ServeEvent =
  | { readonly type: 'status'; readonly status: ServeStatus }
  | { readonly type: 'stats'; readonly stats: ServeStats; readonly receivedAtMs: number }
  | { readonly type: 'requests'; readonly updates: readonly RequestUpdate[]; readonly receivedAtMs: number };

/** The latest numbers, without the steps: those go to the charts. */
export interface Figures extends Omit<ServeStats, 'steps'> {
  readonly lastBatchSize: number;
}

interface RequestTable {
  readonly requests: ReadonlyMap<RequestId, RequestView>;
  /** In submission order. */
  readonly requestIds: readonly RequestId[];
  readonly numSubmitted: number;
}

export interface ServeView extends RequestTable {
  readonly status: ServeStatus;
  /** Undefined until the first step. */
  readonly figures: Figures | undefined;
  readonly history: ChartHistory;
  /** Counts the changes of `history`, which is mutable. */
  readonly historyRevision: number;
}

export type ServeStore = StoreApi<ServeView>;

export function createServeStore(status: ServeStatus, history: ChartHistory): ServeStore {
  return createStore<ServeView>(() => ({
    status,
    figures: undefined,
    history,
    historyRevision: 0,
    requests: new Map(),
    requestIds: [],
    numSubmitted: 0,
  }));
}

/** Applies all events of a frame as one change: one notification, one render. */
export function applyEvents(store: ServeStore, events: readonly ServeEvent[]): void {
  store.setState((view) => {
    let { status, figures, historyRevision } = view;
    for (const event of events) {
      if (event.type === 'status') {
        status = event.status;
      } else if (event.type === 'stats') {
        view.history.record(event.stats, event.receivedAtMs);
        figures = latestFigures(event.stats, figures);
        historyRevision += 1;
      }
    }
    return { status, figures, historyRevision, ...updateRequestTable(view, events) };
  });
}

/** Forgets the requests that are over; those that wait or run stay. */
export function clearFinished(store: ServeStore): void {
  store.setState(({ requests }) => {
    const active = new Map([...requests].filter(([, request]) => isActive(request.status)));
    return { requests: active, requestIds: [...active.keys()] };
  });
}

function latestFigures({ steps, ...stats }: ServeStats, previous: Figures | undefined): Figures {
  return { ...stats, lastBatchSize: steps.at(-1)?.batchSize ?? previous?.lastBatchSize ?? 0 };
}

function updateRequestTable(table: RequestTable, events: readonly ServeEvent[]): RequestTable {
  const requestEvents = events.filter((event) => event.type === 'requests');
  let { requests: previous, requestIds, numSubmitted } = table;
  if (requestEvents.length === 0) return { requests: previous, requestIds, numSubmitted };
  const requests = new Map(previous);
  for (const { updates, receivedAtMs } of requestEvents) {
    for (const update of updates) {
      const request = requests.get(update.requestId);
      if (update.type !== 'submitted') {
        // No request: its row was cleared, and what is over gets no further update worth a row.
        if (request) requests.set(request.id, updateRequestView(request, update, receivedAtMs));
      } else if (!request) {
        numSubmitted += 1;
        requests.set(update.requestId, createRequestView(update, numSubmitted));
      }
    }
  }
  // Rows keep their identity through a stream, so the list does not render again for a token.
  if (numSubmitted > table.numSubmitted) requestIds = [...requests.keys()];
  return { requests, requestIds, numSubmitted };
}
