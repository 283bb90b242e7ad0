import { describe, expect, it } from 'vitest';
import { KvBudgetError } from '../base/errors.ts';
import type { KvShape } from './kv-memory.ts';
import type { Step } from './model-runner.ts';
import type { BatchingPolicy } from './policy.ts';
import type { SchedulerOptions } from './scheduler.ts';
import {
  createKvCacheLimits,
  createPolicy,
  createRequest,
  createScheduler,
  outputOf,
  describeStep,
  requestId,
  type RequestOverrides,
} from './test-support.ts';

/** A scheduler at time 0 and a device that answers 9 to everything. */
function createDriver(policy: Partial<BatchingPolicy> = {}, options: Partial<SchedulerOptions> = {}) {
  const scheduler = createScheduler({ prefixCaching: true, ...policy }, options);
  const shapes: KvShape[] = [];
  const update = (step: Step, answer: number | Error): void => {
    const isSilent = step.kind === 'prefill' && !step.isLastChunk;
    const tokenIds = isSilent ? [] : step.rows.map(() => answer);
    scheduler.update(step, outputOf(tokenIds), 0);
  };
  const driver = {
    scheduler,
    shapes,
    add: (name: string, request: RequestOverrides = {}): void =>
      scheduler.addAll([createRequest(name, request)], 0),
    step: (answer: number | Error = 9): string => {
      const step = scheduler.schedule(0);
      if (step) {
        shapes.push(step.kvShape);
        update(step, answer);
      }
      return describeStep(step);
    },
    steps: (count: number): string[] => Array.from({ length: count }, () => driver.step()),
    /** Steps until all is done; the shape of the last one. */
    finish: (): KvShape | undefined => {
      while (driver.step() !== 'nothing');
      return shapes.at(-1);
    },
    configure: (knobs: Partial<BatchingPolicy>) =>
      scheduler.configure(createPolicy({ ...scheduler.policy, ...knobs })),
  };
  return driver;
}

const counted = (length: number, from = 100): number[] => Array.from({ length }, (_, index) => from + index);

/** A chat's prompt: 40 tokens, then for each turn before it an answer of four 9s and a question. */
const turnOf = (chat: number, turn: number): number[] => [
  ...counted(40, 1000 * chat),
  ...Array.from({ length: turn }, (_, index) => [9, 9, 9, 9, 500 + index]).flat(),
];

/** Takes one turn of a chat. Returns its first step. */
const take = (driver: ReturnType<typeof createDriver>, chat: number, turn: number): string => {
  driver.add(`c${chat}`, { promptTokenIds: turnOf(chat, turn), maxNewTokens: 4 });
  const first = driver.step();
  driver.finish();
  return first;
};

describe('rows that a device does not bear', () => {
  it('wait, though the policy has places for them, until it bears more', () => {
    const limits = { ...createKvCacheLimits(), maxRows: 2 };
    const driver = createDriver({}, { kvCacheLimits: limits });
    for (const name of ['a', 'b', 'c', 'd']) driver.add(name, { promptLength: 2, maxNewTokens: 9 });
    driver.steps(12);
    expect([driver.scheduler.numRunning, driver.shapes.at(-1)?.numSlots]).toEqual([2, 2]);
    limits.maxRows = 4;
    driver.steps(12);
    expect(driver.scheduler.numWaiting).toBe(0);
    expect(driver.finish()?.numSlots).toBeLessThanOrEqual(4);
  });
});

