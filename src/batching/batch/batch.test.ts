// oxlint-disable typescript/no-unsafe-type-assertion -- misuse is what some of these tests are about
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { batch, type Batched, type BatchEvent } from './batch.ts';
import { createRig, outcomeOf, settled } from './test-support.ts';
import {
  BackPressureError,
  BatchSizeMismatchError,
  ClosedError,
  ItemTooLargeError,
  RequestCancelledError,
} from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { fromRayConfig } from './ray-config.ts';

const ITEMS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

const sum = (items: readonly number[]) => items.reduce((total, item) => total + item, 0);

const fussy = (items: readonly number[]) => {
  if (items.at(-1) === 7 && items.length > 1) throw new Error('no seven here');
  return sum(items);
};

const handler = async (items: readonly number[]) => items;

/** The second seed's adder: +1 on every item after 200 ms of work. */
function createAdder(options: Parameters<typeof batch<number, number>>[1] = {}) {
  const clock = new FakeClock();
  const events: BatchEvent[] = [];
  const add = batch(
    async (items: readonly number[]) => {
      await new Promise<void>((resolve) => clock.setTimer(200, resolve));
      return items.map((item) => item + 1);
    },
    { maxBatchSize: 4, clock, onBatch: (event) => events.push(event), ...options },
  );
  const runFor = async (ms: number): Promise<void> => {
    for (let elapsed = 0; elapsed < ms; elapsed++) {
      clock.advance(1);
      await settled();
    }
  };
  return { clock, add, events, runFor };
}

const sizes = (events: readonly BatchEvent[]) => events.map((event) => event.batchSize);
const reasons = (events: readonly BatchEvent[]) => events.map((event) => event.reason);

describe('batch: the worked examples', () => {
  it('answers nine calls in one tick, limit 4, timeout 0, in batches of 1, 4, 4', async () => {
    const { add, events, runFor } = createAdder();
    const answers = Promise.all(ITEMS.map((item) => add(item)));
    await runFor(700);
    expect(await answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(sizes(events)).toEqual([1, 4, 4]);
    expect(reasons(events)).toEqual(['idle', 'full', 'full']);
  });

  it('answers nine calls 5 ms apart against a 200 ms handler in batches of 1, 4, 4', async () => {
    const { add, events, runFor } = createAdder();
    const answers: Promise<number>[] = [];
    for (const item of ITEMS) {
      answers.push(add(item));
      await runFor(5);
    }
    await runFor(600);
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(sizes(events)).toEqual([1, 4, 4]);
  });

  it('answers them in batches of 4, 4, 1 with batchWaitTimeoutMs 50', async () => {
    const { add, events, runFor } = createAdder({ batchWaitTimeoutMs: 50 });
    for (const item of ITEMS) {
      void add(item);
      await runFor(5);
    }
    await runFor(700);
    expect(sizes(events)).toEqual([4, 4, 1]);
    expect(reasons(events)).toEqual(['full', 'full', 'timeout']);
  });

  it('answers nine calls in one tick with two slots in batches of 1, 1, 4, 3', async () => {
    const { add, events, runFor } = createAdder({ maxConcurrentBatches: 2 });
    for (const item of ITEMS) void add(item);
    await runFor(500);
    expect(sizes(events)).toEqual([1, 1, 4, 3]);
    expect(reasons(events)).toEqual(['idle', 'idle', 'full', 'timeout']);
  });

  it("batches 100 calls under the fourth seed's configuration in up to 32, the rest after 100 ms", async () => {
    const config = fromRayConfig({
      max_batch_size: 32,
      timeout_s: 0.1,
      stride_s: 0,
      allow_small_batch: true,
    });
    const { call, runs, events, clock, finish } = createRig(config);
    for (let item = 0; item < 100; item++) void call(item);
    await finish();
    await finish();
    await finish();
    expect(runs.map((run) => run.items.length)).toEqual([32, 32, 32]);
    clock.advance(99);
    expect(runs).toHaveLength(3);
    clock.advance(1);
    await finish();
    expect(sizes(events)).toEqual([32, 32, 32, 4]);
    expect(reasons(events)).toEqual(['full', 'full', 'full', 'timeout']);
  });
});

describe('batch rule 1: a call enqueues at once and settles once', () => {
  it('enqueues in the call itself, before anything is awaited', () => {
    const { call, runs } = createRig();
    void call(1);
    void call(2);
    expect(runs).toHaveLength(1);
    expect(call.queueLength).toBe(1);
  });

  it('keeps the order of arrival within and across batches', async () => {
    const { call, runs, finishAll } = createRig({ maxBatchSize: 3 });
    const answers = ITEMS.map((item) => call(item));
    await finishAll();
    expect(runs.map((run) => run.items)).toEqual([[0], [1, 2, 3], [4, 5, 6], [7, 8]]);
    expect(await Promise.all(answers)).toEqual(ITEMS);
  });

  it('ignores the other arguments of map', async () => {
    const { call, finishAll } = createRig();
    const answers = [5, 6].map(call as (item: number) => Promise<number>);
    await finishAll();
    expect(await Promise.all(answers)).toEqual([5, 6]);
  });
});

describe('batch rule 2: late binding', () => {
  it('lets what arrives while the handler runs join the next batch', async () => {
    const { call, runs, clock, finish } = createRig({ maxBatchSize: 8 });
    void call(1);
    for (const item of [2, 3, 4]) {
      clock.advance(50);
      void call(item);
    }
    expect(runs).toHaveLength(1);
    await finish();
    expect(runs[1]?.items).toEqual([2, 3, 4]);
  });

  it('cuts nothing behind a busy handler, however long calls wait or however many', async () => {
    const { call, runs, clock } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 10 });
    for (const item of [1, 2, 3, 4, 5]) void call(item);
    clock.advance(1000);
    expect(runs).toHaveLength(1);
    expect(call.queueLength).toBe(3);
    expect(call.ongoingBatches).toBe(1);
  });
});

