import { describe, expect, it, vi } from 'vitest';
import type { BatchContext, BatchOptions } from '../../../batching/batch/batch.ts';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { createClientId, createRequestId, type ClientId, type RequestId } from '../../../protocol/ids.ts';
import type { BatchRecord } from '../../../protocol/stats.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { WasmAbortError } from '../../runtime/faults/runtime-errors.ts';
import { BatchedDeployment } from './batched-deployment.ts';
import { defineDeployment, type Deployment } from '../../../protocol/deployment.ts';
import { onnxFileMissing } from '../../../protocol/errors/file-messages.ts';

const WORK_MS = 200;

/** @param failureOf What the handler throws for a batch, if anything. */
function createDoubler(
  batchOptions: Deployment<number, number>['batchOptions'] = {},
  failureOf: (numbers: readonly number[]) => unknown = () => undefined,
  maxRows?: number,
) {
  const clock = new FakeClock();
  const told = vi.spyOn(console, 'error').mockReturnValue();
  const events: string[] = [];
  const batches: BatchRecord[] = [];
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
      const failure = failureOf(numbers);
      if (failure === 'nothing') throw undefined;
      if (failure) throw failure;
      return numbers.map((number) => (number < 0 ? new RangeError(`${number} is negative`) : number * 2));
    },
  });
  const served = new BatchedDeployment(
    doubler,
    clock,
    {
      onFailed: (id, error) => events.push(`${names.get(id)}: ${String(error)}`),
      onBatch: (event, answers) => {
        batches.push(event);
        for (const { requestId, result } of answers)
          events.push(`${names.get(requestId)} = ${String(result)}`);
      },
      onQueueWait: (queueWaitMs) => queueWaits.push(queueWaitMs),
    },
    maxRows,
  );
  const clients = new Map<string, ClientId>();
  const submit = (name: string, input: unknown, options: unknown = {}, tab = 'tab') => {
    const requestId = createRequestId();
    const clientId = clients.get(tab) ?? createClientId();
    clients.set(tab, clientId);
    names.set(requestId, name);
    served.submitAll([{ requestId, clientId, input, options }]);
    return requestId;
  };
  /** Lets one batch run to its end. */
  const work = async (): Promise<void> => {
    clock.advance(WORK_MS);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { clock, served, submit, work, events, batches, queueWaits, told };
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

  it.each([
    [InvalidOptionError.of('rooms', 'a number', 'x'), /: `inputs\[7\]`: Expected `rooms`/],
    [OnnxModelError.withoutFile('/wine.onnx', 'w.data', []), /OnnxModelError: \/wine/],
    [onnxFileMissing('/wine.onnx', 'HTTP status 404'), /ModelFileMissingError: Couldn/],
  ])(
    'names the input of a list where an error is about it, and not where the model can’t run: %s',
    async (failure, told) => {
      const { served, work, events } = createDoubler({}, () => failure);
      served.submitAll([
        { requestId: createRequestId(), clientId: createClientId(), input: 1, options: {}, place: 7 },
      ]);
      await work();
      expect(events.at(-1)).toMatch(told);
    },
  );

  it('takes a cancelled request out of the queue, and ignores one that has ended', async () => {
    const { served, submit, work, events } = createDoubler();
    const [a, b] = [submit('a', 1), submit('b', 2)];
    served.cancel(b);
    await work();
    served.cancel(a);
    served.cancel(createRequestId());
    await work();
    expect(events).toEqual(['run 1', expect.stringMatching(/^b: AbortError/), 'a = 2']);
  });

  it('lets clients take turns: one that floods holds nobody back', async () => {
    const { submit, work, events } = createDoubler({ maxBatchSize: 2 });
    for (let number = 0; number < 500; number++) submit(`flood ${number}`, number, {}, 'flooding tab');
    submit('other', 1000, {}, 'other tab');
    for (let batch = 0; batch < 3; batch++) await work();
    expect(events.filter((event) => event.startsWith('run'))).toEqual([
      'run 0',
      'run 1,1000',
      'run 2,3',
      'run 4,5',
    ]);
  });

  it('shares the queue between clients, and always has a place for a first request', async () => {
    const { submit, work, events } = createDoubler({ maxQueuedRequests: 2, maxBatchSize: 1 });
    for (const name of ['first', 'a1', 'a2', 'a3']) submit(name, 1, {}, 'a');
    for (const name of ['b1', 'b2']) submit(name, 1, {}, 'b');
    for (let batch = 0; batch < 4; batch++) await work();
    expect(events.filter((event) => !event.startsWith('run '))).toEqual([
      expect.stringMatching(/^a3: BackPressureError/),
      expect.stringMatching(/^b2: BackPressureError/),
      'first = 2',
      'a1 = 2',
      'b1 = 2',
      'a2 = 2',
    ]);
  });

  it('counts waits from the arrival, also of what was held back', async () => {
    const { submit, work, batches } = createDoubler({ maxBatchSize: 1 });
    for (const name of ['a', 'b', 'c']) submit(name, 1);
    for (let batch = 0; batch < 3; batch++) await work();
    expect(batches.map(({ reason, waitMs, queueLength }) => [reason, waitMs, queueLength])).toEqual([
      ['full', 0, 2],
      ['full', WORK_MS, 1],
      ['full', 2 * WORK_MS, 0],
    ]);
  });

  it('cancels what is held back at once, and its place goes to the next', async () => {
    const { served, submit, work, events } = createDoubler({ maxBatchSize: 1 });
    const [, , held] = [submit('a', 1), submit('b', 2), submit('c', 3), submit('d', 4)];
    if (held) served.cancel(held);
    for (let batch = 0; batch < 3; batch++) await work();
    expect(events.filter((event) => !event.startsWith('run'))).toEqual([
      expect.stringMatching(/^c: AbortError/),
      'a = 2',
      'b = 4',
      'd = 8',
    ]);
  });

  it('hands over more as soon as a raised limit has room', async () => {
    const { served, submit, work, events } = createDoubler({ maxBatchSize: 1 });
    for (const number of [1, 2, 3, 4]) submit(`r${number}`, number);
    served.configure({ maxBatchSize: 3 });
    await work();
    await work();
    expect(events.filter((event) => event.startsWith('run'))).toEqual(['run 1', 'run 2,3,4']);
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

/** A deployment with a handler of JavaScript. */
function createAny(
  handler: (inputs: readonly unknown[], context: BatchContext) => unknown,
  batchOptions: BatchOptions<unknown> = {},
) {
  const clock = new FakeClock();
  const outcomes: string[] = [];
  const served = new BatchedDeployment(
    {
      name: 'any',
      checkInput: (input) => input,
      batchOptions: { batchWaitTimeoutMs: 1, ...batchOptions },
      handler: async (inputs, context) => {
        const answers: unknown = await handler(inputs, context);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that it isn't one is what is tested
        return answers as unknown[];
      },
    },
    clock,
    {
      onFailed: (id, error) => outcomes.push(`${names.get(id)}: ${codeOf(error)}`),
      onBatch: (_, answers) => {
        for (const { requestId, result } of answers)
          outcomes.push(`${names.get(requestId)} = ${String(result)}`);
      },
      onQueueWait: () => {},
    },
  );
  const names = new Map<RequestId, string>();
  const clientId = createClientId();
  const submit = (name: string): RequestId => {
    const requestId = createRequestId();
    names.set(requestId, name);
    served.submitAll([{ requestId, clientId, input: name, options: {} }]);
    return requestId;
  };
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
  };
  return { served, submit, advance, outcomes };
}

const spyOnConsole = () => vi.spyOn(console, 'warn').mockReturnValue();

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

describe('a handler that answers with promises', () => {
  it('is waited for, and a promise that rejects fails its request alone', async () => {
    const late = Promise.withResolvers<string>();
    const { submit, advance, outcomes } = createAny((inputs) =>
      inputs.map((input) => {
        if (input === 'bad') return Promise.reject(new RangeError('too bad'));
        return input === 'late' ? late.promise : Promise.resolve(String(input).toUpperCase());
      }),
    );
    for (const name of ['a', 'bad', 'late']) submit(name);
    await advance(1);
    expect(outcomes).toEqual([]);
    late.resolve('LATE');
    await advance(0);
    expect(outcomes).toEqual(['bad: RangeError: too bad', 'a = A', 'late = LATE']);
  });

  it.each(['a promise that rejects', 'an error'])('ends the runtime by %s that says so', async (slot) => {
    const error = WasmAbortError.because(new Error('Aborted()'));
    const { submit, advance, outcomes } = createAny(() => [
      slot === 'an error' ? error : Promise.reject(error),
    ]);
    submit('a');
    await advance(1);
    expect(outcomes).toEqual(['a: RuntimeLostError: The runtime was lost.']);
  });

  it('is refused where its list is none of one entry per item', async () => {
    const { submit, advance, outcomes } = createAny(() => [Promise.resolve(1), Promise.resolve(2)]);
    submit('a');
    await advance(1);
    expect(outcomes).toEqual(['a: BATCH_SIZE_MISMATCH']);
  });
});

describe('the console has what callers do not get of the code of a deployment', () => {
  it.each([
    ['an error', new RangeError('no house')],
    ['an error with a cause', new Error('no house', { cause: new TypeError('of stone') })],
    ['errors together', new AggregateError([new Error('one'), new Error('two')])],
    ['an exception of the browser', new DOMException('no house', 'DataCloneError')],
    ['a text', 'no house'],
  ])('%s that the handler throws, once for its batch', async (_, thrown) => {
    const { submit, work, events, told } = createDoubler(
      { batchWaitTimeoutMs: 10, maxBatchSize: 2 },
      () => thrown,
    );
    for (const number of [1, 2]) submit(`r${number}`, number);
    await work();
    expect(told.mock.calls).toEqual([['The deployment `doubler` failed:', thrown]]);
    expect(events.slice(1)).toEqual([1, 2].map((number) => `r${number}: ${String(thrown)}`));
  });

  it('a rejection with nothing', async () => {
    const { submit, work, told } = createDoubler({}, () => 'nothing');
    submit('r', 1);
    await work();
    expect(told.mock.calls).toEqual([['The deployment `doubler` failed:', undefined]]);
  });

  it('the errors in slots', async () => {
    const { submit, work, told } = createDoubler({ batchWaitTimeoutMs: 10, maxBatchSize: 3 });
    for (const number of [1, -1, -2]) submit(`r${number}`, number);
    await work();
    expect(told.mock.calls.map(([, error]) => error)).toEqual(
      [-1, -2].map((number) => new RangeError(`${number} is negative`)),
    );
  });

  it.each(['checkInput', 'batchSizeFn'])('what %s throws', async (part) => {
    const [told, thrown] = [vi.spyOn(console, 'error').mockReturnValue(), new Error('boom')];
    const fail = (): never => {
      throw thrown;
    };
    const listener = { onFailed: () => {}, onBatch: () => {}, onQueueWait: () => {} };
    const { checkInput = (input: unknown) => input, ...batchOptions } = { [part]: fail };
    const made = {
      name: 'any',
      checkInput,
      batchOptions,
      handler: async (inputs: readonly unknown[]) => inputs,
    };
    const served = new BatchedDeployment(made, new FakeClock(), listener);
    served.submitAll([{ requestId: createRequestId(), clientId: createClientId(), input: 1, options: {} }]);
    await vi.waitFor(() => expect(told.mock.calls).toEqual([['The deployment `any` failed:', thrown]]));
  });

  it('not what is meant for callers, nor what ends with them', async () => {
    const refusal = InvalidOptionError.of('input', 'a house', 1);
    const refused = createDoubler({}, () => refusal);
    refused.submit('refused', 1);
    refused.submit('not a number', 'x');
    await refused.work();
    const left = createDoubler({}, () => new DOMException('aborted', 'AbortError'));
    left.served.cancel(left.submit('left', 1));
    await left.work();
    expect(left.told).not.toHaveBeenCalled();
  });
});

describe('a handler that hangs', () => {
  const hang = new Promise<never>(() => {});

  it('fails those who wait behind it and those who come, 30 s after its callers left, and says so', async () => {
    const warn = spyOnConsole();
    const { served, submit, advance, outcomes } = createAny(([input]) => (input === 'hangs' ? hang : ['ok']));
    const hangs = submit('hangs');
    await advance(1);
    submit('waits');
    served.cancel(hangs);
    await advance(29_999);
    expect(outcomes).toEqual(['hangs: REQUEST_CANCELLED']);
    await advance(1);
    submit('comes');
    await advance(0);
    expect(outcomes.slice(1)).toEqual(['waits: HANDLER_HUNG', 'comes: HANDLER_HUNG']);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^The handler of `any` still .*reload the page/));
    served.configure({ maxConcurrentBatches: 2 });
    submit('beside');
    await advance(1);
    expect(outcomes.at(-1)).toBe('beside = ok');
  });

  it('serves again once the batch has ended', async () => {
    spyOnConsole();
    const slow = Promise.withResolvers<string[]>();
    const { served, submit, advance, outcomes } = createAny(([input]) =>
      input === 'slow' ? slow.promise : ['ok'],
    );
    const id = submit('slow');
    await advance(1);
    served.cancel(id);
    await advance(30_000);
    slow.resolve(['late']);
    await advance(0);
    submit('next');
    await advance(1);
    expect(outcomes).toEqual(['slow: REQUEST_CANCELLED', 'next = ok']);
  });

  it('is no more than a line on the console while a caller waits, once', async () => {
    const warn = spyOnConsole();
    const { submit, advance, outcomes } = createAny(() => hang, { maxConcurrentBatches: 2, maxBatchSize: 1 });
    for (const name of ['a', 'b', 'c']) submit(name);
    await advance(1);
    await advance(120_000);
    expect(outcomes).toEqual([]);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^A batch of `any` has run for 60 s/));
  });
});