describe('a prefill that is shared', () => {
  const shared = { maxPrefillRows: 8 };

  it('takes the whole prompts that wait together in one step', () => {
    const driver = createDriver({}, shared);
    driver.add('a', { promptLength: 3 });
    driver.add('b', { promptLength: 5 });
    driver.add('c', { promptLength: 4 });
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 & b 0+5 @1 & c 0+4 @2 last', 'decode a b c']);
  });

  it('joins what decodes, too', () => {
    const driver = createDriver({}, shared);
    driver.add('a', { maxNewTokens: 9 });
    driver.steps(2);
    driver.add('b');
    driver.add('c');
    expect(driver.steps(2)).toEqual(['prefill b 0+3 @1 & c 0+3 @2 last', 'decode a b c']);
  });

  it('holds no more rows than the runner takes at once, and no more padded tokens than maxBatchedTokens', () => {
    const narrow = createDriver({}, { maxPrefillRows: 2 });
    for (const name of 'abc') narrow.add(name, { maxNewTokens: 9 });
    expect(narrow.step()).toBe('prefill a 0+3 @0 & b 0+3 @1 last');
    const tight = createDriver({ maxBatchedTokens: 9 }, shared);
    for (const name of 'abcd') tight.add(name, { maxNewTokens: 9 });
    expect(tight.steps(3)).toEqual([
      'prefill a 0+3 @0 & b 0+3 @1 & c 0+3 @2 last',
      'decode a b c',
      'prefill d 0+3 @3 last',
    ]);
  });

  it('is not shared where more than half of it would be padding', () => {
    const driver = createDriver({}, shared);
    driver.add('a', { promptLength: 2 });
    driver.add('b', { promptLength: 2 });
    driver.add('c', { promptLength: 20 });
    expect(driver.steps(2)).toEqual(['prefill a 0+2 @0 & b 0+2 @1 last', 'prefill c 0+20 @2 last']);
  });

  it('admits no more than the policy has places for', () => {
    const off = createDriver({ policy: 'off' }, shared);
    off.add('a');
    off.add('b');
    expect(off.step()).toBe('prefill a 0+3 @0 last');
    const continuous = createDriver({ maxBatchSize: 2 }, shared);
    for (const name of 'abc') continuous.add(name);
    expect(continuous.step()).toBe('prefill a 0+3 @0 & b 0+3 @1 last');
  });

  it('leaves out a prompt that can take over the K/V of another, once that is there', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 3 }, shared);
    driver.add('a', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    driver.add('b', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    driver.add('c', { promptLength: 3, maxNewTokens: 2 });
    expect(driver.steps(3)).toEqual([
      'prefill a 0+3 @0 & c 0+3 @2 last',
      'decode a b c, 0⇒1',
      'decode b, 0⇒3, 1→0',
    ]);
  });
});

describe('a prompt with a prefix that a slot holds', () => {
  it('decodes at once where all but its last token is there, in a live slot', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: [5, 6, 7], maxNewTokens: 5 });
    driver.steps(2);
    driver.add('b', { promptTokenIds: [5, 6, 7], maxNewTokens: 5 });
    const step = driver.scheduler.schedule(0);
    expect(describeStep(step)).toBe('decode a b, 0⇒1');
    expect(step?.rows[1]).toMatchObject({ tokenIds: [7], startPosition: 2 });
  });

  it('goes on with an answer that has ended in that very slot, without a copy', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: [5, 6, 7], maxNewTokens: 3 });
    driver.finish();
    // Prompt and answer, of which the last token was never fed in.
    driver.add('b', { promptTokenIds: [5, 6, 7, 9, 9, 1], maxNewTokens: 3 });
    expect(driver.step()).toBe('decode b');
  });

  it('computes the rest of a long prompt behind 32 tokens or more', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: [...counted(40), 1, 2, 3], maxNewTokens: 9 });
    driver.step();
    driver.add('b', { promptTokenIds: [...counted(40), 7, 8], maxNewTokens: 9 });
    driver.add('c', { promptTokenIds: [...counted(31), 7, 8], maxNewTokens: 9 });
    expect(driver.steps(2)).toEqual(['prefill b 40+2 @1 of 0 last', 'prefill c 0+33 @2 last']);
  });

  it('always computes its last token, from whose logits the next one is sampled', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: counted(50), maxNewTokens: 9 });
    driver.step();
    driver.add('b', { promptTokenIds: counted(45), maxNewTokens: 9 });
    const step = driver.scheduler.schedule(0);
    expect(step?.rows[1]).toMatchObject({ tokenIds: [144], startPosition: 44 });
  });

  it('reports how many tokens were looked up and found', () => {
    const driver = createDriver();
    const request = { promptTokenIds: [5, 6, 7], maxNewTokens: 5 };
    driver.add('a', request);
    driver.step();
    driver.add('b', request);
    const step = driver.scheduler.schedule(0);
    const progress = step && driver.scheduler.update(step, outputOf([9, 9]), 0);
    expect(
      progress?.map(({ sequence, isStart }) => [
        isStart,
        sequence.numPrefillTokens,
        sequence.numReusedTokens,
      ]),
    ).toEqual([
      [false, 3, 0],
      [true, 3, 2],
    ]);
  });

  it('finds what was used last of the free slots: the least recently used one is overwritten', () => {
    const driver = createDriver({ maxBatchSize: 4 });
    for (const first of [1, 2, 3, 4]) {
      driver.add(`r${first}`, { promptTokenIds: [first, 50, 51], maxNewTokens: 1 });
      driver.finish();
    }
    // All four are there; the first is used again, so that the fifth costs the second.
    driver.add('again', { promptTokenIds: [1, 50, 51], maxNewTokens: 1 });
    expect(driver.step()).toMatch(/^decode again/);
    driver.add('r5', { promptTokenIds: [5, 50, 51], maxNewTokens: 1 });
    driver.finish();
    for (const [first, kind] of [
      [1, 'decode'],
      [2, 'prefill'],
    ] as const) {
      driver.add(`check${first}`, { promptTokenIds: [first, 50, 51], maxNewTokens: 1 });
      expect(driver.step()).toMatch(new RegExp(`^${kind}`));
    }
  });

  describe('of a chat', () => {
    it('is taken over by its next turn, the generated tokens too', () => {
      const driver = createDriver();
      take(driver, 1, 0);
      // The last of four tokens was never fed in.
      expect(take(driver, 1, 1)).toBe('prefill c1 43+2 @0 of 0 last');
    });

    it('is not overwritten by another chat while a slot is free', () => {
      const driver = createDriver();
      for (const chat of [1, 2, 3, 4]) take(driver, chat, 0);
      expect(driver.shapes.at(-1)?.numSlots).toBe(4);
      for (const turn of [1, 2, 3])
        for (const chat of [1, 2, 3, 4])
          expect(take(driver, chat, turn), `turn ${turn}`).toMatch(
            /^prefill c\d (43|48|53)\+2 @0 of \d last/,
          );
    });

    it('is copied before anything overwrites it where the next turn decodes at once', () => {
      const driver = createDriver();
      for (const chat of [1, 2, 3, 4]) take(driver, chat, 0);
      driver.add('c1', { promptTokenIds: turnOf(1, 1).slice(0, 44), maxNewTokens: 4 });
      expect(driver.step()).toBe('decode c1, 0⇒2, 1⇒0');
    });

    it('goes where there are fewer slots than chats and no other was used longer ago', () => {
      const driver = createDriver();
      for (const chat of [1, 2, 3, 4]) take(driver, chat, 0);
      take(driver, 1, 1);
      take(driver, 5, 0);
      expect([take(driver, 1, 2), take(driver, 3, 1), take(driver, 4, 1), take(driver, 5, 1)]).toEqual(
        Array(4).fill(expect.stringMatching(/^prefill c\d (43|48)\+2/)),
      );
      expect(take(driver, 2, 1)).toMatch(/^prefill c2 0\+45/);
    });
  });

  it('is computed anew after a step that failed: its copies may never have been made', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    driver.finish();
    driver.add('x', { promptLength: 4 });
    driver.step(new Error('device'));
    driver.add('b', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill b 0+3 @0 last');
  });

  it('is computed anew where prefixCaching is off, or was turned off', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    driver.finish();
    driver.configure({ prefixCaching: false });
    driver.add('b', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill b 0+3 @0 last');
    driver.finish();
    driver.configure({ prefixCaching: true });
    driver.add('c', { promptTokenIds: [5, 6, 7], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill c 0+3 @0 last');
  });
});

