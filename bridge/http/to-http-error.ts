import { BackPressureError } from '../../src/batching/base/errors.ts';
import { isDiskFull } from '../base/errors.ts';
import { inputOf, isErrorCode, TabserveError, toWireError } from '../../src/protocol/wire-errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { ownFault, storageFull } from './http-errors.ts';

/** By code. An app's deployments have codes of their own, of any name. */
const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map(
  Object.entries({
    CHAT_TEMPLATE_FAILED: 400,
    EMPTY_PROMPT: 400,
    INVALID_OPTION: 400,
    ITEM_TOO_LARGE: 400,
    KV_BUDGET: 400,
    NO_CHAT_TEMPLATE: 400,
    PROMPT_TOO_LONG: 400,
    RESPONSE_FORMAT_UNSUPPORTED: 400,
    TOKEN_WITHOUT_EMBEDDING: 400,
    TOOLS_UNSUPPORTED: 400,
    UNKNOWN_OPTION: 400,
    SERVER_REFUSED: 400,
    NOT_AT_SERVER: 400,
    UNKNOWN_DEPLOYMENT: 404,
    REQUEST_TIMEOUT: 408,
    BACK_PRESSURE: 429,
    ANSWER_NOT_JSON: 500,
    BATCH_SIZE_MISMATCH: 500,
    MODEL_RUN_FAILED: 500,
    ONNX_MODEL_FAILED: 500,
    SERVER_ACCESS_DENIED: 502,
    SERVER_BAD_ANSWER: 502,
    SERVER_UNREACHABLE: 502,
    // The tab cannot serve: the message says why.
    CLOSED: 503,
    DEVICE_LOST: 503,
    GGUF_FILE_UNCLEAR: 503,
    GPU_WRONG_VALUES: 503,
    HANDLER_HUNG: 503,
    HUB_BAD_ANSWER: 503,
    HUB_RATE_LIMITED: 503,
    HUB_REDIRECT_FAILED: 503,
    HUB_UNAVAILABLE: 503,
    HUB_UNREACHABLE: 503,
    LOAD_ABANDONED: 503,
    LOAD_CANCELLED: 503,
    MODEL_ACCESS_DENIED: 503,
    MODEL_FILE_CORRUPT: 503,
    MODEL_FILE_MISSING: 503,
    MODEL_NOT_FOUND: 503,
    MODEL_START_FAILED: 503,
    MODEL_STORE_FAILED: 503,
    MODEL_TOO_LARGE: 503,
    NO_ENCODER: 503,
    NO_MODEL: 503,
    NO_RUNTIME: 503,
    NO_TAB: 503,
    NO_WEBGPU_ADAPTER: 503,
    PAGE_OUTDATED: 503,
    RUNTIME_FILE_MISSING: 503,
    STORAGE_QUOTA: 503,
    UNSUPPORTED_DTYPE: 503,
    UNSUPPORTED_MODEL: 503,
    SERVER_STOPPING: 503,
    SERVER_UNAVAILABLE: 503,
    VERSION_MISMATCH: 503,
    WASM_FORBIDDEN: 503,
    WORKER_FAILED: 503,
    WORKER_NOT_LOADED: 503,
    WORKER_SILENT: 503,
  }),
);

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
