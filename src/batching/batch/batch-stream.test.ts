// oxlint-disable typescript/no-unsafe-type-assertion -- misuse is what some of these tests are about
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { batch, batchStream, END_OF_STREAM, type BatchedStream } from './batch.ts';
import { createStreamRig, outcomeOf, readAll, settled } from './test-support.ts';
import {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  RequestCancelledError,
} from '../base/errors.ts';

/** Unreachable objects are gone when this resolves. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target to the end of the task
  (runInNewContext('gc') as () => void)();
}

/** A value that cannot even be asked for its class. */
function createRevoked<Target extends object>(target: Target): Target {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Two calls in one running batch, and its run. */
function createPair(options: Parameters<typeof createStreamRig>[0] = {}) {
  const rig = createStreamRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1, ...options });
  const controllers = [new AbortController(), new AbortController()] as const;
  const first = rig.call(1, { signal: controllers[0].signal });
  const second = rig.call(2, { signal: controllers[1].signal });
  const [run] = rig.runs;
  if (!run) throw new Error('two calls fill the batch');
  return { ...rig, controllers, first, second, run };
}

describe('batchStream: the worked example', () => {
  it('gives each of five clients 0 … limit-1 and ends early, for limits 1, 2, 5, 6, 9', async () => {
    let numSteps = 0;
    const respond = batchStream(
      async function* (limits: readonly number[]) {
        for (let chunk = 0; ; chunk++) {
          numSteps++;
          yield limits.map((limit) => (chunk < limit ? chunk : END_OF_STREAM));
        }
      },
      { maxBatchSize: 5, batchWaitTimeoutMs: 1000 },
    );
    const answers = await Promise.all([1, 2, 5, 6, 9].map((limit) => readAll(respond(limit))));
    expect(answers).toEqual(
      [1, 2, 5, 6, 9].map((limit) => Array.from({ length: limit }, (_, chunk) => chunk)),
    );
    expect(numSteps).toBe(10); // the tenth ends the last client, and no eleventh is asked for
    await respond.drain();
  });
});

describe('batchStream rule 1: a call enqueues at once', () => {
  it('enqueues in the call itself, before anything is read', () => {
    const { call, runs } = createStreamRig();
    call(1);
    call(2);
    expect(runs).toHaveLength(1);
    expect(call.queueLength).toBe(1);
  });
});

describe('batchStream rule 2: a stream holds its slot to the end', () => {
  it('starts the next batch when the generator has ended', async () => {
    const { call, runs, events, clock } = createStreamRig();
    const first = call(1);
    call(2);
    await runs[0]?.yield(['a']);
    clock.advance(70);
    expect(runs).toHaveLength(1);
    await runs[0]?.end();
    expect(runs[1]?.items).toEqual([2]);
    expect(await readAll(first)).toEqual(['a']);
    expect(events[0]).toMatchObject({ executionMs: 70, outcome: 'ok', reason: 'idle' });
  });
});

