import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { createId } from '../../protocol/ids.ts';
import type { RequestId } from '../../protocol/protocol.ts';
import { badAnswer, parseJson, toUpstreamError, unreachable, type Refusal } from './upstream-failure.ts';

/** Whoever waits for an answer: one head, any number of events, then an end or an error. */
export interface AnswerListener {
  /** The upstream has taken the request. */
  onHead(): void;
  /** The data of one of its server-sent events. */
  onData(data: string): void;
  onEnd(): void;
  onError(error: Error): void;
}

interface Asked {
  readonly listener: AnswerListener;
  /** Resolves when the bridge has it, or is known not to. */
  readonly sent: Promise<unknown>;
}

/**
 * All requests of this worker to the upstream, their answers over one connection to the bridge: a browser opens six to one
 * host, and each answer would hold one for as long as it streams, so that no more than six requests would run and no further
 * tab would open.
 */
export class UpstreamLane {
  readonly #url: string;
  readonly #path = `/upstream/lanes/${createId()}`;
  readonly #asked = new Map<RequestId, Asked>();
  /** Resolves when answers can come; undefined while nobody listens. */
  #opened: Promise<void> | undefined;

  /** @param url Of the upstream, as the bridge was given it: for messages alone. */
  constructor(url: string) {
    this.#url = url;
  }

  /** The upstream's list of models, as text. @throws UpstreamError, BackPressureError. */
  async fetchModels(): Promise<string> {
    const response = await this.#fetch('/v1/models');
    return response.text();
  }

  ask(requestId: RequestId, body: object, listener: AnswerListener): void {
    const sent = this.#send(requestId, body).catch((error: unknown) => this.#fail(requestId, error));
    this.#asked.set(requestId, { listener, sent });
  }

  /** The upstream is told; its listener hears nothing any more. */
  cancel(requestId: RequestId): void {
    const asked = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    // Not before the request itself, which goes another way. A bridge that is gone has cancelled it.
    void asked?.sent
      .then(() => this.#fetch(`${this.#path}/${requestId}`, { method: 'DELETE' }))
      .catch(() => {});
  }

  async #send(requestId: RequestId, body: object): Promise<void> {
    this.#opened ??= this.#open();
    await this.#opened;
    // Cancelled meanwhile.
    if (!this.#asked.has(requestId)) return;
    await this.#fetch(`${this.#path}/${requestId}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  async #open(): Promise<void> {
    try {
      const { body } = await this.#fetch(this.#path);
      if (!body) throw badAnswer(this.#url, 'nothing');
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
    const lost = unreachable(this.#url, 'the bridge has ended the connection', reason);
    for (const requestId of this.#asked.keys()) this.#fail(requestId, lost);
  }

  #receive({ event, id, data }: EventSourceMessage): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is looked up: what is none finds nothing
    const requestId = id as RequestId;
    const listener = this.#asked.get(requestId)?.listener;
    if (!listener) return;
    if (event === 'head') listener.onHead();
    else if (event === 'data') listener.onData(data);
    else if (event === 'refusal') this.#fail(requestId, this.#errorOf(data));
    else if (event === 'end') {
      this.#asked.delete(requestId);
      listener.onEnd();
    }
  }

  #errorOf(data: string): Error {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bridge's own words
    return toUpstreamError(this.#url, parseJson(data) as Refusal);
  }

  #fail(requestId: RequestId, error: unknown): void {
    const listener = this.#asked.get(requestId)?.listener;
    this.#asked.delete(requestId);
    listener?.onError(error instanceof Error ? error : new Error(String(error)));
  }

  /** @throws UpstreamError, BackPressureError for any answer that is not a success. */
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
