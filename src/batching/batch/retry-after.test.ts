import { describe, expect, it } from 'vitest';
import { batch, type BatchOptions } from './batch.ts';
import { settled } from './test-support.ts';
import { BackPressureError } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import type { BatchingPolicy } from '../generation/policy.ts';
import type { Step } from '../generation/model-runner.ts';
import { createRequest, createScheduler, outputOf } from '../generation/test-support.ts';
import { someOf } from '../testing/whole-run.ts';

const SECOND_MS = 1000;

/** A batcher whose handler takes the durations given, in turn, over and over. */
function createBatcher(durationsMs: readonly number[], options: BatchOptions<number> = {}) {
  const clock = new FakeClock();
  let numRuns = 0;
  const call = batch<number, number>(
    (items) => {
      const durationMs = durationsMs[numRuns++ % durationsMs.length] ?? 0;
      const { promise, resolve } = Promise.withResolvers<readonly number[]>();
      clock.setTimer(durationMs, () => resolve(items));
      return promise;
    },
    { clock, maxBatchSize: 4, maxQueuedRequests: 4, ...options },
  );
  /** In small steps, so that each timer's promises are through before the next one fires. */
  const pass = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= 100) {
      clock.advance(Math.min(100, leftMs));
      await settled();
    }
  };
  /** The refusal of one more call, where the queue is full; undefined where it has a place. */
  const knock = async (): Promise<BackPressureError | undefined> => {
    let refusal: unknown;
    call(0).catch((error: unknown) => (refusal = error));
    await settled();
    return refusal instanceof BackPressureError ? refusal : undefined;
  };
  const fillQueue = async (): Promise<void> => {
    while (!(await knock()));
  };
  return { call, pass, knock, fillQueue };
}

type BatcherDriver = ReturnType<typeof createBatcher>;

/** How often an obedient client is refused that first comes now. */
async function countRefusals({ knock, pass }: BatcherDriver): Promise<number> {
  let numRefusals = 0;
  for (let refusal = await knock(); refusal; refusal = await knock()) {
    numRefusals += 1;
    await pass(refusal.retryAfterMs);
  }
  return numRefusals;
}

/** Number of refusals at each moment. A full load runs first, then a pause ends all calls, then the queue fills again. */
async function refusalsAt(
  momentsMs: readonly number[],
  create: () => BatcherDriver,
  loadMs: number,
): Promise<number[]> {
  const counts: number[] = [];
  for (const momentMs of momentsMs) {
    const driver = create();
    for (let passedMs = 0; passedMs < loadMs; passedMs += SECOND_MS) {
      await driver.fillQueue();
      await driver.pass(SECOND_MS);
    }
    await driver.pass(100 * SECOND_MS);
    await driver.fillQueue();
    await driver.pass(momentMs);
    counts.push(await countRefusals(driver));
  }
  return counts;
}

const MOMENTS_MS = [0, 1, 5 * SECOND_MS, 9999, 12_345, 19_900];

describe('a client of a batcher that comes back after retryAfterMs', () => {
  it('is let in at its first retry, whenever it was refused in a batch of 20 s', async () => {
    const refusals = await refusalsAt(MOMENTS_MS, () => createBatcher([20 * SECOND_MS]), 60 * SECOND_MS);
    expect(refusals).toEqual(MOMENTS_MS.map(() => 1));
  });

  it('is let in at its first retry where each cut takes all that waits', async () => {
    const create = (): BatcherDriver => createBatcher([20 * SECOND_MS], { maxBatchSize: 100 });
    expect(await refusalsAt(MOMENTS_MS, create, 60 * SECOND_MS)).toEqual(MOMENTS_MS.map(() => 1));
  });

  it('is let in at its first retry where two slots come free at once', async () => {
    const create = (): BatcherDriver => createBatcher([20 * SECOND_MS], { maxConcurrentBatches: 2 });
    expect(await refusalsAt(MOMENTS_MS, create, 60 * SECOND_MS)).toEqual(MOMENTS_MS.map(() => 1));
  });

  it('is let in at its first retry where long and short batches take turns', async () => {
    const create = (): BatcherDriver => createBatcher([2, 20, 5].map((seconds) => seconds * SECOND_MS));
    expect(await refusalsAt([0, 700, 1999], create, 90 * SECOND_MS)).toEqual([1, 1, 1]);
  });

  it('is told as long again as the first batch ever has run: a batch of 20 s refuses it no more than five times', async () => {
    const first = (): BatcherDriver => createBatcher([20 * SECOND_MS]);
    const driver = first();
    await driver.fillQueue();
    await driver.pass(300);
    expect(await countRefusals(driver)).toBe(5);
    const late = first();
    await late.fillQueue();
    await late.pass(10 * SECOND_MS);
    expect(await countRefusals(late)).toBe(1);
  });

  it('is let in at its first retry where a free slot waits for company', async () => {
    const driver = createBatcher([10], { maxBatchSize: 10, batchWaitTimeoutMs: 5 * SECOND_MS });
    await driver.fillQueue();
    await driver.pass(1234);
    expect((await driver.knock())?.retryAfterMs).toBe(5 * SECOND_MS - 1234);
    expect(await countRefusals(driver)).toBe(1);
  });

  it('is let in at its first retry where the next batch waits for company behind a busy slot, or for a look', async () => {
    const options = { maxBatchSize: 10, maxQueuedRequests: 3, batchWaitTimeoutMs: 700 };
    for (const strideMs of [0, 400]) {
      const create = (): BatcherDriver => createBatcher([200], { ...options, strideMs });
      expect(await refusalsAt([0, 150, 350, 600], create, 10 * SECOND_MS)).toEqual([1, 1, 1, 1]);
    }
  });

  it('is told a second where only a full batch leaves, and nobody knows when', async () => {
    const driver = createBatcher([10], { maxBatchSize: 10, allowSmallBatch: false });
    await driver.fillQueue();
    expect((await driver.knock())?.retryAfterMs).toBe(SECOND_MS);
  });
});

