import { batchSizeMismatch } from './batch-errors.ts';

/** @throws BatchSizeMismatchError for a handler's answer that is not a list of one entry per item. */
export function requireEntries(entries: unknown, numItems: number): asserts entries is readonly unknown[] {
  if (!Array.isArray(entries)) throw batchSizeMismatch(numItems, 'not an array');
  if (entries.length !== numItems) throw batchSizeMismatch(numItems, entries.length);
}
