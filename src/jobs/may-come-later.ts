import { STATUS_OF_CODE } from '../protocol/openai/status-of-code.ts';

/** Statuses of a server that may answer the same request later, with another key or fewer requests. */
const LATER: ReadonlySet<number> = new Set([401, 403, 429, 503, 504]);

/** The same, where the status says that the answer of another server is bad. */
const LATER_CODES: ReadonlySet<string> = new Set(['SERVER_ACCESS_DENIED', 'SERVER_UNREACHABLE']);

/** Whether an error says nothing about a row, since every other would have it too: the row waits, and runs again. */
export function mayComeLater({ code, status }: { readonly code: string; readonly status?: number }): boolean {
  return LATER_CODES.has(code) || LATER.has(status ?? STATUS_OF_CODE.get(code) ?? 500);
}
