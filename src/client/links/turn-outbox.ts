import type { ClientMessage, ClientMessages } from '../../protocol/client-messages.ts';
import { MAX_TOGETHER, PROTOCOL_VERSION } from '../../protocol/wire.ts';

/** Sends the messages of one turn together, so that they come together: calls made at once share their batches. */
export class TurnOutbox {
  readonly #send: (data: ClientMessage | ClientMessages) => void;
  #waiting: ClientMessage[] = [];

  constructor(send: (data: ClientMessage | ClientMessages) => void) {
    this.#send = send;
  }

  post(message: ClientMessage): void {
    if (message.type === 'hello') {
      // It goes alone: a worker of another version understands nothing else.
      this.flush();
      this.#send(message);
      return;
    }
    this.#waiting.push(message);
    if (this.#waiting.length === 1) queueMicrotask(() => this.flush());
    else if (this.#waiting.length === MAX_TOGETHER) this.flush();
  }

  flush(): void {
    const messages = this.#waiting;
    const [first, second] = messages;
    if (!first) return;
    this.#waiting = [];
    this.#send(second ? { version: PROTOCOL_VERSION, type: 'several', messages } : first);
  }
}
