import type { LoadFailure, WireError } from '../../client/index.ts';
import { toWireError } from '../parts/to-wire-error.ts';

/** The error of a load that only this tab shows. Every tab shows `failure`, and a cancelled load is no error. */
export function refusalOf(caught: unknown, failure: LoadFailure | undefined): WireError | undefined {
  const refusal = toWireError(caught);
  if (refusal.code === 'LOAD_CANCELLED') return undefined;
  const isShown = refusal.code === failure?.error.code && refusal.message === failure.error.message;
  return isShown ? undefined : refusal;
}