describe('batch rule 3: the cut rule', () => {
  it('cuts a full batch without waiting for the timeout', () => {
    const { call, runs } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 100 });
    void call(1);
    expect(runs).toHaveLength(0);
    void call(2);
    expect(runs[0]?.context.reason).toBe('full');
  });

  it('takes the calls that were sent in time into a batch whose timer is late', () => {
    const { call, runs, clock } = createRig({ maxBatchSize: 8, batchWaitTimeoutMs: 5 });
    void call(0);
    // Each comes as a broadcast message does, in two tasks.
    for (const item of [1, 2, 3]) clock.setTimer(item, () => clock.setTimer(0, () => void call(item)));
    clock.block(50);
    clock.advance(0);
    expect(runs.map(({ items }) => items)).toEqual([[0, 1, 2, 3]]);
  });

  it("does not cut a batch while its caller's own loop runs, however slow", () => {
    const { call, runs, clock } = createRig({
      maxBatchSize: 4,
      batchWaitTimeoutMs: 5,
      maxConcurrentBatches: 2,
    });
    for (const item of [0, 1, 2, 3, 4]) {
      void call(item);
      clock.block(4);
    }
    expect(runs.map(({ items }) => items)).toEqual([[0, 1, 2, 3]]);
    clock.advance(5);
    expect(runs.map(({ items }) => items)).toEqual([[0, 1, 2, 3], [4]]);
  });

  it('starts a partial batch once the oldest call has waited batchWaitTimeoutMs', () => {
    const { call, runs, clock } = createRig({ batchWaitTimeoutMs: 100 });
    void call(1);
    clock.advance(60);
    void call(2);
    clock.advance(39);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    expect(runs[0]?.items).toEqual([1, 2]);
    expect(runs[0]?.context.reason).toBe('timeout');
  });

  it('counts the wait from arrival: what has waited long enough behind a handler leaves with the slot', async () => {
    const { call, runs, clock, finish } = createRig({ batchWaitTimeoutMs: 100 });
    void call(1);
    clock.advance(100);
    void call(2);
    clock.advance(30);
    void call(3);
    clock.advance(70);
    await finish();
    expect(runs[1]?.items).toEqual([2, 3]);
    expect(runs[1]?.context.reason).toBe('timeout');
  });

  it('waits only the rest of the timeout when the slot comes free before it is over', async () => {
    const { call, runs, clock, finish } = createRig({ batchWaitTimeoutMs: 100 });
    void call(1);
    clock.advance(100);
    void call(2);
    clock.advance(30);
    await finish();
    clock.advance(69);
    expect(runs).toHaveLength(1);
    clock.advance(1);
    expect(runs).toHaveLength(2);
  });

  it('times the remainder by its own oldest call after a cut', async () => {
    const { call, runs, clock, finish } = createRig({
      maxBatchSize: 2,
      batchWaitTimeoutMs: 100,
      maxConcurrentBatches: 2,
    });
    void call(1);
    clock.advance(90);
    void call(2);
    void call(3);
    await finish();
    clock.advance(99);
    expect(runs).toHaveLength(1);
    clock.advance(1);
    expect(runs[1]?.items).toEqual([3]);
  });

  it('says full, not idle, of a single call under a limit of one', () => {
    const { call, runs } = createRig({ maxBatchSize: 1 });
    void call(1);
    expect(runs[0]?.context.reason).toBe('full');
  });

  it('cuts only full batches by itself with allowSmallBatch false', async () => {
    const { call, runs, clock, finishAll } = createRig({ maxBatchSize: 3, allowSmallBatch: false });
    void call(1);
    void call(2);
    clock.advance(1e6);
    expect(runs).toHaveLength(0);
    expect(clock.pendingTimers).toBe(0);
    void call(3);
    expect(runs[0]?.context.reason).toBe('full');
    void call(4);
    await finishAll();
    expect(runs).toHaveLength(1);
    call.flush();
    expect(runs[1]?.context.reason).toBe('flush');
  });

  it('checks for a batch at most every strideMs, a full one included', () => {
    const { call, runs, clock } = createRig({ maxBatchSize: 2, strideMs: 20, maxConcurrentBatches: 9 });
    void call(1);
    expect(runs.map((run) => run.context.reason)).toEqual(['idle']);
    clock.advance(5);
    void call(2);
    void call(3);
    void call(4);
    expect(runs).toHaveLength(1);
    clock.advance(14);
    expect(runs).toHaveLength(1);
    clock.advance(1);
    expect(runs.map((run) => run.context.reason)).toEqual(['idle', 'full', 'timeout']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gathers calls of one task, also where a call takes longer to come in than a batch waits', () => {
    const { call, runs, clock } = createRig({ batchWaitTimeoutMs: 1 });
    let nowMs = 0;
    vi.spyOn(clock, 'now').mockImplementation(() => (nowMs += 5));
    void call(1);
    void call(2);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    expect(runs.map(({ items, context: { reason } }) => [items, reason])).toEqual([[[1, 2], 'timeout']]);
  });

  it('moves a timeout to the next check, and starts a new grid of checks after a pause', () => {
    const { call, runs, clock } = createRig({
      batchWaitTimeoutMs: 30,
      strideMs: 20,
      maxConcurrentBatches: 9,
    });
    void call(1);
    clock.advance(39);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    expect(runs).toHaveLength(1);
    clock.advance(25);
    void call(2);
    clock.advance(39);
    expect(runs).toHaveLength(1);
    clock.advance(1);
    expect(runs).toHaveLength(2);
  });

  it('waits for the next look when a slot comes free between two, and takes the one that falls due with it', async () => {
    const { call, runs, clock, finish } = createRig({ strideMs: 20 });
    void call(1);
    clock.advance(5);
    void call(2);
    clock.advance(22);
    await finish();
    expect(runs).toHaveLength(1);
    clock.advance(13);
    expect(runs).toHaveLength(2);
    void call(3);
    clock.advance(20);
    await finish();
    expect(runs).toHaveLength(3);
  });

  it('lets flush and close cut between two looks', () => {
    const { call, runs, clock } = createRig({ strideMs: 1000, maxConcurrentBatches: 9 });
    void call(1);
    clock.advance(1);
    void call(2);
    call.flush();
    expect(runs[1]?.context.reason).toBe('flush');
    void call(3);
    void call.close();
    expect(runs[2]?.context.reason).toBe('close');
    expect(clock.pendingTimers).toBe(0);
  });

  it('records the first reason that holds: full before flush before close before timeout', async () => {
    const { call, events, clock, finish, finishAll } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 5 });
    for (const item of [1, 2, 3, 4, 5, 6, 7]) void call(item);
    clock.advance(10);
    call.flush();
    void call.close();
    await finish();
    await finish();
    await finishAll();
    expect(reasons(events)).toEqual(['full', 'full', 'full', 'flush']);
  });
});

