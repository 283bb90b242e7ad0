import type { BatchContext } from '../../../batching/batch/batch.ts';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { WasmAbortError } from '../../runtime/faults/runtime-errors.ts';
import { isMemoryError } from '../../runtime/faults/fault-of.ts';
import { requireEntries } from '../../../batching/batch/require-entries.ts';
import { toWireError } from '../../../protocol/wire-errors.ts';

export type BatchHandler<Item> = (
  items: readonly Item[],
  context: BatchContext,
) => Promise<readonly unknown[]>;

/**
 * Runs a batch. If it runs out of memory or refuses an input, its two halves run one after the other, and so on. A single item that
 * doesn't fit or is refused fails alone. Any other error fails the whole batch.
 */
export async function runSplitting<Item>(
  handler: BatchHandler<Item>,
  items: readonly Item[],
  context: BatchContext,
): Promise<readonly unknown[]> {
  try {
    return await awaitSlots(await handler(items, context), items.length);
  } catch (error) {
    if (items.length < 2 || !mayFitInParts(error)) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await runPart(handler, items, context, 0, middle);
    return [...first, ...(await runPart(handler, items, context, middle, items.length))];
  }
}

/** Whether a part of the batch may succeed. */
function mayFitInParts(error: unknown): boolean {
  if (error instanceof WasmAbortError) return false;
  return error instanceof InvalidOptionError || isMemoryError(error);
}

/** An error fails only the members of this part, unless it ended the runtime. A batch that all callers have left does not run. */
async function runPart<Item>(
  handler: BatchHandler<Item>,
  items: readonly Item[],
  context: BatchContext,
  begin: number,
  end: number,
): Promise<readonly unknown[]> {
  const part = items.slice(begin, end);
  try {
    context.signal.throwIfAborted();
    return await runSplitting(handler, part, partOf(context, begin, end));
  } catch (cause) {
    if (cause instanceof WasmAbortError) throw cause;
    const error = asError(cause);
    return part.map(() => error);
  }
}

function partOf(context: BatchContext, begin: number, end: number): BatchContext {
  return {
    reason: context.reason,
    get signal() {
      return context.signal;
    },
    get itemSignals() {
      return context.itemSignals.slice(begin, end);
    },
  };
}

/**
 * Waits for the promises in a handler's list, such as `items.map(async …)` makes. A rejection is the error of its item alone.
 *
 * @throws BatchSizeMismatchError for an answer that is not a list of one entry per item.
 */
async function awaitSlots(slots: unknown, numItems: number): Promise<readonly unknown[]> {
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

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(toWireError(cause).message, { cause });
}
