import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvBudgetError } from '../base/errors.ts';
import { KvMemory, type KvCacheLimits, type KvNeed, type KvShape } from './kv-memory.ts';
import type { Step } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import type { RequestId } from '../base/ids.ts';
import type { Scheduler } from './scheduler.ts';
import {
  createRequest,
  createScheduler,
  outputOf,
  requestId,
  type RequestOverrides,
} from './test-support.ts';
import { runsOf } from '../testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 2000, part: 250 });
const CONTEXT_LENGTH = 128;
const BYTES_PER_TOKEN = 2;

/** Limits as they stand; a schedule changes them while it runs. */
interface Limits {
  maxBytes: number;
  maxSlotBytes: number;
  maxRows: number;
  kvCacheMemoryBytes: number;
}

type Action =
  | {
      readonly type: 'add';
      readonly promptLength: number;
      readonly maxNewTokens: number;
      readonly family: number;
    }
  | { readonly type: 'abort'; readonly target: number }
  | { readonly type: 'configure'; readonly knobs: Partial<BatchingPolicy> }
  | { readonly type: 'limit'; readonly limits: Partial<Limits> }
  | { readonly type: 'run'; readonly numSteps: number };

const bytes = fc.oneof(fc.integer({ min: 40, max: 1200 }), fc.constant(Infinity));

const limits = {
  maxBytes: bytes,
  maxSlotBytes: bytes,
  maxRows: fc.constantFrom(1, 2, 3, 5, Infinity),
  kvCacheMemoryBytes: bytes,
};

const knobs = {
  policy: fc.constantFrom('off' as const, 'static' as const, 'continuous' as const),
  maxBatchSize: fc.integer({ min: 1, max: 9 }),
  maxBatchedTokens: fc.integer({ min: 8, max: 160 }),
  prefillStallMs: fc.constantFrom('auto' as const, 0, 5, Infinity),
  prefixCaching: fc.boolean(),
};

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      promptLength: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 30, max: 100 })),
      maxNewTokens: fc.integer({ min: 1, max: 24 }),
      family: fc.nat({ max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('abort' as const), target: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('configure' as const),
      knobs: fc.record(knobs, { requiredKeys: [] }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('limit' as const),
      limits: fc.record(limits, { requiredKeys: [] }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('run' as const), numSteps: fc.integer({ min: 1, max: 40 }) }),
  },
);

