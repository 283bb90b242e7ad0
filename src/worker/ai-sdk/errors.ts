import { APICallError } from '@ai-sdk/provider';

import { BackPressureError } from '../client/index.ts';

/** An answer began anew with another model, after text of the first one had been told. */
const RESTARTED = 'Another model was loaded in the middle of the answer: send the prompt again.';

/**
 * The error of a call, as the AI SDK expects it: an abort by its signal's reason, and what a retry may mend as a retryable
 * APICallError. All others stay what they are, with their `code`.
 */
export function toCallError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  return error instanceof BackPressureError ? retryable(error.message, error) : error;
}

export function restartError(): APICallError {
  return retryable(RESTARTED);
}

function retryable(message: string, cause?: unknown): APICallError {
  return new APICallError({
    message,
    cause,
    isRetryable: true,
    // There is no HTTP in between, but the class asks for an address.
    url: 'tabserve:text-generator',
    requestBodyValues: {},
  });
}
