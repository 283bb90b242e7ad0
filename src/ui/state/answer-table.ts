import type { ClientUpdate } from '../../worker/client/client.ts';
import { TEXT_GENERATOR } from '../../worker/protocol/generation.ts';
import type { RequestId } from '../../worker/protocol/ids.ts';
import type { WireError } from '../../worker/protocol/wire.ts';
import { removeOldest } from './remove-rows.ts';

export type AnswerStatus = 'waiting' | 'answered' | 'cancelled' | 'failed';

/** A request to a deployment other than the text generator. Times are on this tab's clock. */
export interface AnswerView {
  readonly id: RequestId;
  readonly deployment: string;
  /** 1 for the first request of this page to its deployment. */
  readonly ordinal: number;
  readonly status: AnswerStatus;
  readonly input: unknown;
  readonly submittedAtMs: number;
  readonly result?: unknown;
  /** From submission to settlement in this tab, with the way to the worker and back. */
  readonly clientLatencyMs?: number;
  readonly error?: WireError;
}

export interface AnswerTable {
  /** Of all deployments, in the order of submission. */
  readonly answers: ReadonlyMap<RequestId, AnswerView>;
  /** The requests so far, by deployment, also those whose rows are gone. */
  readonly numAsked: ReadonlyMap<string, number>;
}

export interface ReceivedUpdates {
  readonly updates: readonly ClientUpdate[];
  readonly receivedAtMs: number;
}

type SubmittedUpdate = Extract<ClientUpdate, { type: 'submitted' }>;

/** Per deployment; a page may stay open for days. */
const MAX_KEPT_ANSWERS = 500;

/** Applies the updates of a frame. Without news of answers, the table stays the same. */
export function updateAnswers(
  { answers: previous, numAsked: previouslyAsked }: AnswerTable,
  events: readonly ReceivedUpdates[],
): AnswerTable {
  const isOfAnswer = (update: ClientUpdate): boolean =>
    update.type === 'submitted' ? update.deployment !== TEXT_GENERATOR : previous.has(update.requestId);
  if (!events.some(({ updates }) => updates.some(isOfAnswer)))
    return { answers: previous, numAsked: previouslyAsked };
  const answers = new Map(previous);
  const numAsked = new Map(previouslyAsked);
  for (const { updates, receivedAtMs } of events) {
    for (const update of updates) {
      const answer = answers.get(update.requestId);
      if (update.type !== 'submitted') {
        // An unknown request is the text generator's, or its row was cleared.
        if (answer) answers.set(answer.id, settle(answer, update, receivedAtMs));
      } else if (!answer && update.deployment !== TEXT_GENERATOR) {
        const { requestId: id, deployment, input } = update;
        const ordinal = (numAsked.get(deployment) ?? 0) + 1;
        numAsked.set(deployment, ordinal);
        answers.set(id, { id, deployment, ordinal, status: 'waiting', input, submittedAtMs: receivedAtMs });
      }
    }
  }
  for (const name of numAsked.keys())
    removeOldest(answers, ({ deployment }) => deployment === name, MAX_KEPT_ANSWERS);
  return { answers, numAsked };
}

function settle(
  answer: AnswerView,
  update: Exclude<ClientUpdate, SubmittedUpdate>,
  receivedAtMs: number,
): AnswerView {
  const clientLatencyMs = receivedAtMs - answer.submittedAtMs;
  if (update.type === 'answered')
    return { ...answer, status: 'answered', result: update.result, clientLatencyMs };
  return update.type === 'failed' ? { ...answer, ...failureOf(update.error), clientLatencyMs } : answer;
}

/** A cancelled request is no error: its caller asked for it. */
function failureOf(error: WireError): Pick<AnswerView, 'status' | 'error'> {
  return error.code === 'REQUEST_CANCELLED' ? { status: 'cancelled' } : { status: 'failed', error };
}
