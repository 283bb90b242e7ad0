// oxlint-disable typescript/no-unsafe-type-assertion -- some faults are values of the wrong type
// oxlint-disable vitest/no-standalone-expect, vitest/expect-expect -- the claims are made in the schedules
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  batch,
  batchStream,
  END_OF_STREAM,
  type BatchControls,
  type Batched,
  type BatchedStream,
  type BatchEvent,
  type BatchOptions,
} from './batch.ts';
import { settled } from './test-support.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { runsOf } from '../testing/whole-run.ts';

const numRuns = runsOf({ whole: 5000, part: 600 });

interface Item {
  readonly id: number;
  readonly size: number;
}

type Fault = 'none' | 'throw' | 'short' | 'not an array' | 'one Error';
type Slot = 'chunk' | 'end' | 'error';

type Action =
  | { readonly type: 'submit'; readonly size: number }
  | { readonly type: 'cancel'; readonly pick: number }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'finish'; readonly pick: number; readonly fault: Fault }
  | {
      readonly type: 'setMaxBatchSize' | 'setBatchWaitTimeoutMs' | 'setMaxConcurrentBatches';
      readonly to: number;
    }
  | { readonly type: 'flush' | 'close' | 'settle' };

type StreamAction =
  | Action
  | { readonly type: 'step'; readonly pick: number; readonly slots: readonly Slot[] }
  | { readonly type: 'read'; readonly pick: number }
  | { readonly type: 'return'; readonly pick: number };

