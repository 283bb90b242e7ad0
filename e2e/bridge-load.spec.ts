import autocannon from 'autocannon';

import { expect, test } from './support/bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

/** The first and last batches may be smaller, because connections open and close one by one. */
const NUM_EDGE_BATCHES = 2;

test('64 connections at once are all answered, in full batches', { tag: ANY_BACKEND }, async ({ served }) => {
  const { page } = served.tab;
  const batchesAfter = (numBefore: number) =>
    page.evaluate(
      (first) => window.tabserve.batches('adder').filter(({ batchIndex }) => batchIndex > first),
      numBefore,
    );
  const numBefore = (await batchesAfter(-1)).at(-1)?.batchIndex ?? -1;
  const load = await autocannon({ url: `${served.url}/adder?number=3`, connections: 64, duration: 2 });
  expect(load.errors + load.timeouts + load.non2xx).toBe(0);
  const sizes = (await batchesAfter(numBefore)).map(({ batchSize }) => batchSize);
  const full = sizes.slice(NUM_EDGE_BATCHES, -NUM_EDGE_BATCHES);
  expect(full.length).toBeGreaterThan(0);
  expect(full).toEqual(full.map(() => 4));
});
