import { Outcome, type ResultOptions } from './outcome.ts';
import type {
  FinishReason,
  GenerationResult,
  PromptTokenLogprobs,
  TokenLogprobs,
} from '../protocol/generation.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { RequestUpdate } from '../protocol/requests.ts';
import type { ServedModel } from '../protocol/models.ts';
import { fromWireError } from '../protocol/wire-errors.ts';

/** A piece of a continuation: whole characters and their tokens. With `echo` the first piece is the prompt. */
export interface GenerationChunk {
  /** The continuation that it belongs to, from 0: with `n` several come side by side. */
  readonly index: number;
  readonly text: string;
  readonly tokenIds: readonly number[];
  /** One entry per token id, where they were asked for. */
  readonly logprobs?: readonly TokenLogprobs[];
  /** One entry per prompt token, where they were asked for: on a continuation's first chunk only. */
  readonly promptLogprobs?: readonly PromptTokenLogprobs[];
  /** On the first chunk, where it is known by then. */
  readonly numPromptTokens?: number;
  /** On a continuation's last chunk only. */
  readonly finishReason?: FinishReason;
  /** Another model begins all continuations anew. This chunk is empty, and all chunks before it are void. */
  readonly isRestart?: true;
}

/** Updates that only accepted requests get. */
const ACCEPTING: ReadonlySet<RequestUpdate['type']> = new Set([
  'accepted',
  'started',
  'echo',
  'chunk',
  'finished',
]);

/**
 * One or more continuations of a prompt: iterate it for chunks as they come, or await `result()`. Both work any number of times,
 * and every iteration begins with the first chunk.
 */
export class GenerationResponse implements AsyncIterable<GenerationChunk> {
  readonly requestId: RequestId;
  readonly #outcome: Outcome<GenerationResult>;
  readonly #cancel: (reason: unknown) => void;
  readonly #chunks: GenerationChunk[] = [];
  readonly #accepted = Promise.withResolvers<void>();
  #model: ServedModel | undefined;
  /** Resolved and replaced at every update; iterations that have read all chunks wait for it. */
  #nextUpdate = Promise.withResolvers<void>();

  /** Made by a handle's `remote`. */
  constructor(requestId: RequestId, outcome: Outcome<GenerationResult>, cancel: (reason: unknown) => void) {
    this.requestId = requestId;
    this.#outcome = outcome;
    this.#cancel = cancel;
    // Callers that never ask must not cause an unhandled rejection.
    this.#accepted.promise.catch(() => {});
  }

  /** The model that answers; undefined until it starts the request, and from a restart until the next model does. */
  get model(): ServedModel | undefined {
    return this.#model;
  }

  /** The whole continuation; the same outcome on every call. */
  result(options?: ResultOptions): Promise<GenerationResult> {
    return this.#outcome.result(options);
  }

  /** Resolves when the worker has accepted the request; rejects with the error that ended it before. */
  accepted(): Promise<void> {
    return this.#accepted.promise;
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
      } else if (this.#outcome.isSettled) {
        await this.#outcome.result();
        return;
      } else {
        await this.#nextUpdate.promise;
      }
    }
  }

  /** @param error The original of an error that this client made. */
  apply(update: RequestUpdate, error?: Error): void {
    if (update.type === 'chunk') {
      const { index, text, tokenIds, logprobs, numPromptTokens, finishReason } = update;
      this.#chunks.push({
        index,
        text,
        tokenIds,
        ...(logprobs && { logprobs }),
        ...(numPromptTokens !== undefined && { numPromptTokens }),
        ...(finishReason && { finishReason }),
      });
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
    if (update.type === 'finished') this.#outcome.resolve(update.result);
    if (update.type === 'failed') this.#fail(error ?? fromWireError(update.error));
    if (ACCEPTING.has(update.type)) this.#accepted.resolve();
    this.#nextUpdate.resolve();
    this.#nextUpdate = Promise.withResolvers();
  }

  #fail(error: Error): void {
    this.#accepted.reject(error);
    this.#outcome.reject(error);
  }
}
