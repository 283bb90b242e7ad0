import { ClosedError, KvBudgetError, ModelRunError, shown, StopConditionError } from '../base/errors.ts';

// A tab makes these errors again from their codes, without what is said here.

/** @param numTokens Prompt and output together, at most. */
export function kvBudgetExceeded(numTokens: number, neededBytes: number, maxBytes: number): KvBudgetError {
  return new KvBudgetError(
    `${numTokens} tokens take ${mebibytes(neededBytes)} of K/V cache, but the limit is ${mebibytes(maxBytes)}. ` +
      'Lower maxNewTokens, shorten the prompt, or raise kvCacheMemoryBytes as far as the device allows.',
  );
}

export function modelRunFailed(cause: unknown): ModelRunError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new ModelRunError(`The model run failed (${detail}). Submit the request again.`, { cause });
}

/** @param detail Why the last run failed. */
export function everyRunFailed(detail: string, remedy: string): ModelRunError {
  return new ModelRunError(`Every run of this request failed (${detail}): ${remedy}.`);
}

export function stopConditionFailed(cause: unknown): StopConditionError {
  const detail = cause instanceof Error ? cause.message : cause;
  return new StopConditionError(
    `The request's constraint failed (${shown(detail)}): submit it again, or with another constraint.`,
    { cause },
  );
}

export function engineClosed(): ClosedError {
  return new ClosedError('The engine is closed: submit to a new one.');
}

/** For a request that was running. */
export function closedByEngine(): ClosedError {
  return new ClosedError('The engine was closed: submit the request again.');
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
