import type { RequestId } from '../ids.ts';

/**
 * What runs the requests is gone, for `cause`. It ends no request: whoever catches it lets them go on elsewhere, and everybody
 * else lets it pass.
 */
export class RuntimeLostError extends Error {
  override readonly name = 'RuntimeLostError';
  /** Requests of the step or batch that was running; empty where none was. */
  readonly requestIds: readonly RequestId[];

  constructor(cause: unknown, requestIds: readonly RequestId[] = []) {
    super('The runtime was lost.', { cause });
    this.requestIds = requestIds;
  }
}
