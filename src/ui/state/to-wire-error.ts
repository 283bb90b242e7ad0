import type { WireError } from '../../worker/protocol.ts';

/** What was caught, in the one shape that panels and fields show. */
export function toWireError(caught: unknown): WireError {
  if (!(caught instanceof Error)) return { code: 'UNKNOWN', message: String(caught) };
  const code = 'code' in caught && typeof caught.code === 'string' ? caught.code : caught.name;
  return { code, message: caught.message };
}
