import type { ServerResponse } from 'node:http';

import { createParser } from 'eventsource-parser';

import { HttpError } from '../http/http-error.ts';
import { badAnswer } from './answer-shape.ts';
import { fetchUpstream, unreachable } from './upstream-client.ts';
import type { UpstreamOptions } from './upstream-options.ts';

type LaneEvent = 'head' | 'data' | 'refusal' | 'end';

/** Requests of one lane that run at the same time. */
const MAX_REQUESTS = 1024;
/** An event of the upstream at most, in characters. */
const MAX_EVENT_LENGTH = 2 ** 20;
/** Of an answer that is an error, as much as is passed on. */
const MAX_REFUSAL_LENGTH = 4096;

/**
 * The answers to all requests of one worker, on one connection: each of the upstream's events goes out as `data` with the
 * request's id, between a `head` and an `end`; what is no answer goes out as `refusal`. When the connection ends, so do they.
 */
export class Lane {
  readonly #upstream: UpstreamOptions;
  readonly #response: ServerResponse;
  readonly #running = new Map<string, AbortController>();
  readonly #closed: Promise<void>;
  /** While the connection takes no more. */
  #drained: Promise<void> | undefined;

  constructor(upstream: UpstreamOptions, response: ServerResponse) {
    this.#upstream = upstream;
    this.#response = response;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.flushHeaders();
    this.#closed = new Promise((resolve) =>
      response.once('close', () => {
        for (const abort of this.#running.values()) abort.abort();
        resolve();
      }),
    );
  }

  get isFull(): boolean {
    return this.#running.size >= MAX_REQUESTS;
  }

  /** Does nothing where the request runs already. */
  begin(requestId: string, body: Buffer<ArrayBuffer>): void {
    if (this.#running.has(requestId)) return;
    const abort = new AbortController();
    this.#running.set(requestId, abort);
    void this.#run(requestId, body, abort.signal).finally(() => this.#running.delete(requestId));
  }

  /** Does nothing where the request has ended. */
  cancel(requestId: string): void {
    this.#running.get(requestId)?.abort();
  }

  async #run(requestId: string, body: Buffer<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    try {
      const answer = await fetchUpstream(this.#upstream, {
        method: 'POST',
        path: '/v1/completions',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          'x-request-id': requestId,
        },
        body,
        signal,
      });
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      if (answer.ok && isStream && answer.body) await this.#stream(requestId, answer.body);
      else await this.#refuse(requestId, answer);
    } catch (error) {
      if (signal.aborted) return;
      const told = error instanceof HttpError ? error : unreachable(this.#upstream.url, error);
      const refusal = { status: 502, body: JSON.stringify(told) };
      await this.#send('refusal', requestId, JSON.stringify(refusal));
    }
  }

  async #stream(requestId: string, body: ReadableStream<Uint8Array>): Promise<void> {
    await this.#send('head', requestId, '');
    let events: string[] = [];
    const parser = createParser({
      maxBufferSize: MAX_EVENT_LENGTH,
      onEvent: ({ data }) => events.push(data),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') throw error;
      },
    });
    const decoder = new TextDecoder();
    for await (const piece of body) {
      parser.feed(decoder.decode(piece, { stream: true }));
      for (const data of events) await this.#send('data', requestId, data);
      events = [];
    }
    await this.#send('end', requestId, '');
  }

  async #refuse(requestId: string, answer: Response): Promise<void> {
    if (answer.ok) {
      await answer.body?.cancel();
      throw badAnswer(this.#upstream.url, '/v1/completions with something that is no stream');
    }
    const { status } = answer;
    const text = (await answer.text()).slice(0, MAX_REFUSAL_LENGTH);
    const retryAfter = answer.headers.get('retry-after') ?? undefined;
    await this.#send('refusal', requestId, JSON.stringify({ status, body: text, retryAfter }));
  }

  /** Resolves when more can be sent: a reader that is slow slows the upstream down, and one that is gone ends it. */
  async #send(event: LaneEvent, requestId: string, data: string): Promise<void> {
    if (this.#response.destroyed) return;
    const lines = data.split('\n').map((line) => `data: ${line}\n`);
    const canTakeMore = this.#response.write(`event: ${event}\nid: ${requestId}\n${lines.join('')}\n`);
    if (canTakeMore) return;
    this.#drained ??= new Promise((resolve) =>
      this.#response.once('drain', () => {
        this.#drained = undefined;
        resolve();
      }),
    );
    await Promise.race([this.#drained, this.#closed]);
  }
}
