import type { RequestId } from '../base/ids.ts';

/** The runtime died of `cause`. No request fails: the handler resumes them on another worker, and all other code rethrows. */
export class RuntimeLostError extends Error {
  override readonly name = 'RuntimeLostError';
  /** Requests of the step or batch that was running; empty where none was. */
  readonly requestIds: readonly RequestId[];

  constructor(cause: unknown, requestIds: readonly RequestId[] = []) {
    super('The runtime was lost.', { cause });
    this.requestIds = requestIds;
  }
}
