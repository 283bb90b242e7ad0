import { TEXT_GENERATOR, type Activity, type ClientUpdate, type RequestId } from '../../client/index.ts';
import { createAnswerView, updateAnswerView, type AnswerView } from './answer-view.ts';
import { isEncoder } from './is-encoder.ts';
import {
  createRequestView,
  foreignRequestView,
  isActive,
  updateRequestView,
  type RequestView,
} from './request-view.ts';

/** Rows are in the order of submission. */
export interface RequestTables {
  /** The text generator's requests, those of other tabs included. */
  readonly requests: ReadonlyMap<RequestId, RequestView>;
  /** This tab's requests to all other deployments but the encoders, whose answers are large. */
  readonly answers: ReadonlyMap<RequestId, AnswerView>;
  /** This tab's requests so far by deployment, also those whose rows are gone. */
  readonly numSubmitted: ReadonlyMap<string, number>;
}

/** Messages of topics of a client, with the time of receipt on this tab's clock. */
export type RequestsEvent =
  | { readonly type: 'activity'; readonly activity: Activity }
  | { readonly type: 'requests'; readonly updates: readonly ClientUpdate[]; readonly receivedAtMs: number };

interface Draft {
  readonly requests: Map<RequestId, RequestView>;
  readonly answers: Map<RequestId, AnswerView>;
  readonly numSubmitted: Map<string, number>;
}

/** The most answers of a deployment; a page may stay open for days. */
const MAX_KEPT_ANSWERS = 500;

/** The most rows of requests that are over, and likewise of load tests and comparisons; thousands would be slow. */
const MAX_OVER = 300;

/** The most rows of other tabs' requests that are over, so that a busy tab doesn't fill every list. */
const MAX_FOREIGN_OVER = 50;

export function updateTables(
  { requests, answers, numSubmitted }: RequestTables,
  events: readonly RequestsEvent[],
  experiments: ReadonlyMap<RequestId, unknown>,
): RequestTables {
  if (events.length === 0) return { requests, answers, numSubmitted };
  const draft: Draft = {
    requests: new Map(requests),
    answers: new Map(answers),
    numSubmitted: new Map(numSubmitted),
  };
  for (const event of events) {
    if (event.type === 'activity') applyActivity(draft.requests, event.activity);
    else for (const update of event.updates) applyUpdate(draft, update, event.receivedAtMs);
  }
  // A load test takes no text of the run before it away.
  for (const isExperiment of [false, true])
    removeOldest(
      draft.requests,
      ({ id, status }) => !isActive(status) && experiments.has(id) === isExperiment,
      MAX_OVER,
    );
  for (const name of draft.numSubmitted.keys())
    removeOldest(draft.answers, ({ deployment }) => deployment === name, MAX_KEPT_ANSWERS);
  return draft;
}

/** Does nothing for an unknown request, whose row was cleared. */
function applyUpdate(
  { requests, answers, numSubmitted }: Draft,
  update: ClientUpdate,
  receivedAtMs: number,
): void {
  const { requestId } = update;
  const [request, answer] = [requests.get(requestId), answers.get(requestId)];
  if (update.type !== 'submitted') {
    if (request) requests.set(requestId, updateRequestView(request, update, receivedAtMs));
    if (answer) answers.set(requestId, updateAnswerView(answer, update, receivedAtMs));
  } else if (!request && !answer && !isEncoder(update.deployment)) {
    const ordinal = (numSubmitted.get(update.deployment) ?? 0) + 1;
    numSubmitted.set(update.deployment, ordinal);
    if (update.deployment === TEXT_GENERATOR) requests.set(requestId, createRequestView(update, ordinal));
    else answers.set(requestId, createAnswerView(update, ordinal, receivedAtMs));
  }
}

function applyActivity(
  requests: Map<RequestId, RequestView>,
  { isSnapshot, requests: changed }: Activity,
): void {
  if (isSnapshot) {
    const live = new Set(changed.map(({ requestId }) => requestId));
    // The next worker knows nothing of them: their tab is gone, or will send them again.
    for (const [id, row] of requests)
      if (row.sender !== undefined && isActive(row.status) && !live.has(id))
        requests.set(id, { ...row, status: 'cancelled' });
  }
  for (const activity of changed) {
    if (activity.deployment !== TEXT_GENERATOR) continue;
    // An ended request that isn't in the list was cleared.
    if (requests.has(activity.requestId) || isActive(activity.state))
      requests.set(activity.requestId, foreignRequestView(activity));
  }
  removeOldest(requests, isForeignOver, MAX_FOREIGN_OVER);
}

function isForeignOver({ sender, status }: RequestView): boolean {
  return sender !== undefined && !isActive(status);
}

/** Keeps the newest `maxKept` rows of a kind. */
function removeOldest<Id, Row>(rows: Map<Id, Row>, isOfKind: (row: Row) => boolean, maxKept: number): void {
  let numTooMany = -maxKept;
  for (const row of rows.values()) if (isOfKind(row)) numTooMany += 1;
  if (numTooMany > 0) removeWhere(rows, (row) => isOfKind(row) && numTooMany-- > 0);
}

function removeWhere<Id, Row>(rows: Map<Id, Row>, isRemoved: (row: Row) => boolean): void {
  for (const [id, row] of rows) if (isRemoved(row)) rows.delete(id);
}