describe('batchStream rule 6 and 8: steps, errors and ends', () => {
  it('deals each step out by index, and ends every caller with the generator', async () => {
    const { first, second, run } = createPair();
    await run.yield(['a1', 'b1']);
    await run.yield(['a2', 'b2']);
    await run.end();
    expect(await readAll(first)).toEqual(['a1', 'a2']);
    expect(await readAll(second)).toEqual(['b1', 'b2']);
  });

  it('gives every caller an empty stream when the handler yields nothing', async () => {
    const { first, second, run } = createPair();
    await run.end();
    expect(await readAll(first)).toEqual([]);
    expect(await readAll(second)).toEqual([]);
  });

  it('ends one caller with END_OF_STREAM and ignores its slot from then on', async () => {
    const { first, second, run } = createPair();
    await run.yield(['a1', 'b1']);
    await run.yield([END_OF_STREAM, 'b2']);
    await run.yield([new Error('ignored'), 'b3']);
    await run.throw(new Error('late'));
    expect(await readAll(first)).toEqual(['a1']);
    expect(await readAll(second)).toEqual(['b1', 'b2', 'b3', new Error('late')]);
  });

  it('ends one caller with an Error in its slot, its mate goes on', async () => {
    const { first, second, run, events } = createPair();
    await run.yield([new Error('mine'), 'b1']);
    await run.yield(['ignored', 'b2']);
    await run.end();
    expect(await readAll(first)).toEqual([new Error('mine')]);
    expect(await readAll(second)).toEqual(['b1', 'b2']);
    expect(events[0]?.outcome).toBe('ok');
  });

  it('delivers the good chunks, then the error once, then the end', async () => {
    const { first, second, run, events } = createPair();
    await run.yield(['a1', 'b1']);
    await run.throw(new Error('out of memory'));
    expect(await first.next()).toEqual({ value: 'a1', done: false });
    await expect(first.next()).rejects.toThrow('out of memory');
    expect(await first.next()).toEqual({ value: undefined, done: true });
    expect(await readAll(second)).toEqual(['b1', new Error('out of memory')]);
    expect(events[0]?.outcome).toBe('error');
  });

  it('checks the length at every step, and closes the generator of a wrong one', async () => {
    const { first, second, run } = createPair();
    await run.yield(['a1', 'b1']);
    await run.yield(['a2']);
    const [, error] = await readAll(first);
    expect(error).toBeInstanceOf(BatchSizeMismatchError);
    expect(error).toHaveProperty(
      'message',
      "Batched function doesn't preserve batch size. The input list has length 2 but the returned list has length 1.",
    );
    expect(await readAll(second)).toEqual(['b1', error]);
    expect(run.isClosed).toBe(true);
  });

  it('rejects a step that is not an array, text included', async () => {
    const { first, run } = createPair();
    await run.yield('ab' as unknown as string[]);
    expect(await readAll(first)).toEqual([expect.any(BatchSizeMismatchError)]);
  });

  it('rejects every member when the handler gives no async iterable, and serves the next batch', async () => {
    let numRuns = 0;
    const call = batchStream<number, string>((items) => {
      if (numRuns++ === 0) return 5 as unknown as AsyncIterable<string[]>;
      return (async function* () {
        yield items.map(String);
      })();
    });
    expect(await readAll(call(1))).toEqual([expect.any(TypeError)]);
    expect(await readAll(call(2))).toEqual(['2']);
  });

  it('fails one caller alone whose chunk cannot be asked for its class, its mate goes on', async () => {
    const { first, second, run } = createPair();
    await run.yield([createRevoked(new Error('a1')), 'b1']);
    await run.yield(['a2', 'b2']);
    await run.end();
    expect(await readAll(first)).toEqual([expect.any(TypeError)]);
    expect(await readAll(second)).toEqual(['b1', 'b2']);
  });

  it('closes the generator of a step that cannot be read', async () => {
    const { first, second, run } = createPair();
    const unreadable = new Proxy(['a1', 'b1'], {
      get(step, key) {
        if (key === '0') throw new TypeError('not to be read');
        return Reflect.get(step, key) as unknown;
      },
    });
    await run.yield(unreadable);
    expect(await readAll(first)).toEqual([expect.any(TypeError)]);
    expect(await readAll(second)).toEqual([expect.any(TypeError)]);
    expect(run.isClosed).toBe(true);
  });

  it('closes the generator when every caller has ended', async () => {
    const { run, call, events } = createPair();
    await run.yield([END_OF_STREAM, 'b1']);
    expect(run.isClosed).toBe(false);
    await run.yield(['ignored', END_OF_STREAM]);
    expect(run.isClosed).toBe(true);
    expect(run.context.signal.aborted).toBe(false);
    expect(call.ongoingBatches).toBe(0);
    expect(events[0]?.outcome).toBe('ok');
  });

  it('delivers chunks of any kind by identity: undefined, symbols, objects, promises', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a chunk that must not be awaited
    const odd = { then: () => {} };
    const chunks = [
      undefined,
      Symbol('END_OF_STREAM'),
      odd,
      null,
      Promise.resolve(1),
      { message: 'not an Error' },
    ];
    const call = batchStream<number, unknown>(async function* () {
      for (const chunk of chunks) yield [chunk];
    });
    const stream = call(0);
    for (const chunk of chunks) {
      const { value } = await stream.next();
      expect(value).toBe(chunk);
    }
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  it('takes a handler without return(), and swallows a return() that fails', async () => {
    const left: string[] = [];
    for (const close of [undefined, () => Promise.reject(new Error('close'))]) {
      const call = batchStream<number, string>(() => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ value: [END_OF_STREAM], done: false }),
          ...(close && { return: close }),
        }),
      }));
      left.push(...((await readAll(call(1))) as string[]));
      await call.drain();
    }
    expect(left).toEqual([]);
  });
});

