import type { LoadFailure, WireError } from '../../worker/protocol/protocol.ts';
import { toWireError } from '../state/to-wire-error.ts';

/** The error of a load that only this tab shows. A cancelled load is no error, and every tab shows the worker's refusal (`told`). */
export function refusalOf(caught: unknown, told: LoadFailure | undefined): WireError | undefined {
  const refusal = toWireError(caught);
  if (refusal.code === 'LOAD_CANCELLED') return undefined;
  const isTold = refusal.code === told?.error.code && refusal.message === told.error.message;
  return isTold ? undefined : refusal;
}
