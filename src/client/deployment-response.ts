import { BaseResponse } from './base-response.ts';
import type { RequestUpdate } from '../protocol/requests.ts';

/** One answer of a deployment. Await it or `result()` any number of times. */
export class DeploymentResponse<Output> extends BaseResponse<Output> implements PromiseLike<Output> {
  /** Makes `await` return the answer, as `result()` does. */
  // oxlint-disable-next-line unicorn/no-thenable -- `await handle.remote(3)` is the point of it
  then<Resolved = Output, Rejected = never>(
    onFulfilled?: ((output: Output) => Resolved | PromiseLike<Resolved>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Resolved | Rejected> {
    return this.result().then(onFulfilled, onRejected);
  }

  /** @internal */
  override apply(update: RequestUpdate, error?: Error): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handle's type says what its deployment answers
    if (update.type === 'answered') this.resolve(update.result as Output);
    super.apply(update, error);
  }
}
