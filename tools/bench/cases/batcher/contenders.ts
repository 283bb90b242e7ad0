import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { batch } from '../../../../src/batching/batch/batch.ts';

const BATCH_SIZE = 32;

/** Submits `numItems` items in one turn; every answer is in when the promise resolves. */
export type SubmitAll = (numItems: number) => Promise<unknown>;

export interface Contender {
  readonly name: string;
  /** A fresh queue, whose handler takes one microtask. */
  create(): SubmitAll;
}

export const CONTENDERS: readonly Contender[] = [
  {
    name: 'batch',
    create() {
      const call = batch(handler, { maxBatchSize: BATCH_SIZE });
      return (numItems) => submitEach(numItems, (item) => call(item));
    },
  },
  {
    name: 'dataloader',
    create() {
      // Its cache is off: it would answer a repeated key without the handler, and this compares batching.
      const loader = new DataLoader(handler, { maxBatchSize: BATCH_SIZE, cache: false });
      return (numItems) => submitEach(numItems, (item) => loader.load(item));
    },
  },
  {
    name: 'p-limit, one by one',
    create() {
      const limit = pLimit(BATCH_SIZE);
      return (numItems) => submitEach(numItems, (item) => limit((alone) => Promise.resolve(alone), item));
    },
  },
];

function handler(items: readonly number[]): Promise<number[]> {
  return Promise.resolve([...items]);
}

function submitEach(numItems: number, submit: (item: number) => Promise<number>): Promise<unknown> {
  const answers: Promise<number>[] = [];
  for (let item = 0; item < numItems; item++) answers.push(submit(item));
  return Promise.all(answers);
}
