import { BaseResponse } from './base-response.ts';
import type { GenerationResult, PromptTokenLogprobs } from '../protocol/generation.ts';
import type { RequestUpdate } from '../protocol/requests.ts';
import type { ServedModel } from '../protocol/models.ts';

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
