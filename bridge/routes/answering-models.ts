import { createHash } from 'node:crypto';

import type { Serve } from '../../src/worker/client/client.ts';
import type { RequestId, RequestUpdate, ServeStatus } from '../../src/worker/protocol/protocol.ts';
import { HttpError } from '../http/http-error.ts';
import { VERSION } from '../version.ts';

/** What has made an answer. */
export interface AnsweringModel {
  readonly id: string;
  /** The same for the same model, dtype, backend and version of Tabserve: what may change a sampled text. */
  readonly fingerprint: string;
}

/** From the first token to the last, or until another model begins anew. */
interface Run {
  readonly number: number;
  model?: AnsweringModel | undefined;
}

/**
 * Which model answers a request. It may be another one than that which serves when the request is made: that one may be about to
 * go, and then leaves what is new to the next. What serves when the first token comes has made it.
 */
export class AnsweringModels {
  readonly #runs = new Map<RequestId, Run>();

  constructor(serve: Serve) {
    serve.subscribe('requests', (updates) => {
      for (const update of updates) {
        const run = this.#runs.get(update.requestId);
        if (!run) continue;
        if (update.type === 'restarted') this.#runs.set(update.requestId, { number: run.number + 1 });
        if (isOfModel(update)) run.model ??= modelIn(serve.status());
      }
    });
  }

  /** Before anything has come of it; `forget` follows. */
  watch(requestId: RequestId): void {
    this.#runs.set(requestId, { number: 0 });
  }

  forget(requestId: RequestId): void {
    this.#runs.delete(requestId);
  }

  /** Of the last run. */
  of(requestId: RequestId): AnsweringModel | undefined {
    return this.#runs.get(requestId)?.model;
  }

  /** @param number How often it was begun anew; undefined before the first token, and for a run that is void. */
  ofRun(requestId: RequestId, number: number): AnsweringModel | undefined {
    const run = this.#runs.get(requestId);
    return run?.number === number ? run.model : undefined;
  }
}

function modelIn({ model, backend }: ServeStatus): AnsweringModel | undefined {
  if (!model) return undefined;
  const parts = JSON.stringify([model.id, backend?.precision, backend?.name, VERSION]);
  const hash = createHash('sha256').update(parts).digest('hex');
  return { id: model.id, fingerprint: `fp_${hash.slice(0, 12)}` };
}

/** Whether a model has made it: the logprobs of a prompt are its first work where there are any. */
function isOfModel(update: RequestUpdate): boolean {
  return (
    update.type === 'chunk' ||
    update.type === 'finished' ||
    (update.type === 'echo' && update.promptLogprobs !== undefined)
  );
}

/** What was sent, or is to be told of its tokens, is of a model that is gone; the new one says something else. */
export function modelReplaced(): HttpError {
  return new HttpError(503, 'Another model took over in the middle of the answer: ask again.', {
    code: 'MODEL_REPLACED',
  });
}
