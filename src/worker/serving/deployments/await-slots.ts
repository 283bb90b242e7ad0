import { requireEntries } from '../../../batching/batch/require-entries.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';

/**
 * Waits for the promises in a handler's list, such as `items.map(async …)` makes. A rejection is the error of its item alone.
 *
 * @throws BatchSizeMismatchError for an answer that is not a list of one entry per item.
 */
export async function awaitSlots(slots: unknown, numItems: number): Promise<readonly unknown[]> {
  requireEntries(slots, numItems);
  if (!slots.some(isThenable)) return slots;
  const outcomes = await Promise.allSettled(slots);
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : asError(outcome.reason),
  );
}

/** False for a value that can't be read, such as a revoked Proxy. */
function isThenable(slot: unknown): boolean {
  try {
    return typeof slot === 'object' && slot !== null && 'then' in slot && typeof slot.then === 'function';
  } catch {
    return false;
  }
}

export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(toWireError(cause).message, { cause });
}
