import { BatchSizeMismatchError, ClosedError, ItemTooLargeError } from '../base/errors.ts';

// A tab makes these errors again from their codes, without what is said here.

export function batchSizeMismatch(
  inputLength: number,
  outputLength: number | 'not an array',
): BatchSizeMismatchError {
  return new BatchSizeMismatchError(
    `Batched function doesn't preserve batch size. The input list has length ${inputLength} ` +
      `but the returned list has length ${outputLength}.`,
  );
}

export function batcherClosed(): ClosedError {
  return new ClosedError('The batcher is closed: make a new one, or close it later.');
}

export function itemTooLarge(size: number, maxBatchSize: number): ItemTooLargeError {
  return new ItemTooLargeError(
    `The item measures ${size}, which exceeds maxBatchSize (${maxBatchSize}): ` +
      'raise maxBatchSize, split the item, or check batchSizeFn.',
  );
}
