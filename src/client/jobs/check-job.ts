import { InvalidOptionError } from '../../batching/base/errors.ts';
import { parseOptions } from '../../batching/base/parse-options.ts';
import { integerIn, isBoolean, oneOf, validator, type Validate } from '../../batching/base/validate.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import { isSignal } from '../base/refusals.ts';
import type { CreateJobOptions } from './types.ts';

type AnySource = AsyncIterable<unknown> & Iterable<unknown>;

export const isText = validator('a text', (value, refuse): string => {
  if (typeof value === 'string') return value;
  throw refuse(value);
});

export const isName = validator('a name of 1 or more characters', (value, refuse): string => {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw refuse(value);
});

export const isSource = validator(
  'a list of rows, or an object that gives them one after another',
  (value, refuse): object => {
    if (typeof value !== 'object' || value === null) throw refuse(value);
    const { [Symbol.asyncIterator]: openAsync, [Symbol.iterator]: open }: Partial<AnySource> = value;
    if (typeof (openAsync ?? open) === 'function') return value;
    throw refuse(value);
  },
);

const isAbortSignal = validator('an AbortSignal', (value, refuse): unknown => {
  if (isSignal(value)) return value;
  throw refuse(value);
});

const isFunction = validator('a function', (value, refuse): unknown => {
  if (typeof value === 'function') return value;
  throw refuse(value);
});

/** `create-job.ts` checks it: these checks are too large for the code that only shows jobs. */
const isLater = validator('any value', (value) => value);

export const isSeed = integerIn({ from: 0, to: 2 ** 32 - 1 });

const COMMON = { name: isName, seed: isSeed, signal: isAbortSignal, onStored: isFunction };
const TABLE = {
  ...COMMON,
  rows: isSource,
  template: isText,
  deployment: oneOf(TEXT_GENERATOR, EMBEDDER),
  options: isLater,
};
const REQUESTS = { ...COMMON, requests: isSource };
const TEXTS = { ...TABLE, system: isText, chat: isBoolean, responseFormat: isLater };

/** @throws InvalidOptionError, UnknownOptionError. */
export function checkJob(options: CreateJobOptions): void {
  const given: Readonly<Record<string, unknown>> = Object(options);
  if (given['requests'] !== undefined && given['rows'] !== undefined)
    throw InvalidOptionError.of('requests', 'left out beside `rows`', given['requests']);
  const hasRequests = given['requests'] !== undefined;
  const tableOfRows = given['deployment'] === EMBEDDER ? TABLE : TEXTS;
  const table: Readonly<Record<string, Validate<unknown>>> = hasRequests ? REQUESTS : tableOfRows;
  parseOptions('options', table, options);
  for (const name of hasRequests ? [] : (['rows', 'template'] as const)) TABLE[name](name, given[name]);
}
