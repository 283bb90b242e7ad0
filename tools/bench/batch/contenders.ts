import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { batch } from '../../../src/batching/batch.ts';

const BATCH_SIZE = 32;

/** Submits `numItems` items in one turn; every answer is in when the promise resolves. */
export type SubmitAll = (numItems: number) => Promise<unknown>;

export interface Contender {
  readonly name: string;
  /** A fresh queue, whose handler takes one microtask, or none of whose items is answered before `gate` opens. */
  create(gate?: Promise<void>): SubmitAll;
}

export const CONTENDERS: readonly Contender[] = [
  {
    name: 'batch',
    create(gate) {
      const call = batch(handlerBehind(gate), { maxBatchSize: BATCH_SIZE });
      return (numItems) => submitEach(numItems, (item) => call(item));
    },
  },
  {
    name: 'dataloader',
    create(gate) {
      // Its cache is off: it would answer a repeated key without the handler, and this compares batching.
      const loader = new DataLoader(handlerBehind(gate), { maxBatchSize: BATCH_SIZE, cache: false });
      return (numItems) => submitEach(numItems, (item) => loader.load(item));
    },
  },
  {
    name: 'p-limit, one by one',
    create(gate) {
      const limit = pLimit(BATCH_SIZE);
      const handler = async (item: number) => {
        if (gate) await gate;
        return item;
      };
      return (numItems) => submitEach(numItems, (item) => limit(handler, item));
    },
  },
];

function handlerBehind(gate: Promise<void> | undefined): (items: readonly number[]) => Promise<number[]> {
  return async (items) => {
    if (gate) await gate;
    return [...items];
  };
}

function submitEach(numItems: number, submit: (item: number) => Promise<number>): Promise<unknown> {
  const answers: Promise<number>[] = [];
  for (let item = 0; item < numItems; item++) answers.push(submit(item));
  return Promise.all(answers);
}