/** A scheduler on a device whose steps take 10 ms. */
function createEngineDriver(policy: Partial<BatchingPolicy>) {
  const scheduler = createScheduler({ maxQueuedRequests: 4, ...policy });
  let nowMs = 0;
  let numAdded = 0;
  const knock = (maxNewTokens: number): BackPressureError | undefined => {
    numAdded += 1;
    try {
      scheduler.addAll([createRequest(`r${numAdded}`, { maxNewTokens })], nowMs);
      return undefined;
    } catch (error) {
      if (error instanceof BackPressureError) return error;
      throw error;
    }
  };
  let inFlight: Step | undefined;
  /** Like the engine: updates the sequences and schedules the next step in one task. */
  const step = (): void => {
    nowMs += 10;
    const isSilent = inFlight?.kind === 'prefill' && !inFlight.isLastChunk;
    const tokenIds = isSilent ? [] : (inFlight?.rows ?? []).map(() => 9);
    if (inFlight) scheduler.update(inFlight, outputOf(tokenIds), nowMs);
    inFlight = scheduler.schedule(nowMs);
  };
  const driver = {
    knock,
    step,
    fillQueue: (lengths: readonly number[]): void => {
      while (!knock(lengths[numAdded % lengths.length] ?? 1));
    },
    /** Under full load. */
    run: (numSteps: number, lengths: readonly number[]): void => {
      for (let count = 0; count < numSteps; count += 1) {
        driver.fillQueue(lengths);
        step();
      }
      driver.fillQueue(lengths);
    },
    countRefusals: (): number => {
      let numRefusals = 0;
      for (let refusal = knock(1); refusal; refusal = knock(1)) {
        numRefusals += 1;
        for (let leftMs = refusal.retryAfterMs; leftMs > 0; leftMs -= 10) step();
      }
      return numRefusals;
    },
  };
  return driver;
}

/** Numbers of steps. A request takes no more than 20. */
function momentsFrom(first: number): readonly number[] {
  const moments = Array.from({ length: 60 }, (_, index) => first + index);
  return someOf(moments, 20);
}

describe('a client of the engine that comes back after retryAfterMs', () => {
  const policies = ['off', 'static', 'continuous'] as const;

  it.each(policies)('is let in at its first retry under %s, whenever it was refused', (policy) => {
    for (const numSteps of momentsFrom(200)) {
      const driver = createEngineDriver({ policy, maxBatchSize: 3 });
      driver.run(numSteps, [20]);
      expect(driver.countRefusals()).toBe(1);
    }
  });

  it.each(policies)('is let in at its first retry under %s, where lengths differ', (policy) => {
    for (const numSteps of momentsFrom(400)) {
      const driver = createEngineDriver({ policy, maxBatchSize: 3 });
      driver.run(numSteps, [20, 5, 12]);
      expect(driver.countRefusals()).toBe(1);
    }
  });

  it('is let in at its first retry where an idle engine waits for company', () => {
    for (const policy of ['static', 'continuous'] as const) {
      const driver = createEngineDriver({ policy, maxBatchSize: 8, batchWaitTimeoutMs: 500 });
      driver.fillQueue([4]);
      driver.step();
      expect(driver.knock(1)?.retryAfterMs).toBe(490);
      expect(driver.countRefusals()).toBe(1);
    }
  });

  it('is told of the next step, not of the next end, where slots are free', () => {
    const driver = createEngineDriver({ maxBatchSize: 8, maxBatchedTokens: 3 });
    driver.run(2, [60]);
    expect(driver.knock(1)?.retryAfterMs).toBeLessThanOrEqual(30);
    expect(driver.countRefusals()).toBe(1);
  });
});