describe('the K/V cache', () => {
  it('grows with what runs: slots in powers of two from four on, staging rows with what they share', () => {
    const driver = createDriver({ prefixCaching: false }, { maxPrefillRows: 8 });
    driver.add('a', { promptLength: 3, maxNewTokens: 20 });
    driver.step();
    for (const name of 'bcdef') driver.add(name, { promptLength: 3, maxNewTokens: 2 });
    driver.step();
    expect(driver.shapes).toEqual([
      { numSlots: 4, numStagingRows: 1, capacity: 16, numSnapshots: 0 },
      { numSlots: 8, numStagingRows: 5, capacity: 16, numSnapshots: 0 },
    ]);
    expect(driver.finish()).toEqual({ numSlots: 8, numStagingRows: 5, capacity: 32, numSnapshots: 0 });
    expect(driver.scheduler.kvUsage).toEqual({ usedBytes: 0, reservedBytes: 13 * 32 });
  });

  it('counts the tokens of what runs as used', () => {
    const driver = createDriver();
    driver.add('a', { promptLength: 3 });
    driver.steps(3);
    expect(driver.scheduler.kvUsage).toEqual({ usedBytes: 5, reservedBytes: 5 * 16 });
  });

  it('shrinks when 256 steps have needed less', () => {
    const driver = createDriver({ prefixCaching: false }, { contextLength: 1000 });
    for (const name of 'abcdefgh') driver.add(name, { promptLength: 20, maxNewTokens: 2 });
    expect(driver.finish()).toEqual({ numSlots: 8, numStagingRows: 1, capacity: 32, numSnapshots: 0 });
    driver.add('i', { promptLength: 3, maxNewTokens: 600 });
    expect(driver.finish()).toMatchObject({ numSlots: 4 });
  });

  it('forgets what its shrinking cuts off', () => {
    const driver = createDriver({}, { contextLength: 1000 });
    driver.add('a', { promptTokenIds: counted(60), maxNewTokens: 2 });
    driver.finish();
    driver.add('i', { promptLength: 3, maxNewTokens: 13 });
    driver.finish();
    for (let round = 0; round < 60; round += 1) {
      driver.add(`s${round}`, { promptLength: 3, maxNewTokens: 10 });
      driver.finish();
    }
    expect(driver.shapes.at(-1)).toMatchObject({ capacity: 16 });
    driver.add('b', { promptTokenIds: counted(61), maxNewTokens: 2 });
    expect(driver.step()).toMatch(/^prefill b 0\+61/);
  });
});

