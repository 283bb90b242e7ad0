import type { Serve } from '../../src/worker/client.ts';
import type { RequestId, RequestUpdate } from '../../src/worker/protocol.ts';
import { HttpError } from '../http/http-error.ts';

/** From the first token to the last, or until another model begins anew. */
interface Run {
  readonly number: number;
  modelId?: string | undefined;
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
        if (isOfModel(update)) run.modelId ??= serve.status().model?.id;
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
  of(requestId: RequestId): string | undefined {
    return this.#runs.get(requestId)?.modelId;
  }

  /** @param number How often it was begun anew; undefined before the first token, and for a run that is void. */
  ofRun(requestId: RequestId, number: number): string | undefined {
    const run = this.#runs.get(requestId);
    return run?.number === number ? run.modelId : undefined;
  }
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
