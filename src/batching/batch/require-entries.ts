import { BatchSizeMismatchError } from '../base/errors.ts';

/** @throws BatchSizeMismatchError for a handler's answer that is not a list of one entry per item. */
export function requireEntries(entries: unknown, numItems: number): asserts entries is readonly unknown[] {
  if (!Array.isArray(entries)) throw BatchSizeMismatchError.of(numItems, 'not an array');
  if (entries.length !== numItems) throw BatchSizeMismatchError.of(numItems, entries.length);
}