describe('a deployment whose runtime is at an end', () => {
  it('says so, and leaves its requests to the next worker', async () => {
    const { submit, work, events } = createDoubler({}, () => WasmAbortError.because(new Error('Aborted()')));
    submit('a', 1);
    await work();
    expect(events).toEqual(['run 1', 'a: RuntimeLostError: The runtime was lost.']);
  });

  it('runs fewer together after a fault, whatever they measure, and as many as before after a while', async () => {
    const { served, submit, work, batches } = createDoubler(
      { maxBatchSize: 80, batchSizeFn: (numbers) => 10 * numbers.length, batchWaitTimeoutMs: 1 },
      undefined,
      2,
    );
    for (let number = 0; number < 140; number++) submit(`r${number}`, number);
    for (let run = 0; run < 70; run++) await work();
    const sizes = batches.map(({ batchSize }) => batchSize);
    expect(sizes.slice(0, 64)).toEqual(Array.from({ length: 64 }, () => 2));
    expect(Math.max(...sizes.slice(64))).toBe(8);
    expect(served.knobs.maxBatchSize).toBe(80);
  });

  it('runs a batch that is too much for memory as two', async () => {
    const { submit, work, events } = createDoubler({ batchWaitTimeoutMs: 1 }, (numbers) =>
      numbers.length > 1 ? new RangeError('Array buffer allocation failed') : undefined,
    );
    submit('a', 1);
    submit('b', 2);
    for (let run = 0; run < 4; run++) await work();
    expect(events).toEqual(['run 1,2', 'run 1', 'run 2', 'a = 2', 'b = 4']);
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
