import { describe, expect, it } from 'vitest';
import type { BatchEvent } from '../../batching/batch.ts';
import { InvalidOptionError } from '../../batching/errors.ts';
import { FakeClock } from '../../batching/fake-clock.ts';
import { createRequestId } from '../ids.ts';
import type { RequestId } from '../protocol.ts';
import { BatchedDeployment } from './batched-deployment.ts';
import { defineDeployment, type Deployment } from './deployment.ts';

const WORK_MS = 200;

function createDoubler(batchOptions: Deployment<number, number>['batchOptions'] = {}) {
  const clock = new FakeClock();
  const events: string[] = [];
  const batches: BatchEvent[] = [];
  const queueWaits: number[] = [];
  const names = new Map<RequestId, string>();
  const doubler = defineDeployment<number, number>({
    name: 'doubler',
    checkInput(input) {
      if (typeof input === 'number') return input;
      throw InvalidOptionError.of('input', 'a number', input);
    },
    batchOptions,
    async handler(numbers) {
      events.push(`run ${numbers.join()}`);
      await new Promise<void>((resolve) => void clock.setTimer(WORK_MS, resolve));
      return numbers.map((number) => (number < 0 ? new RangeError(`${number} is negative`) : number * 2));
    },
  });
  const served = new BatchedDeployment(doubler, clock, {
    onFailed: (id, error) => events.push(`${names.get(id)}: ${String(error)}`),
    onBatch: (event, answers) => {
      batches.push(event);
      for (const { requestId, result } of answers) events.push(`${names.get(requestId)} = ${String(result)}`);
    },
    onQueueWait: (queueWaitMs) => queueWaits.push(queueWaitMs),
  });
  const submit = (name: string, input: unknown, options: unknown = {}) => {
    const id = createRequestId();
    names.set(id, name);
    return { id, done: served.submit(id, input, options) };
  };
  /** Lets one batch run to its end. */
  const work = async (): Promise<void> => {
    clock.advance(WORK_MS);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { clock, served, submit, work, events, batches, queueWaits };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

function failingSink(): never {
  throw new Error('sink');
}

describe('BatchedDeployment', () => {
  it('answers each request of a batch, in order', async () => {
    const { submit, work, events } = createDoubler({ maxBatchSize: 2 });
    for (const number of [1, 2, 3]) submit(`r${number}`, number);
    await work();
    await work();
    expect(events).toEqual(['run 1', 'r1 = 2', 'run 2,3', 'r2 = 4', 'r3 = 6']);
  });

  it('reports each batch, and each request’s own wait', async () => {
    const { clock, submit, work, batches, queueWaits } = createDoubler({ maxBatchSize: 4 });
    submit('a', 1);
    clock.advance(30);
    submit('b', 2);
    clock.advance(20);
    submit('c', 3);
    clock.advance(WORK_MS - 50);
    await work();
    await work();
    expect(batches.map(({ reason, batchSize, waitMs }) => [reason, batchSize, waitMs])).toEqual([
      ['idle', 1, 0],
      ['timeout', 2, queueWaits[1]],
    ]);
    expect(queueWaits[1]).toBe((queueWaits[2] ?? 0) + 20);
  });

  it('fails the caller alone whose slot holds an error', async () => {
    const { submit, work, events } = createDoubler({ batchWaitTimeoutMs: 10, maxBatchSize: 3 });
    for (const number of [1, -1, 3]) submit(`r${number}`, number);
    await work();
    expect(events).toEqual(['run 1,-1,3', 'r-1: RangeError: -1 is negative', 'r1 = 2', 'r3 = 6']);
  });

  it('takes a cancelled request out of the queue, and ignores one that has ended', async () => {
    const { served, submit, work, events } = createDoubler();
    const [a, b] = [submit('a', 1), submit('b', 2)];
    served.cancel(b.id);
    await work();
    await a.done;
    served.cancel(a.id);
    served.cancel(createRequestId());
    await work();
    expect(events).toEqual(['run 1', expect.stringMatching(/^b: RequestCancelledError/), 'a = 2']);
  });

  it('measures inputs with the deployment’s own measure', async () => {
    const { submit, work, events } = createDoubler({
      batchSizeFn: sumOf,
      maxBatchSize: 5,
      batchWaitTimeoutMs: 1,
    });
    for (const number of [2, 3, 4, 9]) submit(`r${number}`, number);
    await work();
    await work();
    expect(events.filter((event) => !event.includes('='))).toEqual([
      'run 2,3',
      expect.stringMatching(/^r9: ItemTooLargeError/),
      'run 4',
    ]);
  });

  it('delivers answers even where the deployment’s own sink throws', async () => {
    const { submit, work, events } = createDoubler({ onBatch: failingSink });
    submit('a', 1);
    await work();
    expect(events).toEqual(['run 1', 'a = 2']);
  });

  it('turns knobs live, all of them or none', () => {
    const { served } = createDoubler({ maxBatchSize: 2 });
    expect(served.configure({ maxBatchSize: 8, batchWaitTimeoutMs: 50 })).toEqual({
      maxBatchSize: 8,
      batchWaitTimeoutMs: 50,
      maxConcurrentBatches: 1,
    });
    expect(() => served.configure({ maxBatchSize: 1, maxConcurrentBatches: 0 })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
    expect(() => served.configure({ maxBatch: 1 })).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_OPTION' }),
    );
    expect(served.knobs.maxBatchSize).toBe(8);
  });
});

describe('rejects', () => {
  it.each([
    ['an input that the deployment refuses', 'three', {}, /Expected `input` to be a number/],
    ['an option, as there are none', 3, { temperature: 1 }, /Unknown option `temperature`/],
  ])('%s, that caller alone', async (_, input, options, message) => {
    const { submit, work, events } = createDoubler({ batchWaitTimeoutMs: 10 });
    submit('good', 1);
    submit('bad', input, options);
    await work();
    await work();
    expect(events).toEqual([expect.stringMatching(message), 'run 1', 'good = 2']);
  });

  it('what waits beyond maxQueuedRequests, with back pressure', async () => {
    const { submit, work, events } = createDoubler({ maxQueuedRequests: 1 });
    for (const name of ['a', 'b', 'c']) submit(name, 1);
    await work();
    await work();
    expect(events).toContainEqual(expect.stringMatching(/^c: BackPressureError/));
  });
});
