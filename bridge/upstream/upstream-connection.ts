import type { ServerResponse } from 'node:http';

import { EventSourceParserStream } from 'eventsource-parser/stream';

import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { badAnswer } from '../http/http-errors.ts';
import { fetchUpstream, isEventStream, unreachable, type UpstreamOptions } from './upstream-client.ts';

/** The upstream's paths that a worker may use. */
export const CONNECTION_PATHS = ['/v1/completions', '/v1/chat/completions'] as const;
type ConnectionPath = (typeof CONNECTION_PATHS)[number];

type ConnectionEvent = 'head' | 'data' | 'refusal' | 'end';

/** Limit of concurrent requests on one connection. */
const MAX_REQUESTS = 1024;
/** Limit of one event of the upstream, in characters. */
const MAX_EVENT_LENGTH = 2 ** 20;
/** How much of an error's body is passed on, in characters. */
const MAX_REFUSAL_LENGTH = 4096;

/**
 * The answers to all requests of one worker, on one connection. Each of the upstream's events is sent as `data` with the
 * request's id, between a `head` and an `end`. An error is sent as `refusal`. When the connection closes, the requests end.
 */
export class UpstreamConnection {
  readonly #upstream: UpstreamOptions;
  readonly #response: ServerResponse;
  readonly #running = new Map<string, AbortController>();
  /** Resolves when the worker has left. */
  readonly closed: Promise<void>;
  /** Set while the connection's buffer is full. */
  #drained: Promise<void> | undefined;

  constructor(upstream: UpstreamOptions, response: ServerResponse) {
    this.#upstream = upstream;
    this.#response = response;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.flushHeaders();
    this.closed = new Promise((resolve) =>
      response.once('close', () => {
        for (const abort of this.#running.values()) abort.abort();
        resolve();
      }),
    );
  }

  get isFull(): boolean {
    return this.#running.size >= MAX_REQUESTS;
  }

  /** Does nothing if the request already runs. */
  begin(requestId: string, path: ConnectionPath, body: Buffer<ArrayBuffer>): void {
    if (this.#running.has(requestId)) return;
    const abort = new AbortController();
    this.#running.set(requestId, abort);
    void this.#run(requestId, path, body, abort.signal).finally(() => this.#running.delete(requestId));
  }

  /** Does nothing if the request has ended. */
  cancel(requestId: string): void {
    this.#running.get(requestId)?.abort();
  }

  async #run(
    requestId: string,
    path: ConnectionPath,
    body: Buffer<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const answer = await fetchUpstream(this.#upstream, path, {
        method: 'POST',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          'x-request-id': requestId,
        },
        body,
        signal,
      });
      const { ok, status, headers } = answer;
      if (ok && isEventStream(headers) && answer.body) await this.#stream(requestId, answer.body);
      else if (ok) {
        await answer.body?.cancel();
        throw badAnswer(this.#upstream.url, `${path} with something that is no stream`);
      } else {
        const text = (await answer.text()).slice(0, MAX_REFUSAL_LENGTH);
        await this.#refuse(requestId, status, text, headers.get('retry-after') ?? undefined);
      }
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof HttpError ? error : unreachable(this.#upstream.url, error);
      await this.#refuse(requestId, 502, JSON.stringify(failure));
    }
  }

  async #stream(requestId: string, body: ReadableStream<Uint8Array>): Promise<void> {
    await this.#send('head', requestId, '');
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_LENGTH }));
    for await (const { data } of events) await this.#send('data', requestId, data);
    await this.#send('end', requestId, '');
  }

  #refuse(requestId: string, status: number, body: string, retryAfter?: string): Promise<void> {
    return this.#send('refusal', requestId, JSON.stringify({ status, body, retryAfter }));
  }

  /** Resolves when more can be sent, so that a slow reader slows the upstream down. */
  async #send(event: ConnectionEvent, requestId: string, data: string): Promise<void> {
    if (this.#response.destroyed) return;
    const lines = data.split('\n').map((line) => `data: ${line}\n`);
    if (this.#response.write(`event: ${event}\nid: ${requestId}\n${lines.join('')}\n`)) return;
    this.#drained ??= new Promise((resolve) =>
      this.#response.once('drain', () => {
        this.#drained = undefined;
        resolve();
      }),
    );
    await Promise.race([this.#drained, this.closed]);
  }
}
