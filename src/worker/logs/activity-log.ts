import type { Clock } from '../../batching/clock.ts';
import { textOf } from '../../batching/errors.ts';
import type { ClientId, RequestActivity, RequestId, RequestUpdate } from '../protocol/protocol.ts';

/** Rows of other tabs need no more than this; between two messages the changes are collected. */
const INTERVAL_MS = 100;

const MAX_PREVIEW_LENGTH = 200;

interface Submitted {
  readonly requestId: RequestId;
  readonly clientId: ClientId;
  readonly deployment: string;
  readonly input: unknown;
}

/** What is told of each request to the tabs that it does not belong to: all of it at most every 100 ms. */
export class ActivityLog {
  readonly #clock: Clock;
  readonly #send: (activity: readonly RequestActivity[]) => void;
  readonly #live = new Map<RequestId, RequestActivity>();
  readonly #changed = new Map<RequestId, RequestActivity>();

  constructor(clock: Clock, send: (activity: readonly RequestActivity[]) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** All requests that wait or run. */
  get live(): readonly RequestActivity[] {
    return [...this.#live.values()];
  }

  recordSubmitted({ requestId, clientId, deployment, input }: Submitted, numResumedTokens: number): void {
    const inputPreview = previewOf(input);
    const numOutputTokens = numResumedTokens;
    this.#record({ requestId, clientId, deployment, inputPreview, state: 'waiting', numOutputTokens });
  }

  recordUpdate(update: RequestUpdate): void {
    const current = this.#live.get(update.requestId);
    if (current) this.#record({ ...current, ...changeOf(update, current) });
  }

  #record(activity: RequestActivity): void {
    const { requestId, state } = activity;
    if (state === 'waiting' || state === 'running') this.#live.set(requestId, activity);
    else this.#live.delete(requestId);
    if (this.#changed.size === 0) this.#clock.setTimer(INTERVAL_MS, () => this.#sendNow());
    this.#changed.set(requestId, activity);
  }

  #sendNow(): void {
    const activity = [...this.#changed.values()];
    this.#changed.clear();
    this.#send(activity);
  }
}

function changeOf(
  update: RequestUpdate,
  { numOutputTokens }: RequestActivity,
): Partial<Pick<RequestActivity, 'state' | 'numOutputTokens'>> {
  switch (update.type) {
    case 'submitted':
    case 'accepted':
    case 'resubmitted':
      return { state: 'waiting' };
    case 'restarted':
      return { state: 'waiting', numOutputTokens: 0 };
    case 'started':
    case 'echo':
      return { state: 'running' };
    case 'chunk':
      return { state: 'running', numOutputTokens: numOutputTokens + update.tokenIds.length };
    case 'finished':
    case 'answered':
      return { state: 'finished' };
    case 'failed':
      return { state: update.error.code === 'REQUEST_CANCELLED' ? 'cancelled' : 'failed' };
    default:
      return update satisfies never;
  }
}

/** Inputs may be of any size: whoever only looks on gets the beginning. */
function previewOf(input: unknown): string {
  const text = typeof input === 'string' ? input : jsonOf(input);
  return text.length > MAX_PREVIEW_LENGTH ? `${text.slice(0, MAX_PREVIEW_LENGTH)}…` : text;
}

/** What can be cloned need not have a JSON form: a cycle, a bigint, undefined. */
function jsonOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? textOf(input);
  } catch {
    return textOf(input);
  }
}