/** A batched echo on a fake clock, behind a queue of the test's own. */
it('takes a strideMs too short for any clock for none', async () => {
  const { call, runs, clock, finish } = createRig({ strideMs: 1e-320, maxBatchSize: 2 });
  clock.advance(1000);
  for (const item of [1, 2, 3]) void call(item);
  clock.advance(5);
  await finish();
  expect(runs.map(({ items }) => items)).toEqual([[1], [2, 3]]);
  expect(clock.pendingTimers).toBe(0);
});

describe('batch rule 4: limits are read once per batch', () => {
  it('lets a size set while a batch is forming govern the next one', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 3, batchWaitTimeoutMs: 100 });
    void call(1);
    call.setMaxBatchSize(2);
    void call(2);
    expect(runs).toHaveLength(0);
    void call(3);
    expect(runs[0]?.items).toEqual([1, 2, 3]);
    void call(4);
    void call(5);
    await finish();
    expect(runs[1]?.items).toEqual([4, 5]);
    expect(call.maxBatchSize).toBe(2);
  });

  it('lets a timeout set while a batch is forming govern the next one', async () => {
    const { call, runs, clock, finish } = createRig({ batchWaitTimeoutMs: 100 });
    void call(1);
    call.setBatchWaitTimeoutMs(10);
    clock.advance(99);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    await finish();
    void call(2);
    clock.advance(10);
    expect(runs).toHaveLength(2);
    expect(call.batchWaitTimeoutMs).toBe(10);
  });

  it('reads them when a slot comes free, not while calls wait behind a handler', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 3 });
    for (const item of [1, 2, 3, 4]) void call(item);
    call.setMaxBatchSize(2);
    await finish();
    expect(runs[1]?.items).toEqual([2, 3]);
  });

  it('keeps them when the head is cancelled, reads them again when the queue has emptied', () => {
    const { call, runs } = createRig({ maxBatchSize: 3, batchWaitTimeoutMs: 100 });
    const first = new AbortController();
    const second = new AbortController();
    call(1, { signal: first.signal }).catch(() => {});
    call(2, { signal: second.signal }).catch(() => {});
    call.setMaxBatchSize(2);
    first.abort();
    void call(3);
    expect(runs).toHaveLength(0);
    expect(call.queueLength).toBe(2);
    void call(4);
    expect(runs[0]?.items).toEqual([2, 3, 4]);
  });

  it('reads them again when the queue has emptied', () => {
    const { call, runs } = createRig({ maxBatchSize: 3, batchWaitTimeoutMs: 100 });
    const only = new AbortController();
    call(1, { signal: only.signal }).catch(() => {});
    call.setMaxBatchSize(2);
    only.abort();
    void call(2);
    void call(3);
    expect(runs[0]?.items).toEqual([2, 3]);
  });

  it('acts at once on setMaxConcurrentBatches, and never cancels a running batch', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 1 });
    for (const item of [1, 2, 3, 4]) void call(item);
    call.setMaxConcurrentBatches(3);
    expect(runs).toHaveLength(3);
    call.setMaxConcurrentBatches(1);
    expect(call.ongoingBatches).toBe(3);
    expect(call.maxConcurrentBatches).toBe(1);
    await finish();
    await finish();
    expect(runs).toHaveLength(3);
    await finish();
    expect(runs).toHaveLength(4);
  });

  it('keeps the limits that it read when the slot it read them for is taken away', () => {
    const { call, runs, clock } = createRig({
      maxBatchSize: 1,
      batchWaitTimeoutMs: 50,
      maxConcurrentBatches: 2,
    });
    void call(1);
    call.setMaxBatchSize(3);
    void call(2);
    call.setMaxConcurrentBatches(1);
    expect(clock.pendingTimers).toBe(0);
    call.setMaxBatchSize(1);
    call.setMaxConcurrentBatches(2);
    clock.advance(50);
    expect(runs[1]?.context.reason).toBe('timeout');
  });
});