describe('batchStream rule 8: each caller has its own buffer', () => {
  it('keeps chunks for a slow reader, who delays nobody', async () => {
    const { first, second, run, call } = createPair();
    const early = Promise.all([second.next(), second.next(), second.next()]);
    for (const step of ['1', '2', '3']) await run.yield([`a${step}`, `b${step}`]);
    await run.end();
    expect((await early).map(({ value }) => value)).toEqual(['b1', 'b2', 'b3']);
    expect(call.ongoingBatches).toBe(0);
    expect(await readAll(first)).toEqual(['a1', 'a2', 'a3']);
  });

  it('answers reads that wait in order, the rest with the end', async () => {
    const { first, run } = createPair();
    const reads = [first.next(), first.next(), first.next()];
    await run.yield(['a1', 'b1']);
    await run.end();
    expect(await Promise.all(reads)).toEqual([
      { value: 'a1', done: false },
      { value: undefined, done: true },
      { value: undefined, done: true },
    ]);
  });

  it('gives an error to the first read that waits, the end to the others', async () => {
    const { first, run } = createPair();
    const reads = [first.next(), first.next()].map(outcomeOf);
    await run.throw(new Error('failed'));
    expect(await Promise.all(reads)).toEqual([expect.anything(), expect.anything()]);
    expect(await first.next()).toEqual({ value: undefined, done: true });
  });
});

