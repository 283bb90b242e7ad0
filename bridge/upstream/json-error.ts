import type { ServerResponse } from 'node:http';

interface JsonError {
  readonly status: number;
  /** Says the remedy. */
  readonly message: string;
  readonly code: string;
}

/** In OpenAI's shape, so that its clients read it. */
export function errorBody({ status, message, code }: JsonError): string {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return JSON.stringify({ error: { message, type, param: null, code } });
}

/** Does nothing where an answer is under way already. */
export function sendError(response: ServerResponse, error: JsonError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response
    .writeHead(error.status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(errorBody(error));
}