describe('batch rule 5: batchSizeFn', () => {
  const options = { maxBatchSize: 10, batchSizeFn: sum, batchWaitTimeoutMs: 100 };

  it('cuts as soon as the measured size reaches the limit, and reports it', async () => {
    const { call, runs, events, finish } = createRig(options);
    void call(4);
    void call(6);
    await finish();
    expect(runs[0]?.items).toEqual([4, 6]);
    expect(events[0]).toMatchObject({ reason: 'full', batchSize: 2, measuredSize: 10, maxBatchSize: 10 });
  });

  it('defers an item that does not fit to the head of the next batch, in FIFO order', async () => {
    const { call, runs, clock, finish } = createRig(options);
    for (const item of [6, 6, 3, 4]) void call(item);
    expect(runs[0]?.context.reason).toBe('deferred');
    await finish();
    expect(runs.map((run) => run.items)).toEqual([[6], [6, 3]]);
    await finish();
    clock.advance(100);
    expect(runs[2]?.items).toEqual([4]);
  });

  it('rejects at submit, alone, an item that exceeds the current limit', async () => {
    const { call, runs, clock } = createRig(options);
    void call(3);
    const big = await outcomeOf(call(11));
    expect(big).toBeInstanceOf(ItemTooLargeError);
    expect(big).toMatchObject({ code: 'ITEM_TOO_LARGE', message: expect.stringContaining('measures 11') });
    void call(3);
    clock.advance(100);
    expect(runs[0]?.items).toEqual([3, 3]);
  });

  it('means the current limit at submit, even while a batch forms under an older one', async () => {
    const { call, runs } = createRig(options);
    void call(3);
    call.setMaxBatchSize(5);
    expect(await outcomeOf(call(6))).toBeInstanceOf(ItemTooLargeError);
    call.setMaxBatchSize(20);
    void call(15);
    expect(runs[0]?.items).toEqual([3]);
    expect(runs[0]?.context.reason).toBe('deferred');
  });

  it('rejects an item that a lowered limit has outgrown when it reaches the head', async () => {
    const { call, runs, events, finish, clock } = createRig(options);
    for (const item of [10, 2, 8, 1]) call(item).catch(() => {});
    const outgrown = call(9);
    call.setMaxBatchSize(5);
    await finish(); // [2] leaves: 8 does not fit
    expect(runs[1]?.items).toEqual([2]);
    await finish(); // 8 is rejected at the head, [1] leaves: 9 does not fit
    expect(runs[2]?.items).toEqual([1]);
    const drained = call.drain();
    await finish(); // 9 is rejected at the head
    await expect(outgrown).rejects.toBeInstanceOf(ItemTooLargeError);
    expect(await outcomeOf(drained)).toBeUndefined();
    expect(events).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reads the limits anew for a head that fits the current ones and not those in force', () => {
    const { call, runs, clock } = createRig({ ...options, maxBatchSize: 5, strideMs: 20 });
    const first = new AbortController();
    call(3, { signal: first.signal }).catch(() => {});
    call.setMaxBatchSize(10);
    void call(8);
    first.abort();
    clock.advance(100);
    expect(runs[0]?.items).toEqual([8]);
  });

  it('fails only the item being added when the function throws', async () => {
    const { call, runs, clock } = createRig({ ...options, batchSizeFn: fussy });
    void call(1);
    const seven = call(7);
    void call(2);
    expect(await outcomeOf(seven)).toMatchObject({ message: 'no seven here' });
    clock.advance(100);
    expect(runs[0]?.items).toEqual([1, 2]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'broken',
    ],
    [
      'returns NaN',
      () => Number.NaN,
      'Expected `batchSizeFn(items)` to be a number >= 0, got `NaN` (number)',
    ],
    ['returns text', () => '3' as unknown as number, 'got `3` (string)'],
    ['returns a negative number', () => -1, 'got `-1` (number)'],
  ])('fails the caller at submit when the function %s', async (_, batchSizeFn, message) => {
    const { call, runs } = createRig({ batchSizeFn });
    expect(await outcomeOf(call(1))).toMatchObject({ message: expect.stringContaining(message) });
    expect(runs).toHaveLength(0);
    expect(call.queueLength).toBe(0);
  });

  it('measures the survivors again after a cancellation, in one go', () => {
    let numMeasured = 0;
    const counted = (items: readonly number[]) => {
      numMeasured++;
      return sum(items);
    };
    const { call, runs } = createRig({ ...options, batchSizeFn: counted });
    const gone = [1, 2].map((item) => {
      const controller = new AbortController();
      call(item, { signal: controller.signal }).catch(() => {});
      return controller;
    });
    void call(3);
    void call(1);
    numMeasured = 0;
    for (const controller of gone) controller.abort();
    expect(numMeasured).toBe(0);
    void call(5);
    expect(numMeasured).toBe(3); // alone, the survivors, with the new one
    expect(runs).toHaveLength(0);
    void call(1);
    expect(runs[0]?.items).toEqual([3, 1, 5, 1]);
  });

  it('takes a deferred item in after all when a cancellation between two looks makes room', () => {
    const { call, runs, clock } = createRig({ ...options, batchWaitTimeoutMs: 30, strideMs: 20 });
    const controller = new AbortController();
    void call(4);
    call(5, { signal: controller.signal }).catch(() => {});
    void call(3);
    controller.abort();
    clock.advance(40);
    expect(runs[0]?.items).toEqual([4, 3]);
  });

  it('measures afresh when every item gathered so far is cancelled', () => {
    const { call, runs, clock } = createRig({ ...options, strideMs: 20 });
    const controller = new AbortController();
    call(4, { signal: controller.signal }).catch(() => {});
    void call(8);
    controller.abort();
    clock.advance(100);
    expect(runs[0]?.items).toEqual([8]);
  });

  it('forgets a deferred item that is cancelled', () => {
    const { call, runs, clock } = createRig({ ...options, strideMs: 20 });
    const controller = new AbortController();
    void call(4);
    call(8, { signal: controller.signal }).catch(() => {});
    controller.abort();
    clock.advance(99);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    expect(runs[0]?.context.reason).toBe('timeout');
  });

  it('finds out anew which items fit when the survivors of a cancellation cannot be measured, or have grown', () => {
    for (const surprise of [Number.NaN, 99]) {
      let isSurprising = false;
      const moody = (items: readonly number[]) => {
        const size = isSurprising ? surprise : sum(items);
        isSurprising = false;
        return size;
      };
      const { call, runs, clock } = createRig({ ...options, batchSizeFn: moody });
      const controller = new AbortController();
      void call(1);
      void call(2);
      call(3, { signal: controller.signal }).catch(() => {});
      controller.abort();
      isSurprising = true;
      clock.advance(100);
      expect(runs[0]?.items).toEqual([1, 2]);
    }
  });

  it('hears of an abort and of close() while it measures a call, which then never waits', async () => {
    const controller = new AbortController();
    const aborted = createRig({
      batchSizeFn: (items) => {
        controller.abort('changed my mind');
        return items.length;
      },
    });
    const answer = aborted.call(1, { signal: controller.signal });
    expect(await outcomeOf(answer)).toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'changed my mind' });
    expect(aborted.runs).toEqual([]);

    const closed = createRig({
      batchSizeFn: (items) => {
        void closed.call.close();
        return items.length;
      },
    });
    expect(await outcomeOf(closed.call(1))).toBeInstanceOf(ClosedError);
    expect(closed.runs).toEqual([]);
  });

  it('keeps maxQueuedRequests though the function submits calls of its own', async () => {
    const { call } = createRig({
      maxBatchSize: 1,
      maxQueuedRequests: 1,
      batchSizeFn: ([item = 0]) => {
        if (item === 2) call(3).catch(() => {});
        return 1;
      },
    });
    call(1).catch(() => {});
    expect(await outcomeOf(call(2))).toBeInstanceOf(BackPressureError);
    expect(call.queueLength).toBe(1);
  });

  it('survives a function that calls back into the batcher', async () => {
    const controller = new AbortController();
    const { call, runs, clock } = createRig({
      ...options,
      batchSizeFn: (items) => {
        if (items.length === 2) controller.abort();
        return sum(items);
      },
    });
    void call(1);
    const cancelled = call(2, { signal: controller.signal });
    expect(await outcomeOf(cancelled)).toBeInstanceOf(RequestCancelledError);
    call(3).catch(() => {});
    clock.advance(100);
    expect(runs[0]?.items).toEqual([1, 3]);
  });

  it('survives a function that cancels the item being added and then throws', async () => {
    const controller = new AbortController();
    const { call, runs, clock } = createRig({
      ...options,
      batchSizeFn: (items) => {
        if (items.at(-1) !== 2 || items.length === 1) return sum(items);
        controller.abort();
        throw new Error('after the fact');
      },
    });
    void call(1);
    expect(await outcomeOf(call(2, { signal: controller.signal }))).toBeInstanceOf(RequestCancelledError);
    expect(call.queueLength).toBe(1);
    clock.advance(100);
    expect(runs[0]?.items).toEqual([1]);
  });

  it('survives a function that submits', async () => {
    let isNested = false;
    const { call, runs } = createRig({
      ...options,
      batchSizeFn: (items) => {
        if (items.length === 2 && !isNested) {
          isNested = true;
          void call(3);
        }
        return sum(items);
      },
    });
    void call(1);
    void call(2);
    void call(4);
    expect(runs[0]?.items).toEqual([1, 2, 3, 4]);
  });
});

