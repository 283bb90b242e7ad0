import type { Exchange } from './exchange.ts';
import { watchStall } from './stall.ts';

/** What a client has not read yet of its stream may be this much. */
const MAX_BACKLOG_BYTES = 2 ** 20;

/**
 * Server-sent events as OpenAI sends them: JSON in each, and `[DONE]` after the last. The status goes out with the first one:
 * what fails before it is answered with a status of its own, what fails later with an event.
 */
export class EventStream {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  send(event: unknown): void {
    this.#write(JSON.stringify(event));
  }

  end(): void {
    this.#finish('[DONE]');
  }

  #finish(data: string): void {
    this.#write(data);
    this.#exchange.response.end();
    watchStall(this.#exchange.response);
  }

  #write(data: string): void {
    const { response } = this.#exchange;
    if (!response.headersSent) this.#begin();
    if (response.destroyed || response.write(`data: ${data}\n\n`)) return;
    if (response.writableLength > MAX_BACKLOG_BYTES) {
      response.destroy();
      return;
    }
    watchStall(response);
  }

  #begin(): void {
    const { response } = this.#exchange;
    // Proxies would hold the events back.
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no',
    });
    this.#exchange.tellLate = (error) => this.#finish(JSON.stringify(error));
  }
}
