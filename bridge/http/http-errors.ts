import { shown } from '../../src/batching/base/errors.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';

// The server's own errors, by subject. docs/errors.md is made from these functions.

const CLOSE = { Connection: 'close' };
const SOON = { 'Retry-After': '1' };

// A request that can't be read.

export function notHttp(): HttpError {
  return new HttpError(400, 'This is not an HTTP request.', { code: 'BAD_REQUEST' });
}

export function tooSlow(): HttpError {
  return new HttpError(408, 'The request took too long to arrive.', { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

/** @param maxBytes Of the URL and the headers together. */
export function headersTooLarge(maxBytes: number): HttpError {
  const message = `The URL and the headers are larger than ${maxBytes} bytes: send a long prompt in the body of a POST, as \`curl -d\` does.`;
  return new HttpError(431, message, { code: 'HPE_HEADER_OVERFLOW' });
}

/** @param maxLength In characters. */
export function urlTooLong(maxLength: number): HttpError {
  const message = `The URL is longer than ${maxLength} characters: send its fields in the body of a POST, as \`curl -d\` does.`;
  return new HttpError(414, message, { code: 'URL_TOO_LONG' });
}

export function bodyTooLarge(maxBytes: number): HttpError {
  const message = `The body is larger than ${maxBytes} bytes: send less in a request, or in several.`;
  return new HttpError(413, message, { code: 'BODY_TOO_LARGE', headers: CLOSE });
}

export function uploadTooLarge(maxBytes: number): HttpError {
  const message = `The file is larger than ${maxBytes} bytes: split it, or start the server with a larger --max-upload-mb.`;
  return new HttpError(413, message, { code: 'UPLOAD_TOO_LARGE', headers: CLOSE });
}

export function notJson(reason: string): HttpError {
  return new HttpError(400, `Couldn't read the body as JSON: ${reason}.`, { code: 'INVALID_JSON' });
}

/** @param type A media type. */
export function notReadable(type: string, reason: string): HttpError {
  const message = `The body cannot be read as ${type}: ${reason}.`;
  return new HttpError(400, message, { code: 'INVALID_BODY' });
}

/** @param id Of a model on this machine's disk. */
export function modelFilesChanged(id: string): HttpError {
  const message = `Files of ${id} have changed since the server started: start it again.`;
  return new HttpError(404, message, {
    code: 'MODEL_FILES_CHANGED',
    headers: { 'X-Error-Code': 'RevisionNotFound' },
  });
}

// Access.

export function twoHosts(): HttpError {
  return new HttpError(400, 'The request has two Host headers: send one.', { code: 'TWO_HOSTS' });
}

export function foreignHost(host: string): HttpError {
  const message = `The Host \`${shown(host)}\` is not a name of this server: use localhost, or start it with --host.`;
  return HttpError.forbidden(message, 'FOREIGN_HOST');
}

export function foreignOrigin(): HttpError {
  const message = 'Requests from other origins are blocked. Allow one with --allow-origin.';
  return HttpError.forbidden(message, 'FOREIGN_ORIGIN');
}

export function notOwnPage(): HttpError {
  return HttpError.forbidden('Only pages of this server may call this.', 'FOREIGN_ORIGIN');
}

export function notOwnMachine(): HttpError {
  const message = "Only the page on the server's own machine may call this.";
  return HttpError.forbidden(message, 'FOREIGN_MACHINE');
}

export function adminFromElsewhere(): HttpError {
  const message =
    "--allow-admin works from the server's own machine only, without a proxy: use http://localhost.";
  return HttpError.forbidden(message, 'FOREIGN_MACHINE');
}

export function adminNotAllowed(): HttpError {
  const message = 'The operator has not allowed this. Start the server with --allow-admin.';
  return HttpError.forbidden(message, 'ADMIN_NOT_ALLOWED');
}

// Limits of size, number and time.

/** @param numOfClient Of them, those of the client that asks. */
export function tooManyRequests(numRunning: number, numOfClient: number): HttpError {
  const message = `${numRunning} requests are running, ${numOfClient} from this client. Retry when some have finished.`;
  return new HttpError(429, message, { code: 'TOO_MANY_REQUESTS', headers: SOON });
}

export function stopping(retryAfterSeconds: number): HttpError {
  const message = `The server is shutting down. Retry in ${retryAfterSeconds} s.`;
  const headers = { 'Retry-After': String(retryAfterSeconds), ...CLOSE };
  return new HttpError(503, message, { code: 'SERVER_STOPPING', headers });
}

export function batchesStopped(): HttpError {
  const message = 'The server is shutting down. Retry after it restarts.';
  return new HttpError(503, message, { code: 'SERVER_STOPPING' });
}

/** For a write that found no room. */
export function storageFull(headers: Readonly<Record<string, string>> = {}): HttpError {
  const message = "The server's disk is full: free some space, then send this again.";
  return new HttpError(507, message, { code: 'STORAGE_FULL', headers });
}

/** @param param The header that sets the limit. */
export function deadlinePassed(seconds: number, param: string): HttpError {
  const message = `The request did not end within the ${seconds} s of \`${param}\` and was ended.`;
  return new HttpError(408, message, { code: 'REQUEST_TIMEOUT', param });
}

export function ownFault(): HttpError {
  const message = 'The bridge failed: its log names this request and the reason.';
  return new HttpError(500, message, { code: 'INTERNAL_ERROR' });
}

// Models, files and batches.

export function modelNotLoaded(asked: string, served: string): HttpError {
  const message = `Model \`${shown(asked)}\` isn't loaded; \`${served}\` is. Request \`${served}\`, or start with --any-model.`;
  return new HttpError(404, message, { code: 'model_not_found', param: 'model' });
}

/** A text that began with one model cannot go on with another. */
export function modelReplaced(): HttpError {
  const message = 'Another model took over in the middle of the answer: ask again.';
  return new HttpError(503, message, { code: 'MODEL_REPLACED' });
}

export function fileNotFound(id: string): HttpError {
  return new HttpError(404, `There is no file \`${id}\`.`, { code: 'FILE_NOT_FOUND', param: 'id' });
}

export function fileInUse(id: string): HttpError {
  const message = `The batch \`${id}\` reads the file: cancel it first, or wait for its end.`;
  return new HttpError(409, message, { code: 'FILE_IN_USE' });
}

export function batchNotFound(id: string): HttpError {
  return new HttpError(404, `There is no batch \`${id}\`.`, { code: 'BATCH_NOT_FOUND', param: 'id' });
}

export function batchEnded(id: string, status: string): HttpError {
  const message = `The batch \`${id}\` is ${status} and can't be cancelled any more.`;
  return new HttpError(409, message, { code: 'BATCH_ENDED' });
}

export function batchesInUse(folder: string, pid: number): HttpError {
  const message = `Process ${pid} has the batches in ${folder}: ask that server, or start this one with --batch-folder and another folder.`;
  return new HttpError(503, message, { code: 'BATCHES_IN_USE' });
}

/** @param url Of the server that requests are forwarded to. @param retryAfter Its header of that name. */
export function targetBusy(url: string, status: number, retryAfter: string | null): HttpError {
  const message = `${url} can't take more now (HTTP status ${status}).`;
  const headers = retryAfter === null ? {} : { 'Retry-After': retryAfter };
  return new HttpError(status, message, { code: 'SERVER_UNAVAILABLE', headers });
}