describe('batch rule 6: errors', () => {
  it('fails one caller alone whose result cannot be asked for its class', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const call = batch(async (items: readonly number[]) => items.map((item) => (item === 2 ? proxy : item)), {
      maxBatchSize: 3,
      batchWaitTimeoutMs: 1,
    });
    const [first, second, third] = await Promise.allSettled([call(1), call(2), call(3)]);
    expect([first, third]).toMatchObject([{ value: 1 }, { value: 3 }]);
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
  });

  it.each([
    ['too short', [1], 1],
    ['too long', [1, 2, 3], 3],
    ['text of the right length', 'ab', 'not an array'],
    ['nothing', undefined, 'not an array'],
    ['an object with a length', { length: 2 }, 'not an array'],
  ])('rejects every member with BatchSizeMismatchError when the result is %s', async (_, results, length) => {
    const { call, runs, events } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const answers = [call(1), call(2)].map(outcomeOf);
    runs[0]?.resolve(results as number[]);
    for (const answer of await Promise.all(answers)) {
      expect(answer).toBeInstanceOf(BatchSizeMismatchError);
      expect(answer).toMatchObject({
        code: 'BATCH_SIZE_MISMATCH',
        message:
          "Batched function doesn't preserve batch size. The input list has length 2 " +
          `but the returned list has length ${length}.`,
      });
    }
    expect(events[0]?.outcome).toBe('error');
  });

  it('compares with the batch, not with a list that the handler has changed', async () => {
    const call = batch(async (items: readonly number[]) => {
      (items as number[]).push(9);
      return items;
    });
    await expect(call(1)).rejects.toThrow('The input list has length 1 but the returned list has length 2.');
  });

  it('rejects every member with what the handler throws, and serves the next batch', async () => {
    const { call, runs, events, finish } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const answers = [call(1), call(2)].map(outcomeOf);
    const failure = new Error('out of memory');
    runs[0]?.reject(failure);
    expect(await Promise.all(answers)).toEqual([failure, failure]);
    const next = [call(3), call(4)];
    await finish();
    await finish();
    expect(await Promise.all(next)).toEqual([3, 4]);
    expect(events.map((event) => event.outcome)).toEqual(['error', 'ok']);
  });

  it('treats a handler that throws before it returns a promise alike', async () => {
    const call = batch<number, number>(() => {
      throw new Error('at once');
    });
    await expect(call(1)).rejects.toThrow('at once');
    await expect(call(1)).rejects.toThrow('at once');
  });

  it('rejects with an Error in a slot that member only', async () => {
    const { call, runs, events } = createRig({ maxBatchSize: 3, batchWaitTimeoutMs: 1 });
    const answers = [call(1), call(2), call(3)].map(outcomeOf);
    const second = new TypeError('the second');
    runs[0]?.resolve([1, second, 3]);
    expect(await Promise.all(answers)).toEqual([1, second, 3]);
    expect(events[0]?.outcome).toBe('ok');
  });

  it('says error when every member was rejected, by its own slot or otherwise', async () => {
    const { call, runs, events } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const answers = [call(1), call(2)].map(outcomeOf);
    runs[0]?.resolve([new Error('one'), new Error('two')]);
    await Promise.all(answers);
    expect(events[0]?.outcome).toBe('error');
  });
});

