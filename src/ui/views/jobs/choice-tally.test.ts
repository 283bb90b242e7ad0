import { expect, it } from 'vitest';

import type { JobResult, JobRow, ReadRowsOptions } from '../../../client/index.ts';
import { ChoiceTally } from './choice-tally.ts';

const CHOICES = ['good', 'bad'];
const NUMBERS = { numPromptTokens: 1, numOutputTokens: 1 };
const good: JobResult = { text: 'good', choiceProbabilities: [0.75, 0.25], ...NUMBERS };
const bad: JobResult = { text: 'bad', choiceProbabilities: [0.5, 0.5], ...NUMBERS };
const failed: JobResult = { error: { code: 'X', message: '' }, ...NUMBERS };

/** Rows by their results, read at most three at once. */
function playedJob(results: readonly (JobResult | undefined)[]) {
  const rows = results.map((result, index): JobRow => ({
    index,
    input: {},
    json: '',
    ...(result && { result }),
  }));
  const listeners = new Set<(info: undefined) => void>();
  const numDone = (isFailed: boolean): number =>
    rows.filter(({ result }) => result && (result.error !== undefined) === isFailed).length;
  return {
    get info() {
      return { counts: { total: rows.length, finished: numDone(false), failed: numDone(true) } };
    },
    rows: ({ from = 0 }: ReadRowsOptions = {}) =>
      Promise.resolve({
        rows: rows.slice(from, from + 3),
        next: from + 3 < rows.length ? from + 3 : undefined,
      }),
    subscribe: (listener: (info: undefined) => void) => {
      listeners.add(listener);
      listener(undefined);
      return () => listeners.delete(listener);
    },
    finish: (index: number, result: JobResult): void => {
      rows[index] = { index, input: {}, json: '', result };
      for (const listener of listeners) listener(undefined);
    },
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it('counts each row that is done once, also behind rows that aren’t, and sums what its answer was sure of', async () => {
  const job = playedJob([good, bad, failed, undefined, undefined, good]);
  const tally = new ChoiceTally(job, CHOICES);
  tally.follow();
  await settle();
  const first = [
    { choice: 'good', numRows: 2, confidence: 1.5 },
    { choice: 'bad', numRows: 1, confidence: 0.5 },
  ];
  expect(tally.store.getState()).toEqual({ numRows: 3, shares: first });
  job.finish(4, bad);
  await settle();
  job.finish(3, bad);
  await settle();
  const all = [
    { choice: 'good', numRows: 2, confidence: 1.5 },
    { choice: 'bad', numRows: 3, confidence: 1.5 },
  ];
  expect(tally.store.getState()).toEqual({ numRows: 5, shares: all });
});

it('reads nothing while its view is hidden, and goes on once it is back', async () => {
  const job = playedJob([good, undefined, undefined]);
  const tally = new ChoiceTally(job, CHOICES);
  tally.follow()();
  await settle();
  const { numRows } = tally.store.getState();
  job.finish(1, good);
  await settle();
  expect(tally.store.getState().numRows).toBe(numRows);
  tally.follow();
  await settle();
  expect(tally.store.getState().numRows).toBe(2);
});
