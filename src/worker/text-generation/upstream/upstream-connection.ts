import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { writeOrderedJson } from '../../../batching/base/ordered-json.ts';
import { parseJson } from '../../../platform/parse-json.ts';
import { createId, type RequestId } from '../../../protocol/ids.ts';
import type { UpstreamCall } from './completion-body.ts';
import { badAnswer, unreachable } from '../../../protocol/upstream-errors.ts';
import { toUpstreamError, type Refusal } from '../../../protocol/upstream-failure.ts';

/** Called for one answer: once with the head, for any number of events, then with the end or an error. */
export interface AnswerListener {
  /** The upstream has taken the request. */
  onHead(): void;
  /** The data of one server-sent event. */
  onData(data: string): void;
  onEnd(): void;
  onError(error: Error): void;
}

interface Asked {
  readonly listener: AnswerListener;
  /** Resolves when the bridge has taken the request, or failed to. */
  readonly sent: Promise<unknown>;
}

/**
 * Sends the requests of this worker to the upstream. All answers share one connection to the bridge: a browser opens at most six
 * connections to one host, so six streaming answers would block all other requests and tabs.
 */
export class UpstreamConnection {
  readonly #url: string;
  readonly #path = `/upstream/connections/${createId()}`;
  readonly #asked = new Map<RequestId, Asked>();
  /** Resolves when the connection is ready for answers; undefined without a connection. */
  #opened: Promise<void> | undefined;

  /** @param url The upstream's address from the bridge's command line, for error messages only. */
  constructor(url: string) {
    this.#url = url;
  }

  /** The upstream's list of models, as text. @throws UpstreamError, BackPressureError. */
  async fetchModels(): Promise<string> {
    return (await this.#fetch('/v1/models')).text();
  }

  ask(requestId: RequestId, call: UpstreamCall, listener: AnswerListener): void {
    const sent = this.#send(requestId, call).catch((error: unknown) => this.#fail(requestId, error));
    this.#asked.set(requestId, { listener, sent });
  }

  /** Also cancels the request at the upstream. Its listener is not called any more. */
  cancel(requestId: RequestId): void {
    const asked = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    // The request goes over another connection, so wait for it. A bridge that is gone has cancelled it.
    void asked?.sent
      .then(() => this.#fetch(`${this.#path}/${requestId}`, { method: 'DELETE' }))
      .catch(() => {});
  }

  async #send(requestId: RequestId, { path, body }: UpstreamCall): Promise<void> {
    this.#opened ??= this.#open();
    await this.#opened;
    // The request may have been cancelled meanwhile.
    if (!this.#asked.has(requestId)) return;
    await this.#fetch(`${this.#path}/${requestId}?path=${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: writeOrderedJson(body) ?? '',
    });
  }

  async #open(): Promise<void> {
    try {
      const { body } = await this.#fetch(this.#path);
      if (!body) throw badAnswer(this.#url, 'an empty body');
      void this.#listen(body.getReader());
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #listen(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const parser = createParser({ onEvent: (event) => this.#receive(event) });
    const decoder = new TextDecoder();
    let reason: unknown;
    try {
      for (let next = await reader.read(); next.value; next = await reader.read()) {
        parser.feed(decoder.decode(next.value, { stream: true }));
      }
    } catch (error) {
      reason = error;
    }
    this.#opened = undefined;
    const lost = unreachable(this.#url, 'the bridge ended the connection', reason);
    for (const requestId of this.#asked.keys()) this.#fail(requestId, lost);
  }

  #receive({ event, id, data }: EventSourceMessage): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an invalid ID finds nothing in the map
    const requestId = id as RequestId;
    const listener = this.#asked.get(requestId)?.listener;
    if (!listener) return;
    if (event === 'head') listener.onHead();
    else if (event === 'data') listener.onData(data);
    else if (event === 'refusal') {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bridge sends this shape
      const refusal = parseJson(data) as Refusal;
      this.#fail(requestId, toUpstreamError(this.#url, refusal));
    } else if (event === 'end') {
      this.#asked.delete(requestId);
      listener.onEnd();
    }
  }

  #fail(requestId: RequestId, error: unknown): void {
    const listener = this.#asked.get(requestId)?.listener;
    this.#asked.delete(requestId);
    listener?.onError(error instanceof Error ? error : new Error(String(error)));
  }

  /** @throws UpstreamError, BackPressureError if the answer is not a success. */
  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(new URL(path, location.origin), init);
    } catch (error) {
      throw unreachable(this.#url, 'the bridge does not answer', error);
    }
    if (response.ok) return response;
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    throw toUpstreamError(this.#url, { status: response.status, body: await response.text(), retryAfter });
  }
}
