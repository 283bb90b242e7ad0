import { onAbort, type AbortSignal } from '../base/abort-signal.ts';
import { RequestCancelledError } from '../base/errors.ts';

type Read<Chunk> = IteratorResult<Chunk, undefined>;

/**
 * One caller's stream: unread chunks, or reads that wait for chunks. At most one of the two is non-empty. Unbounded, so that a
 * slow reader does not delay the rest of the batch.
 */
export class StreamBuffer<Chunk> implements AsyncIterableIterator<Chunk, undefined> {
  readonly #leave: () => void;
  #signal: AbortSignal | undefined;
  #stopListening: (() => void) | undefined;
  #unread: IteratorYieldResult<Chunk>[] = [];
  /** Entries of `#unread` before this one have been read. They are dropped together, so that a read is O(1). */
  #numRead = 0;
  #readers: PromiseWithResolvers<Read<Chunk>>[] = [];
  /** Delivered once, after the chunks. */
  #failure: { readonly error: unknown } | undefined;
  #isEnded = false;
  /** The caller has read the end or the error, or has left. */
  #isDone = false;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /**
   * Drops the unread chunks when the signal aborts. The listener holds the buffer weakly: a signal may outlive its stream.
   */
  follow(signal: AbortSignal): void {
    this.#signal = signal;
    const buffer = new WeakRef(this);
    this.#stopListening = onAbort(signal, () => buffer.deref()?.dropUnread());
  }

  dropUnread(): void {
    this.#unread = [];
    this.#numRead = 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(chunk: Chunk): void {
    const reader = this.#readers.shift();
    const result = { value: chunk, done: false } as const;
    if (reader) reader.resolve(result);
    else this.#unread.push(result);
  }

  end(): void {
    this.#isEnded = true;
    if (this.#readers.length > 0) this.#finish();
  }

  reject(error: unknown): void {
    if (this.#isDone) return;
    this.#isEnded = true;
    const reader = this.#readers.shift();
    if (reader) {
      reader.reject(error);
      this.#finish();
    } else {
      this.#failure = { error };
    }
  }

  next(): Promise<Read<Chunk>> {
    if (this.#isDone) return this.#end();
    // Checked at every read: the signal may abort after the handler has ended.
    if (this.#signal?.aborted) return this.#fail(RequestCancelledError.because(this.#signal.reason));
    const result = this.#takeUnread();
    if (result) return Promise.resolve(result);
    if (this.#failure) return this.#fail(this.#failure.error);
    if (this.#isEnded) return this.#end();
    const reader = Promise.withResolvers<Read<Chunk>>();
    this.#readers.push(reader);
    return reader.promise;
  }

  /** `break` in a `for await` calls it. Ends without an error; a call that waits or runs is cancelled. */
  return(): Promise<Read<Chunk>> {
    this.#leave();
    return this.#end();
  }

  #takeUnread(): IteratorYieldResult<Chunk> | undefined {
    const result = this.#unread[this.#numRead];
    if (!result) return undefined;
    this.#numRead++;
    if (this.#numRead * 2 > this.#unread.length) {
      this.#unread = this.#unread.slice(this.#numRead);
      this.#numRead = 0;
    }
    return result;
  }

  #fail(error: unknown): Promise<never> {
    this.#finish();
    return Promise.reject(error);
  }

  #end(): Promise<Read<Chunk>> {
    this.#finish();
    return Promise.resolve({ value: undefined, done: true });
  }

  #finish(): void {
    this.#isDone = true;
    this.dropUnread();
    this.#stopListening?.();
    for (const reader of this.#readers.splice(0)) reader.resolve({ value: undefined, done: true });
  }
}
