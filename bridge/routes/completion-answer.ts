import { createHash } from 'node:crypto';

import type { ServedModel } from '../../src/worker/protocol/models.ts';
import type { Exchange } from '../http/exchange.ts';
import { HttpError } from '../http/http-error.ts';
import { VERSION } from '../version.ts';
import type { CompletionRequest } from './completion-request.ts';
import { modelNotFound } from './service.ts';

interface Head {
  readonly id: string;
  readonly object: 'text_completion';
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/** The fields that an answer, or every chunk of a stream, begins with: they name the model that generated the first token. */
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

  /** @throws HttpError where the caller asked for another model, or another one generated what came before. */
  setModel(model: ServedModel | undefined): void {
    if (!model) throw new Error('A request has a token before a model has started it.');
    if (this.#head && this.#head.model !== model.id) throw modelReplaced();
    if (this.#asked.model !== undefined && this.#asked.model !== model.id)
      throw modelNotFound(this.#asked.model, model.id);
    this.#head ??= {
      id: `cmpl-${this.#exchange.requestId}`,
      object: 'text_completion',
      created: Math.floor(this.#createdAtMs / 1000),
      model: model.id,
      system_fingerprint: fingerprintOf(model),
    };
  }

  /** @throws HttpError where something of it was sent, which cannot be taken back. */
  beginAnew(): void {
    if (this.#exchange.hasContent) throw modelReplaced();
    this.#head = undefined;
  }
}

/** The same for the same model, backend, precision and version of Tabserve. */
function fingerprintOf({ id, backend, precision }: ServedModel): string {
  const parts = JSON.stringify([id, precision, backend, VERSION]);
  return `fp_${createHash('sha256').update(parts).digest('hex').slice(0, 12)}`;
}

/** A text that began with one model cannot go on with another. */
export function modelReplaced(): HttpError {
  return new HttpError(503, 'Another model took over in the middle of the answer: ask again.', {
    code: 'MODEL_REPLACED',
  });
}