describe('batchStream rule 7: cancellation', () => {
  it('cancels its caller on break: the item signal aborts, the mate goes on', async () => {
    const { first, second, run, call, events } = createPair();
    const [mine, mates] = run.context.itemSignals;
    const reading = (async () => {
      for await (const chunk of first) return chunk;
      return undefined;
    })();
    await run.yield(['a1', 'b1']);
    expect(await reading).toBe('a1');
    expect(mine?.aborted).toBe(true);
    expect(mates?.aborted).toBe(false);
    await run.yield(['ignored', 'b2']);
    await run.end();
    expect(await readAll(second)).toEqual(['b1', 'b2']);
    expect(await readAll(first)).toEqual([]);
    expect(call.ongoingBatches).toBe(0);
    expect(events[0]).toMatchObject({ batchSize: 2, outcome: 'ok' });
  });

  it('ends reads that wait in silence on return()', async () => {
    const { first } = createPair();
    const read = first.next();
    expect(await first.return?.()).toEqual({ value: undefined, done: true });
    expect(await read).toEqual({ value: undefined, done: true });
  });

  it('takes a waiting call out of the queue on return()', async () => {
    const { call, runs, events } = createStreamRig();
    call(1);
    const waiting = call(2);
    await waiting.return?.();
    expect(call.queueLength).toBe(0);
    await runs[0]?.end();
    expect(runs).toHaveLength(1);
    call(3);
    await runs[1]?.end();
    call(4);
    await runs[2]?.end();
    expect(events.map((event) => event.cancelled)).toEqual([0, 1, 0]);
  });

  it('counts a batch whose only reader left in silence as ok', async () => {
    const { call, runs, events } = createStreamRig();
    const only = call(1);
    await runs[0]?.yield(['a']);
    await only.return?.();
    await runs[0]?.end();
    expect(events[0]?.outcome).toBe('ok');
  });

  it('drops the unread chunks of an aborted stream and rejects the next read, once', async () => {
    const { first, second, run, controllers } = createPair();
    await run.yield(['a1', 'b1']);
    controllers[0].abort('gone');
    await expect(first.next()).rejects.toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'gone' });
    expect(await first.next()).toEqual({ value: undefined, done: true });
    await run.end();
    expect(await readAll(second)).toEqual(['b1']);
  });

  it('does so even if the handler had ended before the abort', async () => {
    const { first, run, controllers } = createPair();
    await run.yield(['a1', 'b1']);
    await run.end();
    controllers[0].abort('gone');
    await expect(first.next()).rejects.toBeInstanceOf(RequestCancelledError);
  });

  it.each([
    ['while its handler runs', false],
    ['when its handler has long ended', true],
  ])('frees the unread chunks of an aborted stream at once, %s', async (_, isEnded) => {
    const controller = new AbortController();
    const done = Promise.withResolvers<void>();
    const chunks: WeakRef<object>[] = [];
    const createStep = (): object[] => {
      const chunk = { text: 'unread' };
      chunks.push(new WeakRef(chunk));
      return [chunk];
    };
    const call = batchStream<number, object>(async function* () {
      yield createStep();
      yield createStep(); // the generator itself may hold its last step
      if (!isEnded) await done.promise;
    });
    const stream = call(1, { signal: controller.signal });
    await settled();
    controller.abort('gone');
    await collectGarbage();
    expect(chunks[0]?.deref()).toBeUndefined();
    await expect(stream.next()).rejects.toBeInstanceOf(RequestCancelledError);
    done.resolve();
  });

  it('stops listening to its signal when it has been read to the end', async () => {
    const { signal } = new AbortController();
    const [adding, removing] = [
      vi.spyOn(signal, 'addEventListener'),
      vi.spyOn(signal, 'removeEventListener'),
    ];
    const { call, runs } = createStreamRig();
    const stream = call(1, { signal });
    await runs[0]?.yield(['a']);
    await runs[0]?.end();
    expect(await readAll(stream)).toEqual(['a']);
    expect(removing).toHaveBeenCalledTimes(adding.mock.calls.length);
  });

  it('rejects a read made before the batcher has heard of the abort', async () => {
    const { call } = createStreamRig();
    const controller = new AbortController();
    const reads: Promise<unknown>[] = [];
    controller.signal.addEventListener('abort', () => reads.push(stream.next(), stream.next()));
    const stream = call(1, { signal: controller.signal });
    controller.abort('gone');
    await expect(reads[0]).rejects.toBeInstanceOf(RequestCancelledError);
    expect(await reads[1]).toEqual({ value: undefined, done: true });
    expect(await readAll(stream)).toEqual([]);
  });

  it('rejects a read that waits at once when the signal aborts', async () => {
    const { first, controllers } = createPair();
    const read = first.next();
    controllers[0].abort('gone');
    await expect(read).rejects.toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'gone' });
  });

  it('sends return() at once when all have gone, and keeps the slot until the handler has really ended', async () => {
    const { run, controllers, call, runs, events } = createPair();
    call(3);
    call(4);
    controllers[0].abort('gone');
    expect(run.context.signal.aborted).toBe(false);
    controllers[1].abort('gone');
    expect(run.context.signal.aborted).toBe(true);
    await settled();
    expect(runs).toHaveLength(1);
    await run.yield(['too', 'late']);
    expect(run.isClosed).toBe(true);
    expect(runs).toHaveLength(2);
    expect(events[0]?.outcome).toBe('error');
  });

  it('calls return() in the turn of the last cancellation, and calls an iterator ended that has answered it', async () => {
    const seen: string[] = [];
    const call = batchStream<number, string>(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          seen.push('return');
          return { value: undefined, done: true };
        },
      }),
    }));
    const controller = new AbortController();
    const stream = call(1, { signal: controller.signal });
    controller.abort('gone');
    expect(seen).toEqual(['return']);
    expect(call.ongoingBatches).toBe(1);
    await settled();
    expect(call.ongoingBatches).toBe(0);
    expect(await readAll(stream)).toEqual([expect.any(RequestCancelledError)]);
  });

  it('waits for the pending step of an iterator without return()', async () => {
    const step = Promise.withResolvers<IteratorResult<string[]>>();
    const call = batchStream<number, string>(() => ({
      [Symbol.asyncIterator]: () => ({ next: () => step.promise }),
    }));
    const stream = call(1);
    await stream.return?.();
    await settled();
    expect(call.ongoingBatches).toBe(1);
    step.resolve({ value: ['late'], done: false });
    await settled();
    expect(call.ongoingBatches).toBe(0);
  });

  it('survives a return() that throws', async () => {
    const call = batchStream<number, string>(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => {
          throw new Error('close');
        },
      }),
    }));
    await call(1).return?.();
    await call.drain();
    expect(call.ongoingBatches).toBe(0);
  });

  it('closes a generator whose callers all left while the handler was being called', async () => {
    const controller = new AbortController();
    let numSteps = 0;
    const call = batchStream<number, string>(() => {
      controller.abort('gone');
      return (async function* () {
        numSteps++;
        yield ['a'];
      })();
    });
    const stream = call(1, { signal: controller.signal });
    await call.drain();
    expect(numSteps).toBe(0);
    expect(await readAll(stream)).toEqual([expect.any(RequestCancelledError)]);
  });
});

