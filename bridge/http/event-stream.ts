import { systemClock, type Clock } from '../../src/batching/base/clock.ts';
import { writeOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { watchStall, type Exchange } from './exchange.ts';
import type { HttpError } from '../../src/protocol/openai/http-error.ts';

/** Limit of what a client has not read of its stream. */
const MAX_BACKLOG_BYTES = 2 ** 20;

/** Proxies and clients cut connections that stay silent for longer. */
const MAX_SILENCE_MS = 15_000;

/** How a stream of JSON is written. */
export interface StreamFormat {
  readonly contentType: string;
  /** @param name Of the event, in an API that names them. */
  write(event: unknown, name?: string): string;
  /** A comment that readers skip; undefined if the format has none. */
  readonly keepAlive?: string;
}

/** Readers skip a line that begins with a colon. */
const SERVER_SENT_EVENTS: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  write: (event, name) =>
    `${name === undefined ? '' : `event: ${name}\n`}data: ${writeOrderedJson(event)}\n\n`,
  keepAlive: ': keep-alive\n\n',
};

/** JSON in each line, with the arguments of tools as the model wrote them. */
export const JSON_LINES: StreamFormat = {
  contentType: 'application/x-ndjson',
  write: (event) => `${writeOrderedJson(event)}\n`,
};

/**
 * Server-sent events as OpenAI sends them, JSON in each, or another format. The status leaves when the stream opens: an earlier error is answered
 * with its own status, a later one is sent as an event. Comments keep a silent stream alive.
 */
export class EventStream {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #format: StreamFormat;
  #lastSentAtMs = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(exchange: Exchange, format = SERVER_SENT_EVENTS, clock: Clock = systemClock) {
    this.#exchange = exchange;
    this.#clock = clock;
    this.#format = format;
  }

  /**
   * Sends the headers once. The client then knows that its request was accepted.
   *
   * @param sendError Sends a later error, the last that the stream sends.
   */
  open(sendError = (error: HttpError): void => this.send(error)): void {
    const { response } = this.#exchange;
    if (response.headersSent || response.destroyed) return;
    // Keeps nginx from buffering the events.
    response.writeHead(200, {
      'Content-Type': this.#format.contentType,
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    this.#exchange.sendLateError = (error) => {
      sendError(error);
      this.close();
    };
    response.once('close', () => this.#cancelTimer?.());
    this.#lastSentAtMs = this.#clock.now();
    if (this.#format.keepAlive !== undefined) this.#watchSilence(this.#format.keepAlive);
  }

  /** @param name Of the event, in an API that names them. */
  send(event: unknown, name?: string): void {
    this.#write(this.#format.write(event, name));
  }

  /** Sends `[DONE]`, by which clients of completions know the end, and closes. */
  end(): void {
    this.#write('data: [DONE]\n\n');
    this.close();
  }

  close(): void {
    this.#cancelTimer?.();
    this.#exchange.response.end();
    watchStall(this.#exchange.response);
  }

  #write(text: string): void {
    const { response } = this.#exchange;
    this.open();
    // Drops tokens that arrive after an error ended the stream.
    if (response.destroyed || response.writableEnded) return;
    this.#exchange.hasContent = true;
    this.#lastSentAtMs = this.#clock.now();
    if (response.write(text)) return;
    if (response.writableLength > MAX_BACKLOG_BYTES) {
      response.destroy();
      return;
    }
    watchStall(response);
  }

  #watchSilence(keepAlive: string): void {
    const { response } = this.#exchange;
    const nowMs = this.#clock.now();
    if (nowMs - this.#lastSentAtMs >= MAX_SILENCE_MS) {
      this.#lastSentAtMs = nowMs;
      if (!response.write(keepAlive)) watchStall(response);
    }
    const remainingMs = this.#lastSentAtMs + MAX_SILENCE_MS - nowMs;
    this.#cancelTimer = this.#clock.setTimer(remainingMs, () => this.#watchSilence(keepAlive));
  }
}
