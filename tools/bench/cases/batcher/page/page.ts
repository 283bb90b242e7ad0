import { CONTENDERS, type Contender } from '../contenders.ts';

declare global {
  interface Window {
    measureBatcher: typeof measureContender;
  }
}

const NUM_ROUNDS = 15;
const NUM_WARM_UP_ROUNDS = 5;

/** More than a young generation holds, in small arrays. */
const MAX_GARBAGE_ITEMS = 1e6;

window.measureBatcher = measureContender;

/** Measures a contender in a process of its own. Returns items per second. */
async function measureContender(name: string, numItems: number): Promise<number> {
  const contender = CONTENDERS.find((each) => each.name === name);
  if (!contender) throw new Error(`No contender is called "${name}".`);
  for (let round = 0; round < NUM_WARM_UP_ROUNDS; round++) await timeRound(contender, numItems);
  let totalMs = 0;
  // Over all rounds together, because a garbage collection slows only the round in which it falls.
  for (let round = 0; round < NUM_ROUNDS; round++) totalMs += await timeRound(contender, numItems);
  return (1000 * NUM_ROUNDS * numItems) / totalMs;
}

async function timeRound(contender: Contender, numItems: number): Promise<number> {
  makeGarbage(Math.random() * MAX_GARBAGE_ITEMS);
  const submitAll = contender.create();
  const startMs = performance.now();
  await submitAll(numItems);
  return performance.now() - startMs;
}

/**
 * Makes a random amount, so that collections fall anywhere in the rounds. Otherwise a contender whose rounds just fill the young
 * generation would always be collected between rounds, when nothing is alive.
 */
function makeGarbage(numItems: number): void {
  let last: readonly number[] = [];
  for (let item = 0; item < numItems; item++) last = [item, last.length];
}
