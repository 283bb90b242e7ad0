import { batch, batchStream, END_OF_STREAM, fromRayConfig } from 'tabserve/batching';

import { sameType } from './same-type.js';

// `batch` infers items from the handler, and results from what it returns.

const lengths = batch(async (texts: readonly string[]) => texts.map(({ length }) => length), {
  maxBatchSize: 4,
  batchSizeFn: (texts) => texts.join('').length,
  onBatch: ({ reason, batchSize, waitMs }) => {
    sameType<typeof reason, 'full' | 'deferred' | 'flush' | 'close' | 'timeout' | 'idle'>();
    sameType<typeof batchSize, number>();
    sameType<typeof waitMs, number>();
  },
});
const length = await lengths('four', { signal: AbortSignal.timeout(1000) });
sameType<typeof length, number>();
sameType<typeof lengths.queueLength, number>();
sameType<ReturnType<typeof lengths.close>, Promise<void>>();
declare const unset: undefined;
void lengths('four', { signal: unset });
{
  await using scoped = batch(async (texts: readonly string[]) => texts, {
    maxBatchSize: unset,
    batchWaitTimeoutMs: unset,
    maxQueuedRequests: unset,
    batchSizeFn: unset,
    onBatch: unset,
  });
  const text = await scoped('a');
  sameType<typeof text, string>();
}
// @ts-expect-error -- one text, not a list
void lengths(['four']);
// @ts-expect-error -- a number is no text
void lengths(4);
// @ts-expect-error -- knobs are set by methods
lengths.maxBatchSize = 8;

// An `Error` in a slot rejects that caller: it is no result.
const roots = batch(async (numbers: readonly number[]) =>
  numbers.map((number) => (number < 0 ? new RangeError('negative') : Math.sqrt(number))),
);
const root = await roots(4);
sameType<typeof root, number>();

const configured = batch(async (texts: readonly string[]) => texts, fromRayConfig({ max_batch_size: 4 }));
sameType<Parameters<typeof configured>[0], string>();
// @ts-expect-error -- Ray's spelling is for fromRayConfig
batch(async (texts: readonly string[]) => texts, { max_batch_size: 4 });
// @ts-expect-error -- the handler has to return a list
batch(async (texts: readonly string[]) => texts.length);
// @ts-expect-error -- a text in place of a number
batch(async (texts: readonly string[]) => texts, { maxBatchSize: '4' });

// `batchStream` infers the type of chunks without the end and errors.

const words = batchStream(async function* (texts: readonly string[]) {
  yield texts.map((text) => text.split(' ')[0] ?? '');
  yield texts.map(() => END_OF_STREAM);
});
for await (const word of words('one two')) sameType<typeof word, string>();
// @ts-expect-error -- a stream is read with `for await`: it is no promise
words('one two').then(String);
