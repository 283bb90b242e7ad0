import { systemClock } from '../batching/base/clock.ts';
import { InvalidOptionError } from '../batching/base/errors.ts';
import { defineDeployment } from '../protocol/deployment.ts';

/** Simulates the work of a model, as the tutorial does. */
const SIMULATED_WORK_MS = 200;

/** Adds one to each number of a batch at once. */
export const adder = defineDeployment({
  name: 'adder',
  checkInput(input): number {
    if (typeof input === 'number' && Number.isFinite(input)) return input;
    throw InvalidOptionError.of('input', 'a finite number', input);
  },
  batchOptions: { maxBatchSize: 4 },
  async handler(numbers) {
    await new Promise<void>((resolve) => void systemClock.setTimer(SIMULATED_WORK_MS, resolve));
    return [...Float64Array.from(numbers, (number) => number + 1)];
  },
});
