import { APICallError } from '@ai-sdk/provider';

import { BackPressureError } from '../index.ts';

/** Another model answers: one was loaded after a part of the answer was sent, or it is not the model of the call. */
const REPLACED = 'Another model took over before the answer was complete: send the prompt again.';

/** Codes of failures that may pass by themselves. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  'BACK_PRESSURE',
  'MODEL_RUN_FAILED',
  'SERVER_UNAVAILABLE',
  'SERVER_UNREACHABLE',
]);

/**
 * The error of a call, as the AI SDK expects it: the signal's reason after an abort, and a retryable APICallError for a failure
 * that may pass. All other errors are unchanged, with their `code`.
 */
export function toCallError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof Error && TRANSIENT_CODES.has(codeOf(error))) return retryable(error.message, error);
  return error;
}

export function replacedError(): APICallError {
  return retryable(REPLACED);
}

/** The stable code of one of our errors, also where it is the cause of another. */
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
    // There is no HTTP in between, but the class asks for an address.
    url: 'tabserve:text-generator',
    requestBodyValues: {},
  });
}
