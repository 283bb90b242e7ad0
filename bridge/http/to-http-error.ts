import { BackPressureError } from '../../src/batching/base/errors.ts';
import { isDiskFull } from '../base/errors.ts';
import { inputOf, isErrorCode, TabserveError, toWireError } from '../../src/protocol/wire-errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { STATUS_OF_CODE } from '../../src/protocol/openai/status-of-code.ts';
import { ownFault, storageFull } from './http-errors.ts';

/** Messages of the worker's errors are written for callers and pass through. All other errors stay in the bridge's log. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isDiskFull(error)) return storageFull();
  if (!isOfWorker(error)) return ownFault();
  const { code, message } = error;
  const status = STATUS_OF_CODE.get(code) ?? 500;
  const { param } = toWireError(error);
  const headers: Record<string, string> = {};
  if (error instanceof BackPressureError)
    headers['Retry-After'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
  return new HttpError(status, message, { code, param, headers });
}

/** The error of an input of a `remoteAll`. `nameOf` gives the input's name in the body. */
export function ofListed(reason: unknown, nameOf: (place: string) => string): HttpError {
  const error = toHttpError(reason);
  const { place, message } = inputOf(error);
  if (place === undefined) return error;
  const { status, code, headers } = error;
  const param = nameOf(place);
  return new HttpError(status, `\`${param}\`: ${message}`, { code, param, headers });
}

/**
 * An error as the log names it: by its code, since its message may quote the prompt. A fault of the bridge is logged with
 * its stack.
 */
export function describeInLog(error: Error): string {
  if (isDiskFull(error)) return 'STORAGE_FULL';
  return error instanceof HttpError || isOfWorker(error) ? error.code : (error.stack ?? error.message);
}

function isOfWorker(error: unknown): error is Error & { readonly code: string } {
  if (error instanceof TabserveError) return true;
  if (!(error instanceof Error && 'code' in error)) return false;
  return typeof error.code === 'string' && (STATUS_OF_CODE.has(error.code) || isErrorCode(error.code));
}
