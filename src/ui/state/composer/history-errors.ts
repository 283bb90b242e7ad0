import type { WireError } from '../../../client/index.ts';

/** docs/errors.md is made from this function. */
export function notStored(cause: unknown): WireError {
  return {
    code: 'HISTORY_NOT_STORED',
    message: `The browser stores no history here (${String(cause)}): this one lasts as long as this tab. Leave private browsing or free some space, then reload.`,
  };
}
