import { loadAdder } from './support/adder-load.ts';
import { expect, test } from './support/bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

test('64 connections at once are all answered, in full batches', { tag: ANY_BACKEND }, async ({ served }) => {
  const { url, tab } = served;
  const load = await loadAdder(tab.page, url, { connections: 64, seconds: 2 });
  expect(load.numErrors).toBe(0);
  expect(load.batches.length).toBeGreaterThan(0);
  expect(load.batches.map(({ batchSize }) => batchSize)).toEqual(load.batches.map(() => 4));
});
