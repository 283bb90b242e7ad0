import { Outcome, type ResultOptions } from './outcome.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { RequestUpdate } from '../protocol/requests.ts';
import { fromWireError } from '../protocol/wire-errors.ts';

/** One answer of a deployment: await it, or `result()`, as often as you like. */
export class DeploymentResponse<Output> implements PromiseLike<Output> {
  readonly requestId: RequestId;
  readonly #outcome: Outcome<Output>;
  readonly #cancel: (reason: unknown) => void;

  /** Made by a handle's `remote`. */
  constructor(requestId: RequestId, outcome: Outcome<Output>, cancel: (reason: unknown) => void) {
    this.requestId = requestId;
    this.#outcome = outcome;
    this.#cancel = cancel;
  }

  /** The answer; the same outcome on every call. */
  result(options?: ResultOptions): Promise<Output> {
    return this.#outcome.result(options);
  }

  /** Ends the request: it rejects with RequestCancelledError. Calling it again, or too late, does nothing. */
  cancel(): void {
    this.#cancel(undefined);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await handle.remote(3)` is the point of it
  then<Resolved = Output, Rejected = never>(
    onFulfilled?: ((output: Output) => Resolved | PromiseLike<Resolved>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Resolved | Rejected> {
    return this.#outcome.result().then(onFulfilled, onRejected);
  }

  /** @param error The original of an error that this client made. */
  apply(update: RequestUpdate, error?: Error): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handle's type says what its deployment answers
    if (update.type === 'answered') this.#outcome.resolve(update.result as Output);
    if (update.type === 'failed') this.#outcome.reject(error ?? fromWireError(update.error));
  }
}
