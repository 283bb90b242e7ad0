import { InvalidOptionError } from '../batching/errors.ts';
import type { GenerationResult, RequestId, RequestUpdate } from './protocol.ts';
import { fromWireError } from './wire-errors.ts';

/** A piece of a continuation: whole characters, and the tokens that came with them. */
export interface GenerationChunk {
  readonly text: string;
  readonly tokenIds: readonly number[];
}

/** `result({ timeoutMs })` gave up waiting; the request itself goes on. */
class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
  readonly code = 'REQUEST_TIMEOUT';
}

/**
 * A prompt's continuation: iterate it for chunks as they come, or await `result()`. Both may be used, any number of
 * times; every iteration sees all chunks from the first.
 */
export class GenerationResponse implements AsyncIterable<GenerationChunk> {
  readonly requestId: RequestId;
  readonly #cancel: (reason: unknown) => void;
  readonly #chunks: GenerationChunk[] = [];
  readonly #outcome = Promise.withResolvers<GenerationResult>();
  #isSettled = false;
  /** Resolved and replaced with every update, for iterations that have read everything. */
  #nextUpdate = Promise.withResolvers<void>();
  #unfollow: (() => void) | undefined;

  /** Made by a handle's `remote`. */
  constructor(requestId: RequestId, cancel: (reason: unknown) => void) {
    this.requestId = requestId;
    this.#cancel = cancel;
    // A caller that only iterates, or does not look at all, must not meet an unhandled rejection.
    this.#outcome.promise.catch(() => {});
  }

  /**
   * The whole continuation; the same promise outcome on every call.
   *
   * @param options `timeoutMs`: rejects with RequestTimeoutError after so many ms, while the request goes on.
   */
  result({ timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<GenerationResult> {
    return timeoutMs === undefined ? this.#outcome.promise : this.#resultWithin(timeoutMs);
  }

  /** Ends the request: `result()` rejects with RequestCancelledError. Calling it again, or too late, does nothing. */
  cancel(): void {
    this.#cancel(undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GenerationChunk> {
    for (let next = 0; ;) {
      const chunk = this.#chunks[next];
      if (chunk) {
        next++;
        yield chunk;
      } else if (this.#isSettled) {
        await this.#outcome.promise;
        return;
      } else {
        await this.#nextUpdate.promise;
      }
    }
  }

  /** Takes in what happened to the request; `error` is the original where the update was made in this tab. */
  apply(update: RequestUpdate, error?: Error): void {
    if (update.type === 'chunk') this.#chunks.push({ text: update.text, tokenIds: update.tokenIds });
    if (update.type === 'finished') this.#outcome.resolve(update.result);
    if (update.type === 'failed') this.#outcome.reject(error ?? fromWireError(update.error));
    if (update.type === 'finished' || update.type === 'failed') {
      this.#isSettled = true;
      this.#unfollow?.();
    }
    this.#nextUpdate.resolve();
    this.#nextUpdate = Promise.withResolvers();
  }

  /** Cancels with the signal's reason when it aborts, until the request is settled. */
  follow(signal: AbortSignal): void {
    const onAbort = (): void => this.#cancel(signal.reason);
    signal.addEventListener('abort', onAbort);
    this.#unfollow = () => signal.removeEventListener('abort', onAbort);
  }

  async #resultWithin(timeoutMs: number): Promise<GenerationResult> {
    if (!(Number.isFinite(timeoutMs) && timeoutMs >= 0)) {
      throw InvalidOptionError.of('timeoutMs', 'a finite number >= 0', timeoutMs);
    }
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `The result did not come within ${timeoutMs} ms: call result() again to wait on, or cancel().`;
      timeout.reject(new RequestTimeoutError(message));
    }, timeoutMs);
    try {
      return await Promise.race([this.#outcome.promise, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
