import { APICallError } from '@ai-sdk/provider';

import { BackPressureError } from '../index.ts';

/** An answer started again with another model after part of its text was sent, or a model other than the requested one answers. */
const REPLACED = 'Another model took over before the answer was complete: send the prompt again.';

/** Codes of failures that a retry may fix. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  'BACK_PRESSURE',
  'MODEL_RUN_FAILED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_UNREACHABLE',
]);

/**
 * The error of a call, as the AI SDK expects it: the signal's reason for an abort, and a retryable APICallError for a failure that a
 * retry may fix. Other errors are unchanged, with their `code`.
 */
export function toCallError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof Error && TRANSIENT_CODES.has(codeOf(error))) return retryable(error.message, error);
  return error;
}

export function replacedError(): APICallError {
  return retryable(REPLACED);
}

/** The stable code of one of our errors, even if it is the cause of another error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause);
}

function retryable(message: string, cause?: Error): APICallError {
  return new APICallError({
    message,
    cause,
    isRetryable: true,
    // The AI SDK waits this long before it retries.
    ...(cause instanceof BackPressureError && {
      responseHeaders: { 'retry-after-ms': String(cause.retryAfterMs) },
    }),
    // No HTTP is involved, but the class requires an address.
    url: 'tabserve:text-generator',
    requestBodyValues: {},
  });
}