describe('batchStream rejects', () => {
  it.each([
    ['is no object', 'now'],
    ['is an empty object', {}],
    ['cannot be read', createRevoked(new AbortController().signal)],
  ])('at the first read, as batch does, a call whose signal %s', async (_, signal) => {
    const options = { signal: signal as AbortSignal };
    const { call, runs } = createStreamRig();
    const stream = call(1, options);
    expect(await readAll(stream)).toEqual([expect.any(TypeError)]);
    expect(await readAll(stream)).toEqual([]);
    expect([call.queueLength, runs.length]).toEqual([0, 0]);
    await expect(batch(async (items: readonly number[]) => items)(1, options)).rejects.toBeInstanceOf(
      TypeError,
    );
  });

  it('at the first read, a call whose signal has aborted', async () => {
    const { call, runs } = createStreamRig();
    const stream = call(1, { signal: AbortSignal.abort('gone') });
    expect(runs).toHaveLength(0);
    expect(await readAll(stream)).toEqual([expect.any(RequestCancelledError)]);
    expect(await readAll(stream)).toEqual([]);
  });

  it('at the first read, a call under back pressure or after close', async () => {
    const { call } = createStreamRig({ maxQueuedRequests: 1 });
    call(1);
    call(2);
    const refused = call(3);
    expect(await readAll(refused)).toEqual([expect.any(BackPressureError)]);
    await refused.return?.();
    void call.close();
    expect(await readAll(call(4))).toEqual([expect.any(ClosedError)]);
  });

  it('a handler that is not a function, and bad options', () => {
    expect(() => batchStream(7 as never)).toThrow(TypeError);
    expect(() => batchStream(async function* () {}, { maxBatchSize: 0 })).toThrow(RangeError);
  });
});

describe('batchStream: types', () => {
  it('infers (item) => AsyncIterableIterator<chunk> from the handler alone', () => {
    const spell = batchStream(async function* (words: readonly string[]) {
      yield words.map((word) => word.length);
      yield words.map((word) => (word ? END_OF_STREAM : new Error('empty')));
    });
    expectTypeOf(spell).toExtend<(word: string) => AsyncIterableIterator<number>>();
    expectTypeOf(spell).toExtend<BatchedStream<string, number>>();
  });
});
