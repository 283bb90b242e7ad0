import type { WireError } from '../../../client/index.ts';

/** docs/errors.md is made from this function. */
export function notStored(cause: unknown): WireError {
  return {
    code: 'HISTORY_NOT_STORED',
    message: `The browser stores no history here (${String(cause)}): this one is lost when the tab closes. Leave private browsing or free some space, then reload.`,
  };
}
