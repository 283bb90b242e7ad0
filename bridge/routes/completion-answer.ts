import type { Exchange } from '../http/exchange.ts';
import { modelReplaced, type AnsweringModel } from './answering-models.ts';
import type { CompletionRequest } from './completion-request.ts';
import { modelNotFound } from './service.ts';

interface Head {
  readonly id: string;
  readonly object: 'text_completion';
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/** What an answer, or all chunks of a stream, begin with: it names the model that has made the first token. */
export class CompletionAnswer {
  readonly #exchange: Exchange;
  readonly #asked: CompletionRequest;
  readonly #createdAtMs = Date.now();
  #head: Head | undefined;

  constructor(exchange: Exchange, asked: CompletionRequest) {
    this.#exchange = exchange;
    this.#asked = asked;
  }

  get head(): Head {
    if (!this.#head) throw new Error('An answer has a head once it has a token.');
    return this.#head;
  }

  /** @throws HttpError where it was another one that was asked, or that has made what came before. */
  isBy(answering: AnsweringModel | undefined): void {
    if (answering === undefined) throw new Error('A worker that has made a token has a model.');
    const { id: model, fingerprint } = answering;
    if (this.#head && this.#head.model !== model) throw modelReplaced();
    if (this.#asked.model !== undefined && this.#asked.model !== model)
      throw modelNotFound(this.#asked.model, model);
    this.#head ??= {
      id: `cmpl-${this.#exchange.requestId}`,
      object: 'text_completion',
      created: Math.floor(this.#createdAtMs / 1000),
      model,
      system_fingerprint: fingerprint,
    };
  }

  /** @throws HttpError where something of it was sent, which cannot be taken back. */
  beginAnew(): void {
    if (this.#exchange.hasContent) throw modelReplaced();
    this.#head = undefined;
  }
}
