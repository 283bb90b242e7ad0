import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { Expression } from './expressions.ts';
import type { Work } from './pace.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The language of the values that a part of a schema accepts. */
export type ValueOf = (schema: unknown, param: string) => Work<Expression>;

export function refusal(param: string, reason: string, remedy: string): ResponseFormatUnsupportedError {
  return ResponseFormatUnsupportedError.of(param, reason, remedy);
}

/** The bounds of a count. An upper bound of infinity is none. */
export function countsOf(schema: Fields, least: string, most: string, param: string) {
  const [from = 0, to = Infinity] = [least, most].map((name) => {
    const count = schema[name];
    if (count === undefined) return undefined;
    if (!Number.isSafeInteger(count) || Number(count) < 0)
      throw refusal(`${param}.${name}`, 'is not a count', 'write an integer from 0 on, or leave it out');
    return Number(count);
  });
  if (from > to) throw refusal(`${param}.${most}`, `is below ${least}`, 'raise it');
  return { from, to };
}
