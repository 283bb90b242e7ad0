import type { PageQuery } from '../batches/records.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { parseNumber } from '../http/read-input.ts';

export interface PageLimits {
  readonly byDefault: number;
  readonly max: number;
}

export const PAGE_FIELDS = ['after', 'limit'] as const;

/** The page that a query asks for. @throws HttpError 400. */
export function readPage(
  { after, limit: text }: Readonly<Record<string, string | undefined>>,
  { byDefault, max }: PageLimits,
): PageQuery {
  const limit = text === undefined ? byDefault : parseNumber('limit', text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return { after, limit };
  throw HttpError.expected('limit', `an integer from 1 to ${max}`, text);
}
