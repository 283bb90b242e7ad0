import type { BatchContext } from '../../batching/batch.ts';
import { BatchSizeMismatchError } from '../../batching/errors.ts';
import { isMemoryError } from '../runtime/fault-of.ts';

export type BatchHandler<Item> = (
  items: readonly Item[],
  context: BatchContext,
) => Promise<readonly unknown[]>;

/**
 * Runs a batch; one that fails for want of memory is run again as two halves, one after the other, and so on. A single item
 * that does not fit fails alone. Any other failure is the whole batch's.
 */
export async function runSplitting<Item>(
  handler: BatchHandler<Item>,
  items: readonly Item[],
  context: BatchContext,
): Promise<readonly unknown[]> {
  try {
    return await handler(items, context);
  } catch (error) {
    if (!isMemoryError(error) || items.length < 2) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await runPart(handler, items, context, 0, middle);
    return [...first, ...(await runPart(handler, items, context, middle, items.length))];
  }
}

/** Never rejects: what fails a part fails its members. Those of a batch that everybody has left are not run any more. */
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
    const results: unknown = await runSplitting(handler, part, partOf(context, begin, end));
    if (!Array.isArray(results)) throw BatchSizeMismatchError.of(part.length, 'not an array');
    if (results.length !== part.length) throw BatchSizeMismatchError.of(part.length, results.length);
    return results;
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause), { cause });
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
