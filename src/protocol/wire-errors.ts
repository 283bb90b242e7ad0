import * as core from '../batching/base/errors.ts';
import * as deployments from './errors/deployments.ts';
import * as hub from './errors/hub.ts';
import * as jobs from './errors/jobs.ts';
import * as model from './errors/model.ts';
import * as runtime from './errors/runtime.ts';
import * as tabs from './errors/tabs.ts';
import * as worker from './errors/worker.ts';
import { isServerErrorCode, ServerError } from './errors/server.ts';
import type { WireError } from './wire.ts';

/** An error from the wire with a code that this version does not know. */
export class TabserveError extends Error {
  override readonly name = 'TabserveError';
  /** Stable: compare this, not the message. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type ErrorClass = new (message: string) => Error;

/** All error classes that are made from a message alone. */
const CLASS_OF_CODE: ReadonlyMap<string | undefined, ErrorClass> = new Map(
  Object.values<unknown>({
    ...core,
    ...deployments,
    ...hub,
    ...jobs,
    ...model,
    ...runtime,
    ...tabs,
    ...worker,
  })
    .filter((exported) => exported !== core.BackPressureError)
    .filter(isErrorClass)
    .map((KnownError) => [fieldOf(new KnownError(''), 'code'), KnownError]),
);

/** Any thrown value as it crosses the wire, with the code `INTERNAL_ERROR` if it has none. Inverse: `fromWireError`. */
export function toWireError(error: unknown): WireError {
  if (error instanceof core.BackPressureError) {
    const { code, message, numQueuedRequests, maxQueuedRequests, retryAfterMs } = error;
    return { code, message, details: { numQueuedRequests, maxQueuedRequests, retryAfterMs } };
  }
  if (error instanceof Error) {
    const message = error.message || `The code threw ${error.name} without a message.`;
    const param = fieldOf(error, 'param');
    return {
      code: fieldOf(error, 'code') ?? 'INTERNAL_ERROR',
      message,
      ...(param !== undefined && { param }),
    };
  }
  const message =
    typeof error === 'string' && error !== ''
      ? error
      : `The code threw ${core.shown(error)}, which is no Error.`;
  return { code: 'INTERNAL_ERROR', message };
}

/** Whether an error of this version has the code. */
export function isErrorCode(code: string): boolean {
  return CLASS_OF_CODE.has(code);
}

/** The class that the code names, with the same message. Inverse: `toWireError`. */
export function fromWireError({ code, message, param, details }: WireError): Error {
  if (code === 'BACK_PRESSURE') return new core.BackPressureError(message, detailsOf(details));
  if (code === 'INVALID_OPTION') return new core.InvalidOptionError(message, param);
  if (code === 'UNKNOWN_OPTION') return new core.UnknownOptionError(message, param);
  if (code === 'RESPONSE_FORMAT_UNSUPPORTED') return new core.ResponseFormatUnsupportedError(message, param);
  if (isServerErrorCode(code)) return new ServerError(code, message);
  const KnownError = CLASS_OF_CODE.get(code);
  return KnownError ? new KnownError(message) : new TabserveError(code, message);
}

const INPUT = /^`inputs\[(\d+)\]`: /;

/** The error of one input of a `remoteAll`, whose place its message then names. Inverse: `inputOf`. */
export function ofInput(error: Error, place: number | undefined): Error {
  if (place === undefined || error instanceof core.RequestCancelledError) return error;
  const { message, ...wire } = toWireError(error);
  return fromWireError({ ...wire, message: `\`inputs[${place}]\`: ${message}` });
}

/** Names the input's place in what `read` throws. */
export function namingInput<Result>(place: number | undefined, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof Error ? ofInput(error, place) : error;
  }
}

/** The place of the input that an error is about, if one was named, and its message without it. */
export function inputOf({ message }: Pick<Error, 'message'>) {
  const [prefix = '', place] = INPUT.exec(message) ?? [];
  return { place, message: message.slice(prefix.length) };
}

function detailsOf({
  numQueuedRequests = 0,
  maxQueuedRequests = 0,
  retryAfterMs = 0,
}: NonNullable<WireError['details']> = {}): core.BackPressureDetails {
  return { numQueuedRequests, maxQueuedRequests, retryAfterMs };
}

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === 'function' && value.prototype instanceof Error;
}

/** Of an error of any class: in the package, the scripts that ask a server have their own. */
function fieldOf(error: Error, name: 'code' | 'param'): string | undefined {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}
