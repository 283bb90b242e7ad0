import { InvalidOptionError, RequestTimeoutError } from '../../batching/errors.ts';

export interface ResultOptions {
  /** Rejects with RequestTimeoutError after this many ms; the request goes on. Finite, >= 0. */
  readonly timeoutMs?: number;
}

/** How a request ends: once, with a result or an error. */
export class Outcome<Result> {
  readonly #settled = Promise.withResolvers<Result>();
  #isSettled = false;
  #unfollow: (() => void) | undefined;

  constructor() {
    // Callers that never ask must not cause an unhandled rejection.
    this.#settled.promise.catch(() => {});
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  resolve(result: Result): void {
    this.#settle();
    this.#settled.resolve(result);
  }

  reject(error: Error): void {
    this.#settle();
    this.#settled.reject(error);
  }

  /** The same outcome on every call. */
  result({ timeoutMs }: ResultOptions = {}): Promise<Result> {
    return timeoutMs === undefined ? this.#settled.promise : this.#resultWithin(timeoutMs);
  }

  /** Calls `cancel` with the signal's reason if it aborts before the end. */
  follow(signal: AbortSignal, cancel: (reason: unknown) => void): void {
    const onAbort = (): void => cancel(signal.reason);
    signal.addEventListener('abort', onAbort);
    this.#unfollow = () => signal.removeEventListener('abort', onAbort);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#unfollow?.();
  }

  async #resultWithin(timeoutMs: number): Promise<Result> {
    if (!(Number.isFinite(timeoutMs) && timeoutMs >= 0)) {
      throw InvalidOptionError.of('timeoutMs', 'a finite number >= 0', timeoutMs);
    }
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(RequestTimeoutError.ofResult(timeoutMs)), timeoutMs);
    try {
      return await Promise.race([this.#settled.promise, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