const pick = fc.nat({ max: 50 });
const ofType = <const Type extends string>(...types: Type[]) => fc.constantFrom(...types);
const faults = ofType<Fault>('none', 'none', 'none', 'throw', 'short', 'not an array', 'one Error');

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 50, arbitrary: fc.record({ type: ofType('submit'), size: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 20, arbitrary: fc.record({ type: ofType('cancel'), pick }) },
  { weight: 20, arbitrary: fc.record({ type: ofType('advance'), ms: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 25, arbitrary: fc.record({ type: ofType('finish'), pick, fault: faults }) },
  {
    weight: 10,
    arbitrary: fc.record({
      type: ofType('setMaxBatchSize', 'setBatchWaitTimeoutMs', 'setMaxConcurrentBatches'),
      to: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ type: ofType('flush') }) },
  { weight: 30, arbitrary: fc.record({ type: ofType('settle') }) },
  { weight: 1, arbitrary: fc.record({ type: ofType('close') }) },
);

const slots = fc.array(ofType<Slot>('chunk', 'chunk', 'chunk', 'end', 'error'), {
  minLength: 6,
  maxLength: 6,
});

const streamAction: fc.Arbitrary<StreamAction> = fc.oneof(
  { weight: 6, arbitrary: action },
  { weight: 3, arbitrary: fc.record({ type: ofType('step'), pick, slots }) },
  { weight: 3, arbitrary: fc.record({ type: ofType('read'), pick }) },
  { weight: 1, arbitrary: fc.record({ type: ofType('return'), pick }) },
);

interface Settings {
  readonly maxBatchSize: number;
  readonly batchWaitTimeoutMs: number;
  readonly maxConcurrentBatches: number;
  readonly maxQueuedRequests: number;
  readonly allowSmallBatch: boolean;
  readonly strideMs: number;
  readonly isMeasured: boolean;
}

const settings: fc.Arbitrary<Settings> = fc.record({
  maxBatchSize: fc.integer({ min: 1, max: 6 }),
  batchWaitTimeoutMs: fc.constantFrom(0, 0, 5, 20),
  maxConcurrentBatches: fc.integer({ min: 1, max: 3 }),
  maxQueuedRequests: fc.constantFrom(Infinity, Infinity, 3, 8),
  allowSmallBatch: fc.constantFrom(true, true, true, false),
  strideMs: fc.constantFrom(0, 0, 0, 7),
  isMeasured: fc.boolean(),
});

/** A handler that runs, as a schedule ends it. */
interface Run {
  isEnded: boolean;
  finish(fault: Fault): void;
}

/** The part of a schedule that both kinds of handler share. */
class Schedule<Each extends Run> {
  readonly clock = new FakeClock();
  readonly runs: Each[] = [];
  /** One per call, in order of submission: a call's id is its index. */
  readonly signals: AbortController[] = [];
  readonly arrivedAtMs: number[] = [];
  readonly startedIds: number[] = [];
  readonly options: BatchOptions<Item>;
  readonly #settings: Settings;
  /** Broken claims found inside callbacks, where a throw would be taken for the handler's. */
  readonly #broken: unknown[] = [];
  #areLimitsOriginal = true;

  constructor(given: Settings) {
    this.#settings = given;
    const { isMeasured, ...options } = given;
    this.options = {
      ...options,
      clock: this.clock,
      onBatch: (event) => this.#claim(() => checkEvent(event, given)),
      ...(isMeasured && { batchSizeFn: sumOfSizes }),
    };
  }

  openRun(index: number): Each | undefined {
    const open = this.runs.filter((run) => !run.isEnded);
    return open[index % open.length];
  }

  /** Called by the handler before anything else. */
  start(run: Each, items: readonly Item[], call: BatchControls): void {
    this.runs.push(run);
    this.#claim(() => {
      expect(items.length, 'a batch has members').toBeGreaterThan(0);
      expect(call.ongoingBatches, 'concurrency').toBeLessThanOrEqual(call.maxConcurrentBatches);
      for (const { id } of items) expect(this.signals[id]?.signal.aborted, 'was cancelled').toBe(false);
    });
    this.startedIds.push(...items.map(({ id }) => id));
  }

  submit(size: number): { readonly item: Item; readonly signal: AbortSignal } {
    const controller = new AbortController();
    this.arrivedAtMs.push(this.clock.now());
    this.signals.push(controller);
    return { item: { id: this.signals.length - 1, size }, signal: controller.signal };
  }

  /** Everything but `submit`, which differs between the kinds. */
  act(step: Action, call: BatchControls): void {
    if (step.type === 'cancel') this.signals[step.pick % this.signals.length]?.abort('cancelled');
    if (step.type === 'advance') this.clock.advance(step.ms);
    if (step.type === 'finish') this.openRun(step.pick)?.finish(step.fault);
    if (step.type === 'flush') call.flush();
    if (step.type === 'close') void call.close();
    if (step.type === 'setMaxConcurrentBatches') call.setMaxConcurrentBatches(step.to);
    if (step.type === 'setMaxBatchSize' || step.type === 'setBatchWaitTimeoutMs') {
      call[step.type](step.to);
      this.#areLimitsOriginal = false;
    }
  }

  /** Holds after every action. */
  check(call: BatchControls): void {
    expect(this.#broken).toEqual([]);
    const mayWait = call.queueLength > 0 && call.ongoingBatches < call.maxConcurrentBatches;
    expect(this.clock.pendingTimers, 'timers').toBeLessThanOrEqual(mayWait ? 1 : 0);
    expect(this.startedIds, 'FIFO').toEqual(this.startedIds.toSorted((a, b) => a - b));
  }

  /** Checks, once all promises have settled: if a slot is free, each waiting call may still wait. */
  checkPromptness(call: BatchControls, settledIds: ReadonlySet<number>): void {
    const hasLeft = new Set([...settledIds, ...this.startedIds]);
    const waitingSinceMs = this.arrivedAtMs.filter((_, id) => !hasLeft.has(id));
    expect(call.queueLength).toBe(waitingSinceMs.length);
    const { allowSmallBatch, strideMs, batchWaitTimeoutMs, maxBatchSize } = this.#settings;
    if (waitingSinceMs.length === 0 || call.ongoingBatches >= call.maxConcurrentBatches) return;
    if (strideMs > 0 || !this.#areLimitsOriginal) return;
    expect(waitingSinceMs.length, 'a full batch leaves').toBeLessThan(maxBatchSize);
    if (!allowSmallBatch) return;
    const longestWaitMs = this.clock.now() - Math.min(...waitingSinceMs);
    expect(longestWaitMs, 'no call waits past the timeout').toBeLessThan(batchWaitTimeoutMs);
  }

  async end(call: BatchControls): Promise<void> {
    const closed = call.close();
    await settled();
    for (let run = this.openRun(0); run; run = this.openRun(0)) {
      run.finish('none');
      await settled();
    }
    await closed;
    expect([call.queueLength, call.ongoingBatches, this.clock.pendingTimers]).toEqual([0, 0, 0]);
  }

  #claim(check: () => void): void {
    try {
      check();
    } catch (broken) {
      this.#broken.push(broken);
    }
  }
}

function sumOfSizes(items: readonly Item[]): number {
  return items.reduce((sum, { size }) => sum + size, 0);
}

function checkEvent(event: BatchEvent, { isMeasured, allowSmallBatch }: Settings): void {
  expect(event.measuredSize, 'limit').toBeLessThanOrEqual(event.maxBatchSize);
  if (!isMeasured) expect(event.measuredSize).toBe(event.batchSize);
  if (!isMeasured) expect(event.reason).not.toBe('deferred');
  if (event.reason === 'full') expect(event.measuredSize).toBe(event.maxBatchSize);
  if (!allowSmallBatch) expect(event.reason).toMatch(/full|deferred|flush|close/);
}

async function runUnary(given: Settings, actions: readonly Action[]): Promise<void> {
  const schedule = new Schedule(given);
  const settlements = new Map<number, string[]>();
  const settledIds = new Set<number>();
  const call: Batched<Item, number> = batch((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (number | Error)[]>();
    const ids = items.map(({ id }) => id);
    const run = {
      isEnded: false,
      finish(fault: Fault) {
        run.isEnded = true;
        if (fault === 'throw') reject(new Error(fault));
        if (fault === 'short') resolve(ids.slice(1));
        if (fault === 'not an array') resolve(fault as never);
        if (fault === 'one Error') resolve([new Error(fault), ...ids.slice(1)]);
        resolve(ids);
      },
    };
    schedule.start(run, items, call);
    return promise;
  }, schedule.options);
  for (const step of actions) {
    if (step.type === 'submit') {
      const { item, signal } = schedule.submit(step.size);
      const seen: string[] = [];
      settlements.set(item.id, seen);
      call(item, { signal })
        .then(
          (value) => seen.push(value === item.id ? 'its own answer' : 'the answer of another'),
          () => seen.push('error'),
        )
        .finally(() => settledIds.add(item.id));
    } else {
      schedule.act(step, call);
    }
    schedule.check(call);
    if (step.type !== 'settle') continue;
    await settled();
    schedule.check(call);
    schedule.checkPromptness(call, settledIds);
  }
  await schedule.end(call);
  await settled();
  schedule.check(call);
  for (const seen of settlements.values()) expect(seen).toSatisfy(isOneAnswer);
}

function isOneAnswer(seen: readonly string[]): boolean {
  return seen.length === 1 && seen[0] !== 'the answer of another';
}

/** The chunks that a stream handler sent to one call, and those that its reader got. */
class StreamCall {
  readonly stream: AsyncIterableIterator<string>;
  readonly signal: AbortSignal;
  /** Chunks, then 'end' or 'error', as the handler meant them. */
  readonly sent: string[] = [];
  readonly #reads: Promise<string>[] = [];
  hasReturned = false;

  constructor(stream: AsyncIterableIterator<string>, signal: AbortSignal) {
    this.stream = stream;
    this.signal = signal;
  }

  send(entry: string): void {
    if (!isEnding(this.sent.at(-1))) this.sent.push(entry);
  }

  read(): void {
    const read = this.stream.next();
    this.#reads.push(
      read.then(
        ({ value, done }) => (done ? 'end' : value),
        () => 'error',
      ),
    );
  }

  return(): void {
    this.hasReturned = true;
    void this.stream.return?.();
  }

  /** Reads on to the end, and one further: after the end comes the end. */
  async readRest(): Promise<void> {
    for (let reads = 0; reads <= this.sent.length + 1; reads++) this.read();
    const seen = await Promise.all(this.#reads);
    const numRead = seen.findIndex(isEnding);
    expect(seen.slice(numRead + 1), 'the end stays the end').toSatisfy(areEnds);
    const chunks = seen.slice(0, numRead);
    expect(chunks, 'chunks arrive in order, none left out').toEqual(this.sent.slice(0, numRead));
    if (this.hasReturned || this.signal.aborted || this.sent.length === 0) return;
    expect(seen.slice(0, numRead + 1), 'everything sent arrives').toEqual(this.sent);
  }
}

function isEnding(entry: string | undefined): boolean {
  return entry === 'end' || entry === 'error';
}

function areEnds(seen: readonly string[]): boolean {
  return seen.every((entry) => entry === 'end');
}

/** A generator that follows orders, one at a time. */
class OrderedGenerator implements Run {
  isEnded = false;
  readonly #calls: () => readonly StreamCall[];
  readonly #orders: (readonly Slot[] | Fault)[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(calls: () => readonly StreamCall[]) {
    this.#calls = calls;
  }

  finish(fault: Fault): void {
    this.isEnded = true;
    this.order(fault);
  }

  order(order: readonly Slot[] | Fault): void {
    this.#orders.push(order);
    this.#wake.resolve();
  }

  async *generate(): AsyncGenerator<readonly (string | Error | typeof END_OF_STREAM)[]> {
    for (let numSteps = 0; ; numSteps++) {
      while (this.#orders.length === 0) await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      const order = this.#orders.shift() ?? 'none';
      if (Array.isArray(order)) {
        yield this.#calls().map((call, index) => sendSlot(call, order[index], numSteps));
      } else {
        for (const call of this.#calls()) call.send(order === 'none' ? 'end' : 'error');
        if (order === 'none') return;
        if (order === 'throw' || order === 'one Error') throw new Error(order);
        yield order === 'short'
          ? this.#calls()
              .slice(1)
              .map(() => 'short')
          : (order as never);
      }
    }
  }
}

function sendSlot(
  call: StreamCall,
  slot: Slot | undefined,
  numSteps: number,
): string | Error | typeof END_OF_STREAM {
  call.send(slot === 'end' || slot === 'error' ? slot : `chunk ${numSteps}`);
  if (slot === 'end') return END_OF_STREAM;
  return slot === 'error' ? new Error(slot) : `chunk ${numSteps}`;
}

async function runStream(given: Settings, actions: readonly StreamAction[]): Promise<void> {
  const schedule = new Schedule<OrderedGenerator>(given);
  const calls: StreamCall[] = [];
  const call: BatchedStream<Item, string> = batchStream((items) => {
    // The first handler runs inside its own call, before the call's stream is known. So it reads the streams with each order.
    const run = new OrderedGenerator(() => items.flatMap(({ id }) => calls[id] ?? []));
    schedule.start(run, items, call);
    return run.generate();
  }, schedule.options);
  for (const step of actions) {
    if (step.type === 'submit') {
      const { item, signal } = schedule.submit(step.size);
      calls.push(new StreamCall(call(item, { signal }), signal));
    } else if (step.type === 'read') {
      calls[step.pick % calls.length]?.read();
    } else if (step.type === 'return') {
      calls[step.pick % calls.length]?.return();
    } else if (step.type === 'step') {
      schedule.openRun(step.pick)?.order(step.slots);
    } else {
      schedule.act(step, call);
    }
    schedule.check(call);
    if (step.type !== 'settle') continue;
    await settled();
    schedule.check(call);
  }
  await schedule.end(call);
  for (const each of calls) await each.readRest();
}

describe('batch and batchStream, under random schedules', () => {
  const parameters = { numRuns, endOnFailure: true };
  const schedules = fc.array(action, { minLength: 1, maxLength: 60 });
  const streamSchedules = fc.array(streamAction, { minLength: 1, maxLength: 60 });

  it('settle every call once, in order, within the limits, without an idle timer', () =>
    fc.assert(fc.asyncProperty(settings, schedules, runUnary), parameters));

  it('deliver every stream in order, end it once, and free every slot', () =>
    fc.assert(fc.asyncProperty(settings, streamSchedules, runStream), parameters));
});
