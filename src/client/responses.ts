/// <reference lib="esnext.disposable" preserve="true" />
import { setDeadline, systemClock } from '../batching/base/clock.ts';
import { InvalidOptionError, RequestTimeoutError } from '../batching/base/errors.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { GenerationResult, PromptTokenLogprobs } from '../protocol/generation.ts';
import type { ServedModel } from '../protocol/models.ts';
import type { RequestUpdate } from '../protocol/requests.ts';
import { fromWireError } from '../protocol/wire-errors.ts';
import { optionsRefusal } from './base/refusals.ts';

/** How to wait for a result. */
export interface ResultOptions {
  /** Rejects with RequestTimeoutError after this many ms; the request goes on. Finite, >= 0. */
  readonly timeoutMs?: number | undefined;
}

/** A request that ends once, with a result or an error. Await it or `result()` any number of times. */
export class BaseResponse<Result> implements PromiseLike<Result>, Disposable {
  /** Names the request in `subscribe('requests', …)` and for `cancel`. */
  readonly requestId: RequestId;
  readonly #cancel: (reason: unknown) => void;
  readonly #outcome = Promise.withResolvers<Result>();
  readonly #end = new AbortController();
  /** Calls of `result()` and `then` that still wait. */
  #numWaiting = 0;

  /**
   * Made by a handle's `remote`.
   *
   * @internal
   */
  constructor(requestId: RequestId, cancel: (reason: unknown) => void) {
    this.requestId = requestId;
    this.#cancel = cancel;
    // A caller that never awaits the result must not cause an unhandled rejection.
    this.#outcome.promise.catch(() => {});
  }

  /**
   * The answer. Every call has the same outcome.
   *
   * @param options How long to wait.
   * @throws The error that ended the request, such as InvalidOptionError, PromptTooLongError, BackPressureError, ModelRunError,
   *   RequestCancelledError or, if its own `timeoutMs` passed, RequestTimeoutError. ClosedError after `close()`.
   * @throws RequestTimeoutError if the `timeoutMs` given here has passed. The request goes on.
   */
  result(options?: ResultOptions): Promise<Result> {
    const refusal = optionsRefusal(options, ['timeoutMs']);
    if (refusal) return Promise.reject(refusal);
    const timeoutMs = options?.timeoutMs;
    if (timeoutMs !== undefined) return this.#resultWithin(timeoutMs);
    this.#numWaiting += 1;
    return this.#outcome.promise;
  }

