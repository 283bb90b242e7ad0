import type { ClientUpdate } from '../../worker/client/client.ts';
import type { RequestId, WireError } from '../../worker/protocol/protocol.ts';

export type AnswerStatus = 'waiting' | 'answered' | 'cancelled' | 'failed';

/** One request to a deployment other than the text generator. Times are on this tab's clock. */
export interface AnswerView {
  readonly id: RequestId;
  readonly deployment: string;
  /** 1 for the first request of this page to its deployment. */
  readonly ordinal: number;
  readonly status: AnswerStatus;
  readonly input: unknown;
  readonly submittedAtMs: number;
  readonly result?: unknown;
  /** Submitted -> settled, as this tab saw it: the way to the worker and back is in it. */
  readonly clientLatencyMs?: number;
  readonly error?: WireError;
}

/** The requests of one deployment. */
export interface AnswerLog {
  readonly answers: ReadonlyMap<RequestId, AnswerView>;
  /** In submission order, which is the order that the caller sees; the same array while only answers come in. */
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

/** A row is small, but a page may stay open for days. */
const MAX_KEPT_ANSWERS = 500;

const EMPTY_LOG: AnswerLog = { answers: new Map(), answerIds: [], numSubmitted: 0 };

/** Takes in what a frame brought for these deployments; logs that nothing happened to stay the same objects. */
export function updateAnswerLogs(
  logs: AnswerLogs,
  events: readonly ReceivedUpdates[],
  isFollowed: (deployment: string) => boolean,
): AnswerLogs {
  const drafts = new LogDrafts(logs);
  for (const { updates, receivedAtMs } of events) {
    for (const update of updates) {
      if (update.type !== 'submitted') drafts.settle(update, receivedAtMs);
      else if (isFollowed(update.deployment)) drafts.submit(update, receivedAtMs);
    }
  }
  return drafts.finish();
}

/** Forgets what is over; what waits stays. */
export function withoutSettled(log: AnswerLog): AnswerLog {
  const answers = new Map([...log.answers].filter(([, { status }]) => status === 'waiting'));
  return { ...log, answers, answerIds: [...answers.keys()] };
}

/** Copies each log at its first change, so that a frame costs one copy however many updates it brings. */
class LogDrafts {
  readonly #logs: AnswerLogs;
  readonly #drafts = new Map<string, { answers: Map<RequestId, AnswerView>; numSubmitted: number }>();

  constructor(logs: AnswerLogs) {
    this.#logs = logs;
  }

  submit({ requestId, deployment, input }: SubmittedUpdate, submittedAtMs: number): void {
    const draft = this.#draftOf(deployment);
    if (draft.answers.has(requestId)) return;
    draft.numSubmitted += 1;
    const ordinal = draft.numSubmitted;
    draft.answers.set(requestId, {
      id: requestId,
      deployment,
      ordinal,
      status: 'waiting',
      input,
      submittedAtMs,
    });
    const [oldest] = draft.answers.keys();
    if (draft.answers.size > MAX_KEPT_ANSWERS && oldest) draft.answers.delete(oldest);
  }

  /** Does nothing where no log has the request: it is the text generator's, or its row was cleared. */
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
    const logs = new Map(this.#logs);
    for (const [deployment, { answers, numSubmitted }] of this.#drafts) {
      const previous = logs.get(deployment) ?? EMPTY_LOG;
      const answerIds = numSubmitted > previous.numSubmitted ? [...answers.keys()] : previous.answerIds;
      logs.set(deployment, { answers, answerIds, numSubmitted });
    }
    return logs;
  }

  #draftOf(deployment: string): { answers: Map<RequestId, AnswerView>; numSubmitted: number } {
    const known = this.#drafts.get(deployment);
    if (known) return known;
    const { answers, numSubmitted } = this.#logs.get(deployment) ?? EMPTY_LOG;
    const draft = { answers: new Map(answers), numSubmitted };
    this.#drafts.set(deployment, draft);
    return draft;
  }

  #find(requestId: RequestId): AnswerView | undefined {
    for (const { answers } of this.#drafts.values()) {
      const answer = answers.get(requestId);
      if (answer) return answer;
    }
    for (const [deployment, { answers }] of this.#logs) {
      const answer = this.#drafts.has(deployment) ? undefined : answers.get(requestId);
      if (answer) return answer;
    }
    return undefined;
  }
}

/** That its caller cancelled it is no error to show. */
function failureOf(error: WireError): Pick<AnswerView, 'status' | 'error'> {
  return error.code === 'REQUEST_CANCELLED' ? { status: 'cancelled' } : { status: 'failed', error };
}
