import type { Clock } from '../../batching/base/clock.ts';
import { shown, textOf } from '../../batching/base/errors.ts';
import { isRecord } from '../../platform/is-record.ts';
import { isChat } from '../../protocol/chat.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { RequestActivity, RequestUpdate } from '../../protocol/requests.ts';
import type { RequestId } from '../../protocol/ids.ts';

/** Time between two messages. */
const INTERVAL_MS = 100;

const MAX_PREVIEW_LENGTH = 200;

const STATES = {
  accepted: 'waiting',
  restarted: 'waiting',
  started: 'running',
  echo: 'running',
  chunk: 'running',
  finished: 'finished',
  answered: 'finished',
  failed: 'failed',
} as const satisfies Readonly<Record<RequestUpdate['type'], RequestActivity['state']>>;

type Submitted = Pick<RequestActivity, 'requestId' | 'clientId' | 'tab' | 'deployment' | 'isHttp'> & {
  readonly input: unknown;
};

/** Reports the requests of all tabs to every tab: one message with all changes, at most every 100 ms. */
export class ActivityLog {
  readonly #clock: Clock;
  readonly #send: (activity: readonly RequestActivity[]) => void;
  readonly #live = new Map<RequestId, RequestActivity>();
  readonly #changed = new Map<RequestId, RequestActivity>();
  /** Requests that no message has told of, as they were submitted. */
  readonly #untold = new Map<RequestId, RequestActivity>();
  /** Those of them that no tab knows, and that the text generator hasn't accepted. If they end now, they were refused. */
  readonly #refusable = new Set<RequestId>();
  #isSending = false;

  constructor(clock: Clock, send: (activity: readonly RequestActivity[]) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** All waiting and running requests, for a tab that comes. */
  readLive(): readonly RequestActivity[] {
    this.#refusable.clear();
    return [...this.#live.values()];
  }

  /** @param numResumedTokens Left out for a request that no worker had before. */
  recordSubmitted({ input, ...submitted }: Submitted, numResumedTokens?: number): void {
    const inputPreview = previewOf(input);
    const isNew = numResumedTokens === undefined;
    // No other deployment says what it has accepted.
    if (isNew && submitted.deployment === TEXT_GENERATOR) this.#refusable.add(submitted.requestId);
    this.#record({ ...submitted, inputPreview, state: 'waiting', numOutputTokens: numResumedTokens ?? 0 });
  }

  /** Returns the request as it is now; undefined for one that it does not know. */
  recordUpdate(update: RequestUpdate): RequestActivity | undefined {
    const current = this.#live.get(update.requestId);
    if (!current) return undefined;
    const isCancelled = update.type === 'failed' && update.error.code === 'REQUEST_CANCELLED';
    const state = isCancelled ? 'cancelled' : STATES[update.type];
    const numOutputTokens = numTokensAfter(update, current.numOutputTokens);
    const end = update.type === 'finished' && { finishReason: update.result.finishReason };
    const activity: RequestActivity = { ...current, state, numOutputTokens, ...end };
    // A request that was refused at once concerns its sender alone.
    if (this.#refusable.delete(update.requestId) && update.type === 'failed')
      for (const requests of [this.#live, this.#changed, this.#untold]) requests.delete(update.requestId);
    else this.#record(activity);
    return activity;
  }

  #record(activity: RequestActivity): void {
    const { requestId, state } = activity;
    if (!this.#live.has(requestId)) this.#untold.set(requestId, activity);
    if (state === 'waiting' || state === 'running') this.#live.set(requestId, activity);
    else this.#live.delete(requestId);
    this.#changed.set(requestId, activity);
    if (this.#isSending) return;
    this.#isSending = true;
    this.#clock.setTimer(INTERVAL_MS, () => this.#sendNow());
  }

  /** A request that has come and gone since the last message is told as both: a tab lists only what it has seen alive. */
  #sendNow(): void {
    const activity = [...this.#changed.values()].flatMap((last) => {
      const first = this.#live.has(last.requestId) ? undefined : this.#untold.get(last.requestId);
      return first ? [first, last] : [last];
    });
    this.#isSending = false;
    for (const told of [this.#changed, this.#untold, this.#refusable]) told.clear();
    if (activity.length > 0) this.#send(activity);
  }
}

/** The end alone tells of all tokens: of the model's end token, and of a text that nobody reads before. */
function numTokensAfter(update: RequestUpdate, before: number): number {
  if (update.type === 'chunk') return before + update.tokenIds.length;
  if (update.type === 'finished') return update.result.usage.numOutputTokens;
  return update.type === 'restarted' ? 0 : before;
}

/** The beginning of an input, which may be large. For a chat, the beginning of the user's last message. */
function previewOf(input: unknown): string {
  const asked = isChat(input) ? lastUserContent(input) : input;
  const text = typeof asked === 'string' ? asked : jsonOf(input);
  return shown(text, MAX_PREVIEW_LENGTH);
}

function lastUserContent(messages: readonly unknown[]): unknown {
  return messages.filter(isRecord).findLast(({ role }) => role === 'user')?.['content'];
}

/** Falls back to text for values without a JSON form: a cycle, a bigint, undefined. */
function jsonOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? textOf(input);
  } catch {
    return textOf(input);
  }
}