const schedule = fc.record({
  limits: fc.record(limits),
  knobs: fc.record(knobs),
  bucket: fc.constantFrom(1, 16, 32),
  maxPrefillRows: fc.constantFrom(1, 4),
  numBehind: fc.constantFrom(0, 1, 7),
  bytesPerRow: fc.constantFrom(0, 3),
  actions: fc.array(action, { maxLength: 30, size: 'max' }),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

/** The part of each limit that a shape uses. */
function costOf({ numSlots, numStagingRows, capacity, numSnapshots }: KvShape, bytesPerRow: number): Limits {
  const rowBytes = bytesPerRow + capacity * BYTES_PER_TOKEN;
  const total = (numSlots + numStagingRows) * rowBytes + numSnapshots * bytesPerRow;
  const slots = numSlots * rowBytes;
  return { kvCacheMemoryBytes: total, maxBytes: total, maxSlotBytes: slots, maxRows: numSlots };
}

const LIMIT_NAMES = ['kvCacheMemoryBytes', 'maxBytes', 'maxSlotBytes', 'maxRows'] as const;

/** The limits that the shape exceeds; each may be the loosest of its values. */
function exceeded(shape: KvShape, bytesPerRow: number, values: readonly Limits[]): (keyof Limits)[] {
  const cost = costOf(shape, bytesPerRow);
  return LIMIT_NAMES.filter((name) => cost[name] > Math.max(...values.map((value) => value[name])));
}

function liveLimits(now: Limits, bucket: number, bytesPerRow: number): KvCacheLimits {
  return {
    bytesPerRow,
    bytesPerToken: BYTES_PER_TOKEN,
    capacityFor: (length) => bucket * Math.ceil(length / bucket),
    get maxBytes() {
      return now.maxBytes;
    },
    get maxSlotBytes() {
      return now.maxSlotBytes;
    },
    get maxRows() {
      return now.maxRows;
    },
  };
}

/** The shape that a step touches: every row that it names, and every token that it leaves there. */
function touchedBy(step: Step): KvShape {
  const isIntoSlots = step.kind === 'decode' || step.isLastChunk;
  const slots = [
    ...(isIntoSlots ? step.rows.map(({ slot }) => slot) : []),
    ...step.transfers.flatMap(({ from, to }) => [from, to]),
    ...(step.kind === 'prefill' && step.reusedSlot !== undefined ? [step.reusedSlot] : []),
  ];
  const { restoredSnapshot = -1, takenSnapshot = -1 } = step.kind === 'prefill' ? step : {};
  return {
    numSnapshots: 1 + Math.max(restoredSnapshot, takenSnapshot),
    numSlots: 1 + Math.max(-1, ...slots),
    numStagingRows: step.kind === 'prefill' ? step.rows.length : 1,
    capacity: Math.max(
      ...step.rows.map(({ startPosition, tokenIds }) => startPosition + Math.max(1, tokenIds.length)),
    ),
  };
}

/** A scheduler on a device whose limits change, and what is wrong with the shapes of its steps. */
class Referee {
  readonly problems: string[] = [];
  readonly #now: Limits;
  readonly #numBehind: number;
  readonly #bytesPerRow: number;
  readonly #scheduler: Scheduler;
  /** One client and one class of priority: what runs is always the first of these. */
  #ids: RequestId[] = [];
  #numAdded = 0;
  /** Limits that were in force when something was admitted that still runs. */
  #former: Limits[] = [];
  #spared: RequestId[] = [];

  constructor({
    limits: first,
    knobs: firstKnobs,
    bucket,
    bytesPerRow,
    maxPrefillRows,
    numBehind,
  }: Schedule) {
    this.#now = { ...first };
    this.#bytesPerRow = bytesPerRow;
    const kvCacheLimits = liveLimits(this.#now, bucket, bytesPerRow);
    this.#numBehind = numBehind;
    this.#scheduler = createScheduler(
      { ...firstKnobs, kvCacheMemoryBytes: first.kvCacheMemoryBytes },
      { contextLength: CONTEXT_LENGTH, maxPrefillRows, kvCacheLimits },
    );
  }

  add(promptTokenIds: readonly number[], maxNewTokens: number): void {
    const request = createRequest(`r${this.#numAdded}`, { promptTokenIds, maxNewTokens });
    try {
      this.#scheduler.addAll([request], 0);
    } catch (error) {
      if (!(error instanceof KvBudgetError)) throw error;
      return;
    }
    this.#numAdded += 1;
    this.#ids.push(request.id);
  }

  abort(target: number): void {
    this.#scheduler.abort(requestId(`r${target % (this.#numAdded + 1)}`));
  }

  configure(changed: Partial<BatchingPolicy>): void {
    for (const unfit of this.#scheduler.configure({ ...this.#scheduler.policy, ...changed })) {
      this.#scheduler.abort(unfit.requestId);
    }
  }

  limit(changed: Partial<Limits>): void {
    this.#forgetEnded();
    this.#former.push({ ...this.#now });
    this.#spared = this.#ids.slice(0, this.#scheduler.numRunning);
    Object.assign(this.#now, changed);
    this.configure({ kvCacheMemoryBytes: this.#now.kvCacheMemoryBytes });
  }

  /** Returns false when there is nothing left to do. */
  step(): boolean {
    const first = this.#scheduler.schedule(0);
    if (!first) return false;
    const inFlight: Step[] = [];
    for (let step: Step | undefined = first; step;) {
      this.#watch(step);
      inFlight.push(step);
      const flight = { numInFlight: inFlight.length, accepted: Promise.resolve() };
      const isLast: boolean = inFlight.length > this.#numBehind;
      step = isLast ? undefined : this.#scheduler.scheduleBehind(step, flight, 0);
    }
    for (const step of inFlight) this.#answer(step);
    return true;
  }

  #watch(step: Step): void {
    this.#forgetEnded();
    const { kvShape } = step;
    const touched = touchedBy(step);
    if (touched.numSlots > kvShape.numSlots) this.problems.push('cuts off a slot in use');
    if (touched.numStagingRows > kvShape.numStagingRows) this.problems.push('cuts off a staging row in use');
    if (touched.numSnapshots > kvShape.numSnapshots) this.problems.push('cuts off a snapshot in use');
    if (touched.capacity > kvShape.capacity) this.problems.push('cuts off tokens in use');
    for (const name of exceeded(kvShape, this.#bytesPerRow, [this.#now, ...this.#former])) {
      this.problems.push(`${name}: ${costOf(kvShape, this.#bytesPerRow)[name]} of ${this.#now[name]}`);
    }
  }

  #forgetEnded(): void {
    this.#ids = this.#ids.filter((id) => this.#scheduler.has(id));
    if (!this.#spared.some((id) => this.#scheduler.has(id))) this.#former = [];
  }

  #answer(step: Step): void {
    const isSilent = step.kind === 'prefill' && !step.isLastChunk;
    const tokenIds = isSilent ? [] : step.rows.map(() => 9);
    this.#scheduler.update(step, outputOf(tokenIds), 0);
  }
}

function play(played: Schedule): readonly string[] {
  const referee = new Referee(played);
  for (const next of played.actions) {
    switch (next.type) {
      case 'add': {
        const { promptLength, maxNewTokens, family } = next;
        const promptTokenIds = Array.from({ length: promptLength }, (_, index) => family * 1000 + index);
        referee.add(promptTokenIds, maxNewTokens);
        break;
      }
      case 'abort':
        referee.abort(next.target);
        break;
      case 'configure':
        referee.configure(next.knobs);
        break;
      case 'limit':
        referee.limit(next.limits);
        break;
      case 'run':
        for (let count = 0; count < next.numSteps && referee.step(); count += 1);
        break;
      default:
        next satisfies never;
    }
  }
  referee.limit({
    kvCacheMemoryBytes: Infinity,
    maxBytes: Infinity,
    maxSlotBytes: Infinity,
    maxRows: Infinity,
  });
  for (let count = 0; referee.step(); count += 1) if (count > 10_000) return ['never ends'];
  return referee.problems;
}

const sizes = fc.record({
  numRows: fc.integer({ min: 0, max: 9 }),
  numStagingRows: fc.integer({ min: 1, max: 3 }),
  length: fc.nat({ max: 60 }),
  growth: fc.nat({ max: 60 }),
});

const event = fc.oneof(
  { weight: 4, arbitrary: sizes.map((size) => ({ type: 'need' as const, ...size })) },
  {
    weight: 1,
    arbitrary: fc
      .record(limits, { requiredKeys: [] })
      .map((changed) => ({ type: 'limit' as const, changed })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 300 }).map((numSteps) => ({ type: 'run' as const, numSteps })),
  },
);

type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

function playMemory(
  first: Limits,
  bucket: number,
  bytesPerRow: number,
  events: readonly Event[],
): readonly string[] {
  const problems: string[] = [];
  const now = { ...first };
  const kvCacheLimits = liveLimits(now, bucket, bytesPerRow);
  const memory = new KvMemory(kvCacheLimits, now.kvCacheMemoryBytes);
  let need: KvNeed = { numRows: 0, numStagingRows: 1, length: 0, finalLength: 0, maySnapshot: true };
  const step = (): void => {
    memory.beginStep(need);
    const shape = memory.reserve(need);
    const capacity = kvCacheLimits.capacityFor(need.length);
    const least = { ...need, numSlots: need.numRows, capacity, numSnapshots: 0 };
    const isOver = exceeded(shape, bytesPerRow, [now]).length > 0;
    for (const size of ['numSlots', 'numStagingRows', 'capacity', 'numSnapshots'] as const) {
      if (shape[size] < least[size]) problems.push(`${size}: ${shape[size]}, ${least[size]} are needed`);
      if (isOver && shape[size] > least[size])
        problems.push(`${size}: ${shape[size]}, ${least[size]} would do`);
    }
    need = { ...need, length: Math.min(need.length + 1, need.finalLength) };
  };
  for (const next of events) {
    switch (next.type) {
      case 'need': {
        const { numRows, numStagingRows, length, growth } = next;
        const wanted = { ...need, numRows, numStagingRows, length, finalLength: length + growth };
        const isHeld = memory.canHold(wanted);
        if (memory.makeRoom(wanted) !== isHeld) problems.push('no room for what it can hold');
        if (isHeld) need = wanted;
        break;
      }
      case 'limit':
        Object.assign(now, next.changed);
        memory.limitTo(now.kvCacheMemoryBytes);
        break;
      case 'run':
        for (let count = 0; count < next.numSteps; count += 1) step();
        break;
      default:
        next satisfies never;
    }
  }
  return problems;
}

describe('the K/V cache, whatever comes and whatever its limits become', () => {
  it('is never a byte over any limit but for what ran when one was lowered, through the scheduler', () => {
    fc.assert(
      fc.property(schedule, (played) => {
        expect(play(played)).toEqual([]);
      }),
      { numRuns: NUM_RUNS },
    );
  }, 60_000);

  it('is within every limit, or is the least that holds what runs, through its memory alone', () => {
    fc.assert(
      fc.property(
        fc.record(limits),
        fc.constantFrom(1, 16, 32),
        fc.constantFrom(0, 3),
        fc.array(event, { maxLength: 30 }),
        (...played) => {
          expect(playMemory(...played)).toEqual([]);
        },
      ),
      { numRuns: NUM_RUNS },
    );
  }, 60_000);

  it('holds two requests at the same time whenever they fit together, in either order and after any other', () => {
    const request = fc.record({
      promptLength: fc.integer({ min: 1, max: 60 }),
      maxNewTokens: fc.integer({ min: 30, max: 60 }),
    });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 3, maxLength: 3 }),
        fc.integer({ min: 100, max: 600 }),
        fc.boolean(),
        (requests, maxBytes, isBare) => {
          const [earlier, ...pair] = requests;
          const lengths = pair.map(({ promptLength, maxNewTokens }) => promptLength + maxNewTokens);
          const row = 16 * Math.ceil(Math.max(...lengths) / 16);
          fc.pre(3 * row <= maxBytes);
          for (const order of [pair, pair.toReversed()]) {
            const driver = createDriver({ kvCacheMemoryBytes: maxBytes });
            if (earlier && !isBare) driver.tryAdd('earlier', earlier);
            driver.finish();
            for (const [index, next] of order.entries()) driver.tryAdd(`r${index}`, next);
            driver.steps(3);
            expect(driver.scheduler.numRunning).toBe(2);
          }
        },
      ),
      { numRuns: runsOf({ whole: 500, part: 150 }) },
    );
  });
});

function createDriver(policy: Partial<BatchingPolicy>) {
  const scheduler = createScheduler(policy, { contextLength: CONTEXT_LENGTH });
  const step = (): boolean => {
    const next = scheduler.schedule(0);
    if (!next) return false;
    scheduler.update(next, outputOf(next.rows.map(() => 9)), 0);
    return true;
  };
  return {
    scheduler,
    tryAdd: (name: string, overrides: RequestOverrides): void => {
      try {
        scheduler.addAll([createRequest(name, overrides)], 0);
      } catch (error) {
        if (!(error instanceof KvBudgetError)) throw error;
      }
    },
    steps: (count: number): void => {
      for (let index = 0; index < count; index += 1) step();
    },
    finish: (): void => {
      while (step());
    },
  };
}