  /** Makes `await` return the answer, as `result()` does. */
  // oxlint-disable-next-line unicorn/no-thenable -- `await handle.remote(3)` is the point of it
  then<Resolved = Result, Rejected = never>(
    onFulfilled?: ((result: Result) => Resolved | PromiseLike<Resolved>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Resolved | Rejected> {
    return this.result().then(onFulfilled, onRejected);
  }

  /** Ends the request: `result()` rejects with RequestCancelledError. Does nothing if the request has ended. */
  cancel(): void {
    this.#cancel(undefined);
  }

  /** As `cancel()`, at the end of a scope: `using response = …`. */
  [Symbol.dispose](): void {
    this.cancel();
  }

  /**
   * Cancels the request with the signal's reason if it aborts before the end.
   *
   * @internal
   */
  follow(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.#cancel(signal.reason), { signal: this.#end.signal });
  }

  /**
   * @internal
   * @param error The original of an error that this client made.
   */
  apply(update: RequestUpdate, error?: Error): void {
    if (update.type === 'failed') this.reject(error ?? fromWireError(update.error));
  }

  /**
   * Whether a caller waits for the result.
   *
   * @internal
   */
  protected get isAwaited(): boolean {
    return this.#numWaiting > 0;
  }

  /** @internal */
  protected get isSettled(): boolean {
    return this.#end.signal.aborted;
  }

  /** @internal */
  protected resolve(result: Result): void {
    this.#end.abort();
    this.#outcome.resolve(result);
  }

  /** @internal */
  protected reject(error: Error): void {
    this.#end.abort();
    this.#outcome.reject(error);
  }

  async #resultWithin(timeoutMs: number): Promise<Result> {
    if (!(Number.isFinite(timeoutMs) && timeoutMs >= 0)) {
      throw InvalidOptionError.of('timeoutMs', 'a finite number >= 0', timeoutMs);
    }
    const timeout = Promise.withResolvers<never>();
    const cancelTimer = setDeadline(systemClock, timeoutMs, () =>
      timeout.reject(RequestTimeoutError.ofResult(timeoutMs)),
    );
    this.#numWaiting += 1;
    try {
      return await Promise.race([this.#outcome.promise, timeout.promise]);
    } finally {
      this.#numWaiting -= 1;
      cancelTimer();
    }
  }
}

/** One answer of a deployment. */
export class DeploymentResponse<Output> extends BaseResponse<Output> {
  /** @internal */
  override apply(update: RequestUpdate, error?: Error): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handle's type says what its deployment answers
    if (update.type === 'answered') this.resolve(update.result as Output);
    super.apply(update, error);
  }
}

type ChunkUpdate = Extract<RequestUpdate, { type: 'chunk' }>;

/** A piece of a continuation: whole characters and their tokens. With `echo` the first piece is the prompt. */
export interface GenerationChunk extends Omit<ChunkUpdate, 'type' | 'requestId' | 'ttftMs'> {
  /** One entry per prompt token, if requested. Only on a continuation's first chunk. */
  readonly promptLogprobs?: readonly PromptTokenLogprobs[];
  /** Another model starts all continuations again. This chunk is empty, and all earlier chunks are void. */
  readonly isRestart?: true;
}

/**
 * One or more continuations of a prompt: iterate it for chunks as they come, or await it for the result. Both work any number of
 * times, and every iteration begins with the first chunk.
 */
export class GenerationResponse
  extends BaseResponse<GenerationResult>
  implements AsyncIterable<GenerationChunk>
{
  readonly #chunks: GenerationChunk[] = [];
  /** Iterations that nobody has left. */
  readonly #iterations = new Set<AsyncGenerator<GenerationChunk>>();
  readonly #accepted = Promise.withResolvers<void>();
  #model: ServedModel | undefined;
  /** Resolved and replaced at every update. Iterations that have read all chunks wait for it. */
  #nextUpdate = Promise.withResolvers<void>();

  /** @internal */
  constructor(...args: ConstructorParameters<typeof BaseResponse<GenerationResult>>) {
    super(...args);
    // A caller that never awaits it must not cause an unhandled rejection.
    this.#accepted.promise.catch(() => {});
  }

  /** The model that answers. Undefined until a model starts the request, also after a restart. */
  get model(): ServedModel | undefined {
    return this.#model;
  }

  /** Resolves when the worker has accepted the request. Rejects with the error that ended it before that. */
  accepted(): Promise<void> {
    return this.#accepted.promise;
  }

  /**
   * Yields all chunks, then ends or throws as `result()` does. Leaving the loop early, as by `break` or an error, cancels the request
   * unless somebody awaits the response or `result()`, or is in another loop over it.
   */
  [Symbol.asyncIterator](): AsyncGenerator<GenerationChunk> {
    const iteration = this.#iterate();
    this.#iterations.add(iteration);
    // The generator itself would see it only after the chunk that it waits for.
    const end = iteration.return.bind(iteration);
    iteration.return = (value) => {
      this.#iterations.delete(iteration);
      if (this.#iterations.size === 0 && !this.isAwaited) this.cancel();
      return end(value);
    };
    return iteration;
  }

  async *#iterate(): AsyncGenerator<GenerationChunk> {
    for (let next = 0; ;) {
      const chunk = this.#chunks[next];
      if (chunk) {
        next++;
        yield chunk;
      } else if (this.isSettled) {
        await this.result();
        return;
      } else {
        await this.#nextUpdate.promise;
      }
    }
  }

  /** @internal */
  override apply(update: RequestUpdate, error?: Error): void {
    if (update.type === 'chunk') {
      const { type: _type, requestId: _requestId, ttftMs: _ttftMs, ...chunk } = update;
      this.#chunks.push(chunk);
    }
    if (update.type === 'started') this.#model = update.model;
    if (update.type === 'restarted') {
      this.#model = undefined;
      this.#chunks.push({ index: 0, text: '', tokenIds: [], isRestart: true });
    }
    if (update.type === 'echo') {
      const { index, text, promptLogprobs } = update;
      this.#chunks.push({ index, text, tokenIds: [], ...(promptLogprobs && { promptLogprobs }) });
    }
    if (update.type === 'finished') this.resolve(update.result);
    super.apply(update, error);
    // A restart may come before the acceptance. After a failure this does nothing.
    if (update.type !== 'restarted') this.#accepted.resolve();
    this.#nextUpdate.resolve();
    this.#nextUpdate = Promise.withResolvers();
  }

  /** @internal */
  protected override reject(error: Error): void {
    this.#accepted.reject(error);
    super.reject(error);
  }
}
