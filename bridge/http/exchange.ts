import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { parseDecimal } from '../../src/batching/base/validate.ts';
import { setDeadline, systemClock } from '../../src/batching/base/clock.ts';
import type { RequestTurn } from '../../src/protocol/requests.ts';
import { callerOf } from './caller.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { errorShapeOf } from './error-shapes.ts';
import { toHttpError } from './to-http-error.ts';
import { deadlinePassed, modelNotLoaded } from './http-errors.ts';

const REQUEST_ID = /^[\w.:-]{1,128}$/;

const TIMEOUT = 'x-request-timeout-seconds';
const LONGEST_TIMEOUT_SECONDS = 3600;

/** The client left before it was answered. */
class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

/** Choices that the operator allows to clients. */
export interface ClientRights {
  readonly allowsPriority?: boolean;
  readonly allowsAnyModel?: boolean;
}

/** Seconds of Unix time, as OpenAI's objects have them. */
export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}

/** The part of a request that an endpoint needs for its answer. A row of a batch has one, too. */
export type RequestContext = Pick<
  Exchange,
  'requestId' | 'createdAt' | 'signal' | 'hasContent' | 'turnOf' | 'checkPriority' | 'checkModel'
>;

/** Answers the body of a request with the body of the answer. @throws HttpError, or an error of the worker. */
export type AnswerBody = (body: unknown, context: RequestContext) => Promise<object>;

/** Undefined where JSON has no text for the value. */
export type WriteJson = (value: unknown) => string | undefined;

/** One HTTP request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** The part of the path that the route's `*` takes, decoded. */
  readonly rest: string;
  readonly requestId: string;
  /** In seconds of Unix time. */
  readonly createdAt: number = secondsNow();
  /** Reports an error to the client after the status was sent. */
  sendLateError: ((error: HttpError) => void) | undefined;
  /** The body of an answer with an error, in the words of the API that was called. */
  readonly describeError: ReturnType<typeof errorShapeOf>;
  /** Whether more than headers was sent, which cannot be taken back. */
  hasContent = false;
  readonly #rights: ClientRights;
  readonly #controller = new AbortController();
  /** Aborts when the client leaves or its time is up. */
  readonly signal: AbortSignal = this.#controller.signal;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    rest: string,
    rights: ClientRights = {},
  ) {
    this.request = request;
    this.response = response;
    this.url = url;
    this.describeError = errorShapeOf(url.pathname);
    this.rest = rest;
    this.#rights = rights;
    this.requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', this.requestId);
  }

  /** The turn that this request takes. */
  turnOf(user?: string): RequestTurn {
    return { caller: callerOf(this.request, user) };
  }

  /** @throws HttpError 400 for a priority other than 0, unless the operator allows it. */
  checkPriority(priority: unknown): void {
    if (!this.#rights.allowsPriority) checkNoPriority(priority);
  }

  /** @throws HttpError 404 if the caller names another model than the one that serves, unless the operator allows it. */
  checkModel(asked: string | undefined, served: string): void {
    if (!this.#rights.allowsAnyModel) checkModelName(asked, served);
  }

  /** Ends the request with this error, wherever it is. */
  abort(error: HttpError): void {
    this.#controller.abort(error);
  }

  /**
   * Lets `handle` answer, or answers with its error. Never rejects.
   *
   * @returns The error, if any.
   */
  async run(handle: (exchange: Exchange) => Promise<void>): Promise<unknown> {
    const { response } = this;
    response.once('close', () => {
      if (!response.writableFinished) this.#controller.abort(new DisconnectedError());
    });
    // A client may leave during a write: `close` follows.
    response.on('error', () => undefined);
    let cancelTimer: (() => void) | undefined;
    try {
      cancelTimer = this.#startTimer();
      await handle(this);
      return undefined;
    } catch (error) {
      const reason: unknown = this.signal.aborted ? this.signal.reason : error;
      if (!(reason instanceof DisconnectedError)) this.sendError(reason);
      return reason;
    } finally {
      cancelTimer?.();
    }
  }

  /** @param write Writes the JSON. */
  sendJson(status: number, value: unknown, write: WriteJson = JSON.stringify): void {
    this.send(status, 'application/json; charset=utf-8', `${write(value)}\n`);
  }

  send(status: number, contentType: string, body: string): void {
    const { response } = this;
    response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) });
    this.hasContent = true;
    response.end(body);
    watchStall(response);
  }

  sendError(reason: unknown): void {
    const error = toHttpError(reason);
    if (this.response.headersSent) {
      if (this.sendLateError) this.sendLateError(error);
      else this.response.destroy();
      return;
    }
    for (const [name, value] of Object.entries(error.headers)) this.response.setHeader(name, value);
    this.sendJson(error.status, this.describeError(error));
  }

  #startTimer(): (() => void) | undefined {
    const header = this.request.headers[TIMEOUT];
    if (header === undefined) return undefined;
    const seconds = parseDecimal(String(header));
    if (!(seconds > 0 && seconds <= LONGEST_TIMEOUT_SECONDS)) {
      const expected = `a number of seconds above 0 and at most ${LONGEST_TIMEOUT_SECONDS}`;
      throw HttpError.expected(TIMEOUT, expected, String(header));
    }
    const error = deadlinePassed(seconds, TIMEOUT);
    return setDeadline(systemClock, seconds * 1000, () => this.abort(error));
  }
}

/** @throws HttpError 400 for a priority other than 0. */
export function checkNoPriority(priority: unknown): void {
  if (priority === undefined || priority === 0) return;
  const message = 'Expected `priority` to be 0: the operator allows others with --allow-priority.';
  throw HttpError.invalid('priority', message);
}

/** @throws HttpError 404 if another model is asked for than the one that serves. */
export function checkModelName(asked: string | undefined, served: string): void {
  if (asked === undefined || asked === served) return;
  throw modelNotLoaded(asked, served);
}

/** The client's own id if it is well-formed: a client must not write arbitrary text into the log. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** A client that reads nothing of its answer for this long is cut. */
export const STALL_TIMEOUT_MS = 30_000;

/**
 * Cuts a client that stops reading. Call it when an answer fills the connection's buffer, and when it has ended. Each piece
 * that the client reads restarts the time; more data to send does not.
 */
export function watchStall(response: ServerResponse): void {
  const { socket } = response;
  if (!socket || socket.timeout) return;
  socket.setTimeout(STALL_TIMEOUT_MS);
  response.once('drain', () => {
    // After the end, the server sets its keep-alive timeout itself.
    if (!response.writableEnded) socket.setTimeout(0);
  });
}
