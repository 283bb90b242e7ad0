import { batch, batchStream, type Batched, type BatchedStream, type END_OF_STREAM } from './batch.ts';
import type { BatchContext, BatchEvent, BatchOptions } from './batch-options.ts';
import { FakeClock } from '../testing/fake-clock.ts';

/** One run of the handler, which ends when the test says so. */
export interface HandlerRun<Item, Result> {
  readonly items: readonly Item[];
  readonly context: BatchContext;
  resolve(results: readonly (Result | Error)[]): void;
  reject(error: unknown): void;
}

export interface Rig<Item, Result> {
  readonly clock: FakeClock;
  readonly call: Batched<Item, Result>;
  readonly runs: HandlerRun<Item, Result>[];
  readonly events: BatchEvent[];
  /** Ends the oldest run that has not ended, with its items as results. Resolves when the callers have them. */
  readonly finish: () => Promise<void>;
  /** Ends every run that there is and that this starts. */
  readonly finishAll: () => Promise<void>;
}

/** A batched handler of numbers on a fake clock. It records its calls and echoes its items on request. */
export function createRig(options: BatchOptions<number> = {}): Rig<number, number> {
  const clock = new FakeClock();
  const runs: HandlerRun<number, number>[] = [];
  const events: BatchEvent[] = [];
  let numFinished = 0;
  const call = batch<number, number>(
    (items, context) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly (number | Error)[]>();
      runs.push({ items, context, resolve, reject });
      return promise;
    },
    { clock, onBatch: (event) => events.push(event), ...options },
  );
  const finish = async (): Promise<void> => {
    const run = runs[numFinished++];
    run?.resolve(run.items);
    await settled();
  };
  const finishAll = async (): Promise<void> => {
    while (numFinished < runs.length) await finish();
  };
  return { clock, call, runs, events, finish, finishAll };
}

export type Step = readonly (string | Error | typeof END_OF_STREAM)[];

/** One run of a stream handler: the test yields its steps, ends it or makes it throw. */
export interface StreamRun {
  readonly items: readonly number[];
  readonly context: BatchContext;
  readonly isClosed: boolean;
  yield(step: Step): Promise<void>;
  end(): Promise<void>;
  throw(error: unknown): Promise<void>;
}

export interface StreamRig {
  readonly clock: FakeClock;
  readonly call: BatchedStream<number, string>;
  readonly runs: StreamRun[];
  readonly events: BatchEvent[];
}

export function createStreamRig(options: BatchOptions<number> = {}): StreamRig {
  const clock = new FakeClock();
  const runs: StreamRun[] = [];
  const events: BatchEvent[] = [];
  const call = batchStream<number, string>(
    (items, context) => {
      const steps = new StepSource(items, context);
      runs.push(steps);
      return steps.generate();
    },
    { clock, onBatch: (event) => events.push(event), ...options },
  );
  return { clock, call, runs, events };
}

class StepSource implements StreamRun {
  readonly items: readonly number[];
  readonly context: BatchContext;
  isClosed = false;
  #next = Promise.withResolvers<Step | undefined>();

  constructor(items: readonly number[], context: BatchContext) {
    this.items = items;
    this.context = context;
  }

  async *generate(): AsyncGenerator<Step> {
    try {
      for (let step = await this.#nextStep(); step; step = await this.#nextStep()) yield step;
    } finally {
      this.isClosed = true;
    }
  }

  async yield(step: Step): Promise<void> {
    this.#next.resolve(step);
    await settled();
  }

  async end(): Promise<void> {
    this.#next.resolve(undefined);
    await settled();
  }

  async throw(error: unknown): Promise<void> {
    this.#next.reject(error);
    await settled();
  }

  async #nextStep(): Promise<Step | undefined> {
    const step = await this.#next.promise;
    this.#next = Promise.withResolvers();
    return step;
  }
}

/** Everything that promises alone can make happen has happened: no timer is involved. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
}

/** How a promise stands once promises alone can move nothing any more. */
export async function outcomeOf<Value>(promise: Promise<Value>): Promise<Value | Error | 'pending'> {
  let outcome: Value | Error | 'pending' = 'pending';
  promise.then(
    (value) => (outcome = value),
    (error: Error) => (outcome = error),
  );
  await settled();
  return outcome;
}

/** Reads a stream to its end: the chunks, then the error if there was one. */
export async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const chunk of stream) seen.push(chunk);
  } catch (error) {
    seen.push(error);
  }
  return seen;
}
