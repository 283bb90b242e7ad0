import { BatchSizeMismatchError, ItemTooLargeError } from '../base/errors.ts';

// A tab makes these errors again from their codes, without what is said here.

function batchSizeMismatch(
  inputLength: number,
  outputLength: number | 'not an array',
): BatchSizeMismatchError {
  return new BatchSizeMismatchError(
    `Batched function doesn't preserve batch size. The input list has length ${inputLength} ` +
      `but the returned list has length ${outputLength}.`,
  );
}

export function itemTooLarge(size: number, maxBatchSize: number): ItemTooLargeError {
  return new ItemTooLargeError(
    `The item measures ${size}, which exceeds maxBatchSize (${maxBatchSize}): ` +
      'raise maxBatchSize, split the item, or check batchSizeFn.',
  );
}

/** @throws BatchSizeMismatchError for a handler's answer that is not a list of one entry per item. */
export function requireEntries(entries: unknown, numItems: number): asserts entries is readonly unknown[] {
  if (!Array.isArray(entries)) throw batchSizeMismatch(numItems, 'not an array');
  if (entries.length !== numItems) throw batchSizeMismatch(numItems, entries.length);
}