describe('batch rule 7: cancellation', () => {
  it('listens to a signal once, however many calls follow it, and to none when they are settled', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const [adding, removing] = [
      vi.spyOn(signal, 'addEventListener'),
      vi.spyOn(signal, 'removeEventListener'),
    ];
    const { call, finishAll } = createRig({ maxBatchSize: 100 });
    const answers = Array.from({ length: 16_000 }, (_, item) => call(item, { signal }));
    expect([adding.mock.calls.length, removing.mock.calls.length]).toEqual([1, 0]);
    await finishAll();
    await Promise.all(answers);
    expect(removing.mock.calls.length).toBe(adding.mock.calls.length);
    const cancelled = [call(1, { signal }), call(2, { signal })];
    controller.abort('gone');
    for (const answer of cancelled) expect(await outcomeOf(answer)).toBeInstanceOf(RequestCancelledError);
  });

  it('rejects a call whose signal has aborted, and never enqueues it', async () => {
    const { call, runs } = createRig();
    const reason = new Error('changed my mind');
    const error = await outcomeOf(call(1, { signal: AbortSignal.abort(reason) }));
    expect(error).toBeInstanceOf(RequestCancelledError);
    expect(error).toMatchObject({ code: 'REQUEST_CANCELLED', cause: reason });
    expect(runs).toHaveLength(0);
  });

  it('removes a waiting call at once: it neither fills nor triggers a batch', async () => {
    const { call, runs, events, clock, finish } = createRig({ maxBatchSize: 3, batchWaitTimeoutMs: 100 });
    const controller = new AbortController();
    const cancelled = call(1, { signal: controller.signal });
    clock.advance(40);
    void call(2);
    controller.abort('gone');
    expect(call.queueLength).toBe(1);
    expect(await outcomeOf(cancelled)).toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'gone' });
    void call(3);
    expect(runs).toHaveLength(0);
    clock.advance(99);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    await finish();
    expect(runs[0]?.items).toEqual([2, 3]);
    expect(events[0]).toMatchObject({ cancelled: 1, waitMs: 100, reason: 'timeout' });
  });

  it('rejects a call whose signal cannot be listened to, and throws nothing at its caller', async () => {
    const { call } = createRig();
    const listening = new Error('no listeners here');
    const signal = AbortSignal.abort();
    Object.defineProperty(signal, 'aborted', { value: false });
    Object.defineProperty(signal, 'addEventListener', {
      value: () => {
        throw listening;
      },
    });
    expect(await outcomeOf(call(1, { signal }))).toBe(listening);
    expect(call.queueLength).toBe(0);
    expect(await outcomeOf(call(2, { signal: AbortSignal.abort() }))).toBeInstanceOf(RequestCancelledError);
  });

  it('keeps the order of those that wait when most of the queue has left from the middle', async () => {
    const { call, runs, finishAll } = createRig({ maxBatchSize: 4 });
    const busy = call(-1);
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    const outcomes = controllers.map(({ signal }, item) => outcomeOf(call(item, { signal })));
    for (const [item, controller] of controllers.entries()) if (item % 10 !== 5) controller.abort();
    expect(call.queueLength).toBe(10);
    const late = call(100);
    await finishAll();
    await Promise.all([busy, late, ...outcomes]);
    expect(runs.slice(1).flatMap(({ items }) => items)).toEqual([5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 100]);
  });

  it('rejects a running call at once, aborts its item signal and leaves its batch-mates untouched', async () => {
    const { call, runs, events } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const controller = new AbortController();
    const first = call(1, { signal: controller.signal });
    const second = call(2);
    const [mine, mates] = runs[0]?.context.itemSignals ?? [];
    controller.abort('gone');
    const error = await outcomeOf(first);
    expect(error).toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'gone' });
    expect(mine?.aborted).toBe(true);
    expect(mine?.reason).toBe(error);
    expect(mates?.aborted).toBe(false);
    expect(runs[0]?.context.signal.aborted).toBe(false);
    runs[0]?.resolve([1, 2]);
    expect(await second).toBe(2);
    await settled();
    expect(events[0]).toMatchObject({ batchSize: 2, cancelled: 0, outcome: 'ok' });
  });

  it('aborts the batch signal when all have gone, and keeps the slot until the handler has ended', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const controllers = [new AbortController(), new AbortController()];
    for (const { signal } of controllers) call(0, { signal }).catch(() => {});
    const { signal } = runs[0]?.context ?? {};
    controllers[0]?.abort();
    expect(signal?.aborted).toBe(false);
    controllers[1]?.abort();
    expect(signal?.aborted).toBe(true);
    void call(1);
    void call(2);
    expect(runs).toHaveLength(1);
    await finish();
    expect(runs).toHaveLength(2);
  });

  it('gives a handler that asks late signals that have aborted already, and the same ones each time', () => {
    const { call, runs } = createRig();
    const controller = new AbortController();
    call(1, { signal: controller.signal }).catch(() => {});
    controller.abort();
    const { context } = runs[0] ?? {};
    expect(context?.signal.aborted).toBe(true);
    expect(context?.signal).toBe(context?.signal);
    expect(context?.itemSignals.map((signal) => signal.aborted)).toEqual([true]);
    expect(context?.itemSignals).toBe(context?.itemSignals);
  });

  it('aborts the batch signal once when an item listener cancels the last mate', () => {
    const { call, runs } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 1 });
    const controllers = [new AbortController(), new AbortController()];
    for (const { signal } of controllers) call(0, { signal }).catch(() => {});
    let numAborts = 0;
    runs[0]?.context.signal.addEventListener('abort', () => numAborts++);
    runs[0]?.context.itemSignals[0]?.addEventListener('abort', () => controllers[1]?.abort());
    controllers[0]?.abort();
    expect(numAborts).toBe(1);
  });

  it('listens once per call, and stops whatever becomes of it', async () => {
    const { call, runs, finish } = createRig({ maxQueuedRequests: 2 });
    const counts = [0, 1, 2, 3, 4].map((item) => {
      const controller = new AbortController();
      const count = { controller, added: 0, removed: 0 };
      const { signal } = controller;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => (count.added++, add(...args));
      signal.removeEventListener = (...args: Parameters<typeof remove>) => (count.removed++, remove(...args));
      call(item, { signal }).catch(() => {});
      return count;
    });
    counts[1]?.controller.abort(); // while it waits
    counts[0]?.controller.abort(); // while it runs
    await finish();
    runs[1]?.reject(new Error('the rest fails'));
    await settled();
    expect(counts.map(({ added, removed }) => [added, removed])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [0, 0], // refused: the queue was full
      [0, 0],
    ]);
  });

  it('removes 10,000 waiting calls in random order and keeps the survivors in theirs', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 1e4 });
    void call(-1);
    const controllers = Array.from({ length: 1e4 }, () => new AbortController());
    for (const [item, { signal }] of controllers.entries()) call(item, { signal }).catch(() => {});
    for (let index = 0; index < 1e4; index++) {
      const item = (index * 7919) % 1e4;
      if (item % 1000 !== 0) controllers[item]?.abort('gone');
    }
    expect(call.queueLength).toBe(10);
    await finish();
    expect(runs[1]?.items).toEqual([0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000]);
  });
});

describe('batch rule 10: back pressure', () => {
  it('rejects at once when maxQueuedRequests calls wait, with the numbers', async () => {
    const { call, clock, finish } = createRig({ maxBatchSize: 2, maxQueuedRequests: 3 });
    for (const item of [1, 2, 3, 4]) void call(item);
    const refused = await outcomeOf(call(5));
    expect(refused).toBeInstanceOf(BackPressureError);
    expect(refused).toMatchObject({ code: 'BACK_PRESSURE', numQueuedRequests: 3, maxQueuedRequests: 3 });
    expect((refused as BackPressureError).retryAfterMs).toBeGreaterThan(0);
    clock.advance(40);
    await finish();
    clock.advance(40);
    await finish();
    for (const item of [6, 7, 8]) call(item).catch(() => {});
    expect(call.queueLength).toBe(3);
    expect(await outcomeOf(call(9))).toBeInstanceOf(BackPressureError);
  });

  it('derives retryAfterMs from the measured drain rate', async () => {
    const { call, clock, finish } = createRig({ maxBatchSize: 2, maxQueuedRequests: 6 });
    for (let item = 0; item < 7; item++) call(item).catch(() => {});
    clock.advance(80);
    await finish();
    clock.advance(80);
    await finish();
    for (const item of [7, 8, 9, 10]) call(item).catch(() => {});
    expect(await outcomeOf(call(11))).toMatchObject({ retryAfterMs: 80 });
  });
});

