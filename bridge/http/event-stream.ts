import { systemClock, type Clock } from '../../src/batching/clock.ts';
import { watchStall, type Exchange } from './exchange.ts';
import type { HttpError } from '../../src/protocol/openai/http-error.ts';

/** Limit of what a client has not read of its stream. */
const MAX_BACKLOG_BYTES = 2 ** 20;

/** Proxies and clients cut connections that stay silent for longer. */
const MAX_SILENCE_MS = 15_000;

/**
 * Server-sent events as OpenAI sends them, JSON in each. The status leaves when the stream opens: an earlier error is answered
 * with its own status, a later one is sent as an event. Comments keep a silent stream alive.
 */
export class EventStream {
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  #lastSentAtMs = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(exchange: Exchange, clock: Clock = systemClock) {
    this.#exchange = exchange;
    this.#clock = clock;
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
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    this.#exchange.sendLateError = (error) => {
      sendError(error);
      this.close();
    };
    response.once('close', () => this.#cancelTimer?.());
    this.#lastSentAtMs = this.#clock.now();
    this.#watchSilence();
  }

  /** @param name Of the event, in an API that names them. */
  send(event: unknown, name?: string): void {
    const nameLine = name === undefined ? '' : `event: ${name}\n`;
    this.#write(`${nameLine}data: ${JSON.stringify(event)}\n\n`);
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

  #watchSilence(): void {
    const { response } = this.#exchange;
    const nowMs = this.#clock.now();
    if (nowMs - this.#lastSentAtMs >= MAX_SILENCE_MS) {
      this.#lastSentAtMs = nowMs;
      // Readers skip a line that begins with a colon.
      if (!response.write(': keep-alive\n\n')) watchStall(response);
    }
    const remainingMs = this.#lastSentAtMs + MAX_SILENCE_MS - nowMs;
    this.#cancelTimer = this.#clock.setTimer(remainingMs, () => this.#watchSilence());
  }
}
