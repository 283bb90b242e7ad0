import { BaseResponse } from './base-response.ts';
import type { RequestUpdate } from '../protocol/requests.ts';

/** One answer of a deployment. */
export class DeploymentResponse<Output> extends BaseResponse<Output> {
  /** @internal */
  override apply(update: RequestUpdate, error?: Error): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handle's type says what its deployment answers
    if (update.type === 'answered') this.resolve(update.result as Output);
    super.apply(update, error);
  }
}