describe('batch rule 11: no timer runs while nothing waits', () => {
  it('has one timer while a batch forms, none before, none after and none while all slots are taken', () => {
    const { call, clock } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 100 });
    expect(clock.pendingTimers).toBe(0);
    void call(1);
    expect(clock.pendingTimers).toBe(1);
    void call(2);
    expect(clock.pendingTimers).toBe(0);
    void call(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('drops the timer when the last waiting call is cancelled', () => {
    const { call, clock } = createRig({ batchWaitTimeoutMs: 100 });
    const controller = new AbortController();
    call(1, { signal: controller.signal }).catch(() => {});
    expect(clock.pendingTimers).toBe(1);
    controller.abort();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('batch rule 12: flush, close and drain', () => {
  it('flushes what waits, which later arrivals may fill but never hold back', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 4, batchWaitTimeoutMs: 100 });
    for (const item of [1, 2, 3, 4, 5, 6]) void call(item);
    call.flush();
    void call(7);
    await finish();
    expect(runs[1]?.items).toEqual([5, 6, 7]);
    expect(runs[1]?.context.reason).toBe('flush');
    void call(8);
    await finish();
    expect(runs).toHaveLength(2); // 8 came after the flush
  });

  it('emits a flushed batch at once when a slot is free', () => {
    const { call, runs } = createRig({ allowSmallBatch: false });
    void call(1);
    call.flush();
    expect(runs[0]?.items).toEqual([1]);
  });

  it('flushes nothing that came after the flushed calls were cancelled', () => {
    const { call, runs, clock } = createRig({ allowSmallBatch: false, maxConcurrentBatches: 1 });
    const controller = new AbortController();
    call.flush();
    call(1, { signal: controller.signal }).catch(() => {});
    controller.abort();
    void call(2);
    expect(runs).toHaveLength(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('closes: emits what waits, refuses new calls, resolves when the last handler has ended', async () => {
    const { call, runs, events, finish } = createRig({ maxBatchSize: 2, allowSmallBatch: false });
    for (const item of [1, 2, 3]) void call(item);
    const closed = call.close();
    const refused = await outcomeOf(call(4));
    expect(refused).toBeInstanceOf(ClosedError);
    expect(refused).toMatchObject({ code: 'CLOSED' });
    await finish();
    expect(runs[1]?.items).toEqual([3]);
    expect(await outcomeOf(closed)).toBe('pending');
    await finish();
    expect(await outcomeOf(closed)).toBeUndefined();
    expect(reasons(events)).toEqual(['full', 'close']);
    await call.close();
  });

  it('closes at the end of its scope', async () => {
    const { call, runs, finish } = createRig({ maxBatchSize: 2, allowSmallBatch: false });
    void call(1);
    const left = call[Symbol.asyncDispose]();
    expect(runs[0]?.items).toEqual([1]);
    expect(await outcomeOf(call(2))).toBeInstanceOf(ClosedError);
    await finish();
    expect(await outcomeOf(left)).toBeUndefined();
  });

  it('drains when nothing waits and nothing runs, whatever happens to the items', async () => {
    const { call, runs } = createRig();
    await call.drain();
    const controller = new AbortController();
    const failing = call(1);
    call(2, { signal: controller.signal }).catch(() => {});
    const drained = call.drain();
    expect(call.drain()).toBe(drained);
    controller.abort();
    expect(await outcomeOf(drained)).toBe('pending');
    runs[0]?.reject(new Error('failed'));
    await expect(failing).rejects.toThrow('failed');
    expect(await outcomeOf(drained)).toBeUndefined();
  });

  it('drains when the last waiting call is cancelled', async () => {
    const { call } = createRig({ batchWaitTimeoutMs: 100 });
    const controller = new AbortController();
    call(1, { signal: controller.signal }).catch(() => {});
    const drained = call.drain();
    controller.abort();
    expect(await outcomeOf(drained)).toBeUndefined();
  });
});

describe('batch: the event', () => {
  it('reports size, wait, execution and limit of every batch', async () => {
    const { call, clock, events, finish } = createRig({ maxBatchSize: 2, batchWaitTimeoutMs: 100 });
    void call(1);
    clock.advance(30);
    void call(2);
    clock.advance(200);
    await finish();
    expect(events).toEqual([
      {
        reason: 'full',
        batchSize: 2,
        measuredSize: 2,
        maxBatchSize: 2,
        waitMs: 30,
        executionMs: 200,
        cancelled: 0,
        outcome: 'ok',
      },
    ]);
  });

  it('swallows a throw in onBatch, counts it and goes on', async () => {
    const { call, finishAll } = createRig({
      onBatch: () => {
        throw new Error('sink');
      },
    });
    const answers = [call(1), call(2)];
    await finishAll();
    expect(await Promise.all(answers)).toEqual([1, 2]);
    expect(call.sinkErrors).toBe(2);
  });

  it('swallows the rejection of an async onBatch, counts it and goes on', async () => {
    const unhandled = vi.fn<() => void>();
    process.on('unhandledRejection', unhandled);
    const { call, finishAll } = createRig({
      // oxlint-disable-next-line typescript/no-misused-promises -- an async sink fits the type of a sync one
      onBatch: () => Promise.reject(new Error('sink')),
    });
    const answers = [call(1), call(2)];
    await finishAll();
    expect(await Promise.all(answers)).toEqual([1, 2]);
    expect(call.sinkErrors).toBe(2);
    await new Promise((resolve) => setImmediate(resolve)); // Node reports unhandled rejections by then.
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('lets onBatch and the handler call back into the batcher', async () => {
    const clock = new FakeClock();
    const batches: (readonly number[])[] = [];
    const call: Batched<number, number> = batch(
      async (items: readonly number[]) => {
        batches.push(items);
        if (items[0] === 1) void call(2);
        return items;
      },
      { clock, onBatch: (event) => void (event.reason === 'idle' && call(3)) },
    );
    void call(1);
    await settled();
    expect(batches).toEqual([[1], [2, 3]]);
  });
});

describe('batch rule 9: rejects', () => {
  it.each([
    ['maxBatchSize', 0, RangeError, 'Expected `maxBatchSize` to be an integer >= 1, got `0` (number)'],
    ['maxBatchSize', 1.5, RangeError, 'got `1.5` (number)'],
    ['maxBatchSize', Infinity, RangeError, 'got `Infinity` (number)'],
    ['maxBatchSize', Number.NaN, TypeError, 'got `NaN` (number)'],
    ['maxBatchSize', true, TypeError, 'got `true` (boolean)'],
    ['maxBatchSize', '4', TypeError, 'got `4` (string)'],
    ['maxBatchSize', null, TypeError, 'got `null` (object)'],
    [
      'batchWaitTimeoutMs',
      -1,
      RangeError,
      'Expected `batchWaitTimeoutMs` to be a finite number >= 0, got `-1`',
    ],
    ['batchWaitTimeoutMs', Infinity, RangeError, 'got `Infinity` (number)'],
    ['batchWaitTimeoutMs', Number.NaN, TypeError, 'got `NaN` (number)'],
    ['maxConcurrentBatches', 0, RangeError, 'Expected `maxConcurrentBatches` to be an integer >= 1, got `0`'],
    ['maxConcurrentBatches', false, TypeError, 'got `false` (boolean)'],
    [
      'maxQueuedRequests',
      0,
      RangeError,
      'Expected `maxQueuedRequests` to be an integer >= 1 or Infinity, got `0`',
    ],
    ['maxQueuedRequests', 2.5, RangeError, 'got `2.5` (number)'],
    ['maxQueuedRequests', '9', TypeError, 'got `9` (string)'],
    ['strideMs', -5, RangeError, 'Expected `strideMs` to be a finite number >= 0, got `-5` (number)'],
    ['strideMs', 'often', TypeError, 'got `often` (string)'],
    ['allowSmallBatch', 1, TypeError, 'Expected `allowSmallBatch` to be a boolean, got `1` (number)'],
    ['batchSizeFn', 3, TypeError, 'Expected `batchSizeFn` to be a function, got `3` (number)'],
    ['onBatch', 'log', TypeError, 'Expected `onBatch` to be a function, got `log` (string)'],
    [
      'clock',
      null,
      TypeError,
      'Expected `clock` to be a clock with now() and setTimer(), got `null` (object)',
    ],
    ['clock', { now: () => 0 }, TypeError, 'Expected `clock` to be a clock'],
  ])('%s: %s', (option, value, ErrorClass, message) => {
    const build = () => batch(handler, { [option]: value });
    expect(build).toThrow(ErrorClass);
    expect(build).toThrow(message);
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it('an option that does not exist', () => {
    const options = { maxBatchSize: 4, maxBatchsize: 4 };
    const build = () => batch(handler, options);
    expect(build).toThrow(TypeError);
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(build).toThrow(
      'Unknown option `maxBatchsize`: the options are maxBatchSize, batchWaitTimeoutMs, ',
    );
  });

  it('a handler that is not a function', () => {
    expect(() => batch(5 as unknown as typeof handler)).toThrow(TypeError);
    expect(() => batch(undefined as unknown as typeof handler)).toThrow(
      'Expected `handler` to be a function',
    );
  });

  it('a bad value in a setter, and keeps the old one', () => {
    const call = batch(handler, { maxBatchSize: 4, batchWaitTimeoutMs: 7, maxConcurrentBatches: 2 });
    expect(() => call.setMaxBatchSize(0)).toThrow(RangeError);
    expect(() => call.setMaxBatchSize('8' as unknown as number)).toThrow(TypeError);
    expect(() => call.setBatchWaitTimeoutMs(-1)).toThrow(RangeError);
    expect(() => call.setBatchWaitTimeoutMs(Number.NaN)).toThrow(TypeError);
    expect(() => call.setMaxConcurrentBatches(1.5)).toThrow(RangeError);
    expect([call.maxBatchSize, call.batchWaitTimeoutMs, call.maxConcurrentBatches]).toEqual([4, 7, 2]);
  });
});

describe('batch: defaults and types', () => {
  it('has the documented defaults and takes undefined for them', () => {
    const call = batch(async (items: readonly number[]) => items);
    expect([call.maxBatchSize, call.batchWaitTimeoutMs, call.maxConcurrentBatches]).toEqual([10, 0, 1]);
    expect([call.queueLength, call.ongoingBatches, call.sinkErrors]).toEqual([0, 0, 0]);
  });

  it("runs on the platform's clock without being given one", async () => {
    const call = batch(async (items: readonly number[]) => items.map(String), { batchWaitTimeoutMs: 1 });
    expect(await call(1)).toBe('1');
  });

  it('infers (item) => Promise<result> from the handler alone', () => {
    const lengths = batch(async (words: readonly string[]) => words.map((word) => word.length));
    expectTypeOf(lengths).toExtend<(word: string) => Promise<number>>();
    expectTypeOf(lengths).toEqualTypeOf<Batched<string, number>>();
    expectTypeOf(lengths('word')).toEqualTypeOf<Promise<number>>();
    const mixed = batch(async (words: readonly string[]) =>
      words.map((word) => (word ? word.length : new Error('empty'))),
    );
    expectTypeOf(mixed).toEqualTypeOf<Batched<string, number>>();
    // @ts-expect-error -- an item of the wrong type
    expect(() => lengths(1)).not.toThrow();
  });

  it('keeps the inference beside options, Ray configurations included', () => {
    const lengths = batch(async (words: readonly string[]) => words.map((word) => word.length), {
      batchSizeFn: (words) => words.join('').length,
      onBatch: (event) => expectTypeOf(event).toEqualTypeOf<BatchEvent>(),
    });
    expectTypeOf(lengths).toEqualTypeOf<Batched<string, number>>();
    const double = batch(async (xs: readonly number[]) => xs.map((x) => x * 2), fromRayConfig({}));
    expectTypeOf(double).toEqualTypeOf<Batched<number, number>>();
  });

  it("takes the platform's AbortSignal and gives real ones, fit for fetch", () => {
    const call = batch(async (items: readonly number[], { signal, itemSignals }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(itemSignals).toEqualTypeOf<readonly AbortSignal[]>();
      expectTypeOf({ signal }).toExtend<RequestInit>();
      expect(AbortSignal.any([signal, ...itemSignals])).toBeInstanceOf(AbortSignal);
      return items;
    });
    expectTypeOf(call)
      .parameter(1)
      .toEqualTypeOf<{ readonly signal?: AbortSignal | undefined } | undefined>();
    return expect(call(1, { signal: new AbortController().signal })).resolves.toBe(1);
  });
});
