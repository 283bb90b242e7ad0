import type { ClientUpdate } from '../../worker/client/client.ts';
import { TEXT_GENERATOR } from '../../worker/protocol/generation.ts';
import type { RequestId } from '../../worker/protocol/ids.ts';
import type { WireError } from '../../worker/protocol/wire.ts';

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

export interface AnswerLog {
  readonly answers: ReadonlyMap<RequestId, AnswerView>;
  /** In the order of submission. The same array until a request is submitted or dropped. */
  readonly answerIds: readonly RequestId[];
  readonly numSubmitted: number;
}

/** By the deployment's name. */
export type AnswerLogs = ReadonlyMap<string, AnswerLog>;

export interface ReceivedUpdates {
  readonly updates: readonly ClientUpdate[];
  readonly receivedAtMs: number;
}

type SubmittedUpdate = Extract<ClientUpdate, { type: 'submitted' }>;

/** Per deployment; a page may stay open for days. */
const MAX_KEPT_ANSWERS = 500;

/** Applies the updates of a frame. Unchanged logs stay the same objects. */
export function updateAnswerLogs(logs: AnswerLogs, events: readonly ReceivedUpdates[]): AnswerLogs {
  const drafts = new LogDrafts(logs);
  for (const { updates, receivedAtMs } of events) {
    for (const update of updates) {
      if (update.type !== 'submitted') drafts.settle(update, receivedAtMs);
      else if (update.deployment !== TEXT_GENERATOR) drafts.submit(update, receivedAtMs);
    }
  }
  return drafts.finish();
}

export function withoutSettled(log: AnswerLog): AnswerLog {
  const answers = new Map([...log.answers].filter(([, { status }]) => status === 'waiting'));
  return { ...log, answers, answerIds: [...answers.keys()] };
}

interface LogDraft {
  readonly answers: Map<RequestId, AnswerView>;
  answerIds: readonly RequestId[];
  numSubmitted: number;
}

/** Copies each log at its first change, so that a frame costs one copy, however many updates it brings. */
class LogDrafts {
  readonly #logs: AnswerLogs;
  readonly #drafts = new Map<string, LogDraft>();

  constructor(logs: AnswerLogs) {
    this.#logs = logs;
  }

  submit({ requestId: id, deployment, input }: SubmittedUpdate, submittedAtMs: number): void {
    const draft = this.#draftOf(deployment);
    const { answers } = draft;
    if (answers.has(id)) return;
    draft.numSubmitted += 1;
    const ordinal = draft.numSubmitted;
    answers.set(id, { id, deployment, ordinal, status: 'waiting', input, submittedAtMs });
    const [oldest] = answers.keys();
    if (answers.size > MAX_KEPT_ANSWERS && oldest) answers.delete(oldest);
  }

  /** Does nothing for an unknown request: it is the text generator's, or its row was cleared. */
  settle(update: Exclude<ClientUpdate, SubmittedUpdate>, receivedAtMs: number): void {
    const { requestId } = update;
    const answer = this.#find(requestId);
    if (!answer) return;
    const { answers } = this.#draftOf(answer.deployment);
    const clientLatencyMs = receivedAtMs - answer.submittedAtMs;
    if (update.type === 'answered') {
      answers.set(requestId, { ...answer, status: 'answered', result: update.result, clientLatencyMs });
    } else if (update.type === 'failed') {
      answers.set(requestId, { ...answer, ...failureOf(update.error), clientLatencyMs });
    }
  }

  finish(): AnswerLogs {
    if (this.#drafts.size === 0) return this.#logs;
    for (const [deployment, draft] of this.#drafts) {
      const hasNew = draft.numSubmitted > (this.#logs.get(deployment)?.numSubmitted ?? 0);
      if (hasNew) draft.answerIds = [...draft.answers.keys()];
    }
    return new Map([...this.#logs, ...this.#drafts]);
  }

  #draftOf(deployment: string): LogDraft {
    const known = this.#drafts.get(deployment);
    if (known) return known;
    const { answers, answerIds = [], numSubmitted = 0 } = this.#logs.get(deployment) ?? {};
    const draft = { answers: new Map(answers), answerIds, numSubmitted };
    this.#drafts.set(deployment, draft);
    return draft;
  }

  #find(requestId: RequestId): AnswerView | undefined {
    for (const { answers } of new Map([...this.#logs, ...this.#drafts]).values()) {
      const answer = answers.get(requestId);
      if (answer) return answer;
    }
    return undefined;
  }
}

/** A cancelled request is no error: its caller asked for it. */
function failureOf(error: WireError): Pick<AnswerView, 'status' | 'error'> {
  return error.code === 'REQUEST_CANCELLED' ? { status: 'cancelled' } : { status: 'failed', error };
}