describe('kvCacheMemoryBytes', () => {
  it('admits what has memory up to its last token; the others wait for it', () => {
    // A row of 32 tokens each, and one for staging.
    const driver = createDriver({ kvCacheMemoryBytes: 3 * 32, prefixCaching: false });
    for (const name of 'abc') driver.add(name, { promptLength: 17, maxNewTokens: 3 });
    expect(driver.steps(6)).toEqual([
      'prefill a 0+17 @0 last',
      'prefill b 0+17 @1 last',
      'decode a b',
      'decode a b',
      'prefill c 0+17 @0 last',
      'decode c',
    ]);
    for (const shape of driver.shapes) {
      expect((shape.numSlots + shape.numStagingRows) * shape.capacity).toBeLessThanOrEqual(3 * 32);
    }
  });

  it('gives slots back where a long sequence needs their memory', () => {
    const driver = createDriver({ kvCacheMemoryBytes: 9 * 16, prefixCaching: false });
    for (const name of 'abcdefgh') driver.add(name, { promptLength: 3, maxNewTokens: 3 });
    expect(driver.finish()).toEqual({ numSlots: 8, numStagingRows: 1, capacity: 16, numSnapshots: 0 });
    driver.add('long', { promptLength: 40, maxNewTokens: 3 });
    expect(driver.step()).toBe('prefill long 0+40 @0 last');
    expect(driver.shapes.at(-1)).toEqual({ numSlots: 2, numStagingRows: 1, capacity: 48, numSnapshots: 0 });
  });

  it('runs two requests that fit together at the same time, whichever comes first', () => {
    for (const order of [
      ['short', 'long'],
      ['long', 'short'],
    ]) {
      // Two rows of 48 tokens, and one for staging: no room for four slots.
      const driver = createDriver({ kvCacheMemoryBytes: 3 * 48, prefixCaching: false });
      for (const name of order) driver.add(name, { promptLength: name === 'long' ? 40 : 3, maxNewTokens: 6 });
      expect(driver.steps(3).at(-1)).toBe(`decode ${order.join(' ')}`);
    }
  });

  it('forgets the prefixes in spare slots that another request needs, and computes them anew', () => {
    const driver = createDriver({ kvCacheMemoryBytes: 5 * 16 });
    for (const name of ['a', 'b'])
      driver.add(name, { promptTokenIds: [name.charCodeAt(0), 6, 7], maxNewTokens: 3 });
    driver.finish();
    driver.add('long', { promptLength: 30, maxNewTokens: 2 });
    driver.finish();
    driver.add('again', { promptTokenIds: [98, 6, 7], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill again 0+3 @0 last');
  });

  it('refuses what could never run, before anything is reserved, with what it takes and what there is', () => {
    const driver = createDriver({ kvCacheMemoryBytes: 64 });
    expect(() => driver.add('a', { promptLength: 30, maxNewTokens: 10 })).toThrow(
      expect.objectContaining({ code: 'KV_BUDGET', message: expect.stringContaining('40 tokens take') }),
    );
    expect(driver.scheduler.numWaiting).toBe(0);
  });

  it("is bound by the device's limits, of all buffers and of one", () => {
    const limits = [{ maxBytes: 64 }, { maxSlotBytes: 32 }].map(createKvCacheLimits);
    for (const kvCacheLimits of limits) {
      const driver = createDriver({}, { kvCacheLimits });
      driver.add('fits', { promptLength: 17, maxNewTokens: 15 });
      expect(() => driver.add('not', { promptLength: 17, maxNewTokens: 16 })).toThrow(KvBudgetError);
    }
  });

  it('names what waits and does not fit any more when it is lowered; what runs goes on', () => {
    const driver = createDriver({ policy: 'off' });
    for (const name of 'abc') driver.add(name, { promptLength: 20, maxNewTokens: name === 'c' ? 1 : 20 });
    driver.step();
    const unfit = driver.configure({ kvCacheMemoryBytes: 64 });
    expect(unfit).toEqual([{ requestId: requestId('b'), error: expect.any(KvBudgetError) }]);
    expect(driver.step()).toBe('decode a');
  });
});
