import type { LoadFailure, WireError } from '../../worker/protocol/protocol.ts';
import { toWireError } from '../state/to-wire-error.ts';

/**
 * Why a load that this tab has asked for did not come about, where this tab alone has to say it: every tab tells what the worker
 * refuses, and whoever has ended a load knows.
 *
 * @param told What every tab tells.
 */
export function refusalOf(caught: unknown, told: LoadFailure | undefined): WireError | undefined {
  const refusal = toWireError(caught);
  if (refusal.code === 'LOAD_CANCELLED') return undefined;
  const isTold = refusal.code === told?.error.code && refusal.message === told.error.message;
  return isTold ? undefined : refusal;
}
