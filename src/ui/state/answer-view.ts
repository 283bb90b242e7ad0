import type { ClientUpdate, RequestId, WireError } from '../../client/index.ts';

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

type SubmittedUpdate = Extract<ClientUpdate, { type: 'submitted' }>;

export function createAnswerView(
  { requestId: id, deployment, input }: SubmittedUpdate,
  ordinal: number,
  submittedAtMs: number,
): AnswerView {
  return { id, deployment, ordinal, status: 'waiting', input, submittedAtMs };
}

export function updateAnswerView(
  answer: AnswerView,
  update: Exclude<ClientUpdate, SubmittedUpdate>,
  receivedAtMs: number,
): AnswerView {
  const clientLatencyMs = receivedAtMs - answer.submittedAtMs;
  if (update.type === 'answered')
    return { ...answer, status: 'answered', result: update.result, clientLatencyMs };
  return update.type === 'failed' ? { ...answer, ...failureOf(update.error), clientLatencyMs } : answer;
}

/** The caller cancelled the request: that is no error. */
function failureOf(error: WireError): Pick<AnswerView, 'status' | 'error'> {
  return error.code === 'REQUEST_CANCELLED' ? { status: 'cancelled' } : { status: 'failed', error };
}
