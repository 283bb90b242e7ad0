import { InvalidOptionError } from '../../batching/base/errors.ts';
import { isBoolean, oneOf, parseOptions, validator, type Validate } from '../../batching/base/validate.ts';
import { EMBEDDER } from '../../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import type { CreateJobOptions } from './types.ts';

export const isText = validator('a text', (value, refuse): string => {
  if (typeof value === 'string') return value;
  throw refuse(value);
});

const isSource = validator('a list of rows, or what gives them one after another', (value, refuse) => {
  if (typeof value === 'object' && value !== null)
    if (Symbol.iterator in value || Symbol.asyncIterator in value) return value;
  throw refuse(value);
});

/** Checked where it is used. */
const isLater = validator('any value', (value) => value);

const COMMON = { name: isText, seed: isLater, signal: isLater, onStored: isLater };
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
