import { APICallError } from '@ai-sdk/provider';

import { BackPressureError } from '../index.ts';

/** An answer began anew with another model after text of it had been told, or another model than the one asked for answers. */
const REPLACED = 'Another model took over before the answer was complete: send the prompt again.';

/** Codes of failures that may pass by themselves. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  'BACK_PRESSURE',
  'MODEL_RUN_FAILED',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_UNREACHABLE',
]);

/**
 * The error of a call, as the AI SDK expects it: an abort by its signal's reason, and what a retry may mend as a retryable
 * APICallError. All others stay what they are, with their `code`.
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
    // The AI SDK waits so long before it tries again.
    ...(cause instanceof BackPressureError && {
      responseHeaders: { 'retry-after-ms': String(cause.retryAfterMs) },
    }),
    // There is no HTTP in between, but the class asks for an address.
    url: 'tabserve:text-generator',
    requestBodyValues: {},
  });
}
