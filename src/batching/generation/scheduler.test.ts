import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackPressureError } from '../base/errors.ts';
import {
  createPolicy,
  createRequest,
  createScheduler,
  outputOf,
  describeStep,
  EOS,
  requestId,
} from './test-support.ts';
import type { RequestOverrides } from './test-support.ts';
import type { BatchingPolicy } from './policy.ts';
import type { Step } from './model-runner.ts';
import type { SchedulerOptions } from './scheduler.ts';

/** A device whose decode steps take 10 ms, and whose prefill steps 1 ms a token. */
const timeOf = (step: Step): number =>
  step.kind === 'decode' ? 10 : step.rows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);

/** A scheduler on a fake clock, with a device that answers 9 to everything, by default in no time. */
function createDriver(
  policy: Partial<BatchingPolicy> = {},
  options: Partial<SchedulerOptions> = {},
  msOf: (step: Step) => number = () => 0,
) {
  const scheduler = createScheduler(policy, options);
  const driver = {
    scheduler,
    nowMs: 0,
    add: (names: string, request?: RequestOverrides): void => {
      for (const name of names.split(' ')) scheduler.addAll([createRequest(name, request)], driver.nowMs);
    },
    /** Schedules and answers one step; `answers` by request, else 9. */
    step: (answers: Readonly<Record<string, number | Error>> = {}): string => {
      const step = scheduler.schedule(driver.nowMs);
      if (!step) return 'nothing';
      const isSilent = step.kind === 'prefill' && !step.isLastChunk;
      const tokenIds = isSilent ? [] : step.rows.map((row) => answers[row.requestId] ?? 9);
      driver.nowMs += msOf(step);
      scheduler.update(step, outputOf(tokenIds), driver.nowMs);
      return describeStep(step);
    },
    steps: (count: number): string[] => Array.from({ length: count }, () => driver.step()),
    abort: (name: string): boolean => scheduler.abort(requestId(name)),
    configure: (knobs: Partial<BatchingPolicy>): ReturnType<typeof scheduler.configure> =>
      scheduler.configure(createPolicy({ ...scheduler.policy, ...knobs })),
  };
  return driver;
}

describe('any policy', () => {
  it('schedules nothing when there is nothing', () => {
    const { scheduler, step } = createDriver();
    expect(step()).toBe('nothing');
    expect(scheduler.wakeAtMs).toBeUndefined();
  });

  it('prefills a prompt, then decodes it to its end', () => {
    const driver = createDriver();
    driver.add('a', { promptLength: 5, maxNewTokens: 3 });
    expect(driver.steps(4)).toEqual(['prefill a 0+5 @0 last', 'decode a', 'decode a', 'nothing']);
    expect(driver.scheduler.numRunning).toBe(0);
  });

  it('feeds each sampled token back at the position after the last', () => {
    const driver = createDriver();
    driver.add('a', { promptLength: 5, maxNewTokens: 3 });
    driver.step({ a: 41 });
    expect(driver.scheduler.schedule(0)).toMatchObject({ rows: [{ tokenIds: [41], startPosition: 5 }] });
  });

  it('ends a sequence at the end token, at maxNewTokens and at the context length', () => {
    const driver = createDriver({}, { contextLength: 8 });
    driver.add('a', { maxNewTokens: 10 });
    driver.add('b', { maxNewTokens: 2 });
    driver.add('c', { promptLength: 7, maxNewTokens: 10 });
    expect(driver.steps(3)).toEqual([
      'prefill a 0+3 @0 last',
      'prefill b 0+3 @1 last',
      'prefill c 0+7 @2 last',
    ]);
    expect(driver.step()).toBe('decode a b');
    expect(driver.step({ a: EOS })).toBe('decode a');
    expect(driver.step()).toBe('nothing');
  });

  it('ends a sequence whose first token is the end token without a decode step', () => {
    const driver = createDriver();
    driver.add('a');
    expect(driver.step({ a: EOS })).toBe('prefill a 0+3 @0 last');
    expect(driver.step()).toBe('nothing');
  });

  it('counts who waits and who runs', () => {
    const { scheduler, add, step } = createDriver({ maxBatchSize: 2 });
    add('a b c');
    expect([scheduler.numWaiting, scheduler.numRunning]).toEqual([3, 0]);
    step();
    expect([scheduler.numWaiting, scheduler.numRunning]).toEqual([2, 1]);
    step();
    expect([scheduler.numWaiting, scheduler.numRunning]).toEqual([1, 2]);
    expect([scheduler.has(requestId('a')), scheduler.has(requestId('c'))]).toEqual([true, true]);
    expect(scheduler.has(requestId('d'))).toBe(false);
  });

  it('fails the row that came back as an error, and no other', () => {
    const driver = createDriver();
    driver.add('a b c');
    driver.steps(3);
    expect(driver.step({ b: new Error('NaN') })).toBe('decode a b c');
    expect(driver.step()).toBe('decode a c, 2→1');
  });

  it('serves clients in turn', () => {
    const driver = createDriver({ policy: 'off' });
    for (const name of ['a1', 'a2', 'a3']) driver.add(name, { client: 'a', maxNewTokens: 1 });
    driver.add('b1', { client: 'b', maxNewTokens: 1 });
    const prefilled = driver.steps(4).map((step) => step.split(' ')[1]);
    expect(prefilled).toEqual(['a1', 'b1', 'a2', 'a3']);
  });
});

describe('off', () => {
  it('runs one sequence at a time, however many wait', () => {
    const driver = createDriver({ policy: 'off' });
    driver.add('a b', { maxNewTokens: 2 });
    expect(driver.steps(5)).toEqual([
      'prefill a 0+3 @0 last',
      'decode a',
      'prefill b 0+3 @0 last',
      'decode b',
      'nothing',
    ]);
  });

  it('never waits for company', () => {
    const driver = createDriver({ policy: 'off', batchWaitTimeoutMs: 1000 });
    driver.add('a');
    expect(driver.step()).toBe('prefill a 0+3 @0 last');
  });
});

describe('static', () => {
  it('starts a full batch at once', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 2, batchWaitTimeoutMs: 100 });
    driver.add('a');
    expect(driver.step()).toBe('nothing');
    driver.add('b');
    expect(driver.steps(3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
  });

  it('starts a partial batch once the oldest request has waited batchWaitTimeoutMs', () => {
    const driver = createDriver({ policy: 'static', batchWaitTimeoutMs: 100 });
    driver.nowMs = 10;
    driver.add('a');
    driver.nowMs = 60;
    driver.add('b');
    expect(driver.step()).toBe('nothing');
    expect(driver.scheduler.wakeAtMs).toBe(110);
    driver.nowMs = 109;
    expect(driver.step()).toBe('nothing');
    driver.nowMs = 110;
    expect(driver.steps(3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
  });

  it('waits for the next oldest when the oldest was aborted', () => {
    const driver = createDriver({ policy: 'static', batchWaitTimeoutMs: 100 });
    driver.add('a');
    driver.nowMs = 60;
    driver.add('b');
    driver.abort('a');
    expect(driver.scheduler.wakeAtMs).toBe(160);
  });

  it('takes what is there at once when batchWaitTimeoutMs is 0', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 8, batchWaitTimeoutMs: 0 });
    driver.add('a b c d e f g h i');
    driver.steps(8);
    expect(driver.step()).toBe('decode a b c d e f g h');
  });

  it('lets nobody join until the last member has ended', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 2 });
    driver.add('a', { maxNewTokens: 2 });
    driver.add('b', { maxNewTokens: 4 });
    driver.add('c', { maxNewTokens: 1 });
    expect(driver.steps(7)).toEqual([
      'prefill a 0+3 @0 last',
      'prefill b 0+3 @1 last',
      'decode a b',
      'decode b, 1→0',
      'decode b',
      'prefill c 0+3 @0 last',
      'nothing',
    ]);
  });

  it('lets nobody join a partial batch, not even while its prompts are prefilled', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 4 });
    driver.add('a b', { client: 'first', maxNewTokens: 2 });
    driver.step();
    driver.add('c', { client: 'second', maxNewTokens: 1 });
    expect(driver.steps(3)).toEqual(['prefill b 0+3 @1 last', 'decode a b', 'prefill c 0+3 @0 last']);
  });

  it('never splits a batch that is cut when maxBatchSize is lowered', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 3 });
    driver.add('a b c d', { maxNewTokens: 2 });
    driver.step();
    driver.configure({ maxBatchSize: 1 });
    driver.steps(2);
    expect(driver.steps(3)).toEqual(['decode a b c', 'prefill d 0+3 @0 last', 'decode d']);
  });

  it('moves reservations aside even when maxBatchSize is below what runs', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 3, maxBatchedTokens: 3 });
    driver.add('a', { maxNewTokens: 2 });
    driver.add('b c', { maxNewTokens: 3 });
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 last', 'decode a']);
    driver.configure({ maxBatchSize: 1 });
    expect(driver.steps(4)).toEqual([
      'prefill b 0+3 @0 last',
      'decode b',
      'prefill c 0+3 @1 last',
      'decode b c',
    ]);
  });
});

describe('continuous', () => {
  it('prefills newcomers between decode steps and decodes all together', () => {
    const driver = createDriver({ policy: 'continuous' });
    driver.add('a');
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 last', 'decode a']);
    driver.add('b');
    expect(driver.steps(2)).toEqual(['prefill b 0+3 @1 last', 'decode a b']);
  });

  it('gives the place of one that ends to the next in the queue', () => {
    const driver = createDriver({ maxBatchSize: 2 });
    driver.add('a', { maxNewTokens: 2 });
    driver.add('b c');
    expect(driver.steps(5)).toEqual([
      'prefill a 0+3 @0 last',
      'prefill b 0+3 @1 last',
      'decode a b',
      'prefill c 0+3 @0 last',
      'decode c b',
    ]);
  });

  it('waits batchWaitTimeoutMs for company only while it is idle', () => {
    const driver = createDriver({ batchWaitTimeoutMs: 100 });
    driver.add('a');
    expect(driver.step()).toBe('nothing');
    expect(driver.scheduler.wakeAtMs).toBe(100);
    driver.nowMs = 100;
    expect(driver.step()).toBe('prefill a 0+3 @0 last');
    driver.add('b');
    expect(driver.scheduler.wakeAtMs).toBeUndefined();
    expect(driver.step()).toBe('prefill b 0+3 @1 last');
  });

  it('cuts the wait short when maxBatchSize requests are there', () => {
    const driver = createDriver({ batchWaitTimeoutMs: 100, maxBatchSize: 2 });
    driver.add('a b');
    expect(driver.step()).toBe('prefill a 0+3 @0 last');
  });
});

describe('the prefill budget', () => {
  it('lets no more than maxBatchedTokens prompt tokens pass between two decode steps', () => {
    const driver = createDriver({ maxBatchedTokens: 4 });
    driver.add('a', { promptLength: 2, maxNewTokens: 9 });
    driver.steps(2);
    driver.add('b', { promptLength: 3 });
    driver.add('c', { promptLength: 6 });
    expect(driver.steps(7)).toEqual([
      'prefill b 0+3 @1 last',
      'prefill c 0+1 @2',
      'decode a b',
      'prefill c 1+4 @2',
      'decode a b',
      'prefill c 5+1 @2 last',
      'decode a b c',
    ]);
  });

  it('cuts a long prompt into chunks of maxBatchedTokens while nothing decodes', () => {
    const driver = createDriver({ maxBatchedTokens: 4 });
    driver.add('a', { promptLength: 10 });
    expect(driver.steps(4)).toEqual([
      'prefill a 0+4 @0',
      'prefill a 4+4 @0',
      'prefill a 8+2 @0 last',
      'decode a',
    ]);
  });

  it('is whole again when the last sequence that decoded has ended', () => {
    const driver = createDriver({ maxBatchedTokens: 4 });
    driver.add('a', { promptLength: 3, maxNewTokens: 9 });
    driver.steps(2);
    driver.add('b', { promptLength: 6 });
    expect(driver.step()).toBe('prefill b 0+4 @1');
    driver.abort('a');
    expect(driver.step()).toBe('prefill b 4+2 @0 last');
  });

  it('follows a change of maxBatchedTokens from the next decision on', () => {
    const driver = createDriver({ maxBatchedTokens: 4 });
    driver.add('a', { promptLength: 2, maxNewTokens: 9 });
    driver.steps(2);
    driver.add('b', { promptLength: 9 });
    expect(driver.step()).toBe('prefill b 0+4 @1');
    driver.configure({ maxBatchedTokens: 2 });
    expect(driver.steps(2)).toEqual(['decode a', 'prefill b 4+2 @1']);
    driver.configure({ maxBatchedTokens: 5 });
    expect(driver.step()).toBe('prefill b 6+3 @1 last');
  });
});

/** A text runs, then a prompt of 100 tokens arrives. */
function arriveLate(policy: Partial<BatchingPolicy>) {
  const driver = createDriver(policy, {}, timeOf);
  driver.add('a', { promptLength: 20, maxNewTokens: 99 });
  driver.steps(3);
  driver.add('b', { promptLength: 100, maxNewTokens: 9 });
  return driver;
}

describe('the prefill stall', () => {
  it('is about three decode steps unless the knob says otherwise, in whole chunks of 16 tokens', () => {
    expect(arriveLate({}).steps(6)).toEqual([
      'prefill b 0+16 @1',
      'decode a',
      'prefill b 16+16 @1',
      'decode a',
      'prefill b 32+16 @1',
      'decode a',
    ]);
  });

  it('is as long as the knob says, and at least 16 tokens', () => {
    expect(arriveLate({ prefillStallMs: 70 }).steps(3)).toEqual([
      'prefill b 0+64 @1',
      'decode a',
      'prefill b 64+36 @1 last',
    ]);
    expect(arriveLate({ prefillStallMs: 0 }).steps(2)).toEqual(['prefill b 0+16 @1', 'decode a']);
    expect(arriveLate({ prefillStallMs: Infinity }).step()).toBe('prefill b 0+100 @1 last');
  });

  it('has no limit while nothing decodes, and before both kinds of steps were measured', () => {
    const idle = arriveLate({ prefillStallMs: 'auto' });
    idle.abort('a');
    expect(idle.step()).toBe('prefill b 0+100 @0 last');
    const fresh = createDriver({ prefillStallMs: 'auto' }, {}, timeOf);
    fresh.add('a', { maxNewTokens: 9 });
    fresh.add('b', { promptLength: 100 });
    expect(fresh.steps(2)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+100 @1 last']);
  });

  it('counts several prompts together', () => {
    const driver = arriveLate({ prefillStallMs: 40 });
    driver.abort('b');
    for (const name of ['c', 'd', 'e', 'f']) driver.add(name, { promptLength: 20, maxNewTokens: 9 });
    expect(driver.steps(3)).toEqual(['prefill c 0+20 @1 last', 'prefill d 0+12 @2', 'decode a c']);
  });
});

describe('slots', () => {
  it('closes holes from the top before the next decode step', () => {
    const driver = createDriver();
    driver.add('a b c d e');
    driver.steps(5);
    driver.abort('a');
    driver.abort('c');
    expect(driver.step()).toBe('decode e b d, 4→0, 3→2');
  });

  it('fills a hole with a newcomer instead of a move', () => {
    const driver = createDriver();
    driver.add('a b c', { maxNewTokens: 9 });
    driver.steps(3);
    driver.abort('b');
    driver.add('d');
    expect(driver.steps(2)).toEqual(['prefill d 0+3 @1 last', 'decode a d c']);
  });

  it('lets a half prefilled prompt give way to the rows that decode, then take the first free slot', () => {
    const driver = createDriver({ maxBatchedTokens: 2 });
    driver.add('a b', { promptLength: 1, maxNewTokens: 9 });
    driver.steps(3);
    driver.abort('a');
    driver.add('c', { promptLength: 4 });
    expect(driver.steps(4)).toEqual([
      'prefill c 0+2 @0',
      'decode b, 1→0',
      'prefill c 2+2 @1 last',
      'decode b c',
    ]);
  });

  it('lets a half prefilled prompt take a lower slot that came free, without a move', () => {
    const driver = createDriver({ maxBatchedTokens: 2 });
    driver.add('a b', { promptLength: 1, maxNewTokens: 9 });
    driver.steps(3);
    driver.add('c', { promptLength: 4 });
    expect(driver.steps(2)).toEqual(['prefill c 0+2 @2', 'decode a b']);
    driver.abort('a');
    expect(driver.steps(2)).toEqual(['prefill c 2+2 @0 last', 'decode c b']);
  });
});

describe('abort', () => {
  it('removes a waiting request at once', () => {
    const driver = createDriver({ maxBatchSize: 1 });
    driver.add('a b c', { maxNewTokens: 1 });
    expect(driver.abort('b')).toBe(true);
    expect(driver.scheduler.numWaiting).toBe(2);
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 last', 'prefill c 0+3 @0 last']);
  });

  it('frees the slot of a running request at once, also between the chunks of its prompt', () => {
    const driver = createDriver({ maxBatchedTokens: 2 });
    driver.add('a b');
    driver.step();
    expect(driver.abort('a')).toBe(true);
    expect(driver.scheduler.numRunning).toBe(0);
    expect(driver.step()).toBe('prefill b 0+2 @0');
  });

  it('drops the row of a step that is under way, and lets its id be used again', () => {
    const { scheduler, add, abort, steps } = createDriver();
    add('a b');
    steps(2);
    const step = scheduler.schedule(0);
    abort('a');
    add('a');
    if (!step) throw new Error('unreachable');
    const progress = scheduler.update(step, outputOf([7, 8]), 0);
    expect(progress.map(({ sequence, sampled }) => [sequence.id, sampled])).toEqual([['b', 8]]);
    expect(steps(2)).toEqual(['prefill a 0+3 @0 last', 'decode a b']);
  });

  it('says so when there is no such request', () => {
    const driver = createDriver();
    driver.add('a', { maxNewTokens: 1 });
    driver.step();
    expect(driver.abort('a')).toBe(false);
    expect(driver.abort('b')).toBe(false);
  });

  it('ends everything with abortAll', () => {
    const { scheduler, add, step } = createDriver({ maxBatchSize: 1 });
    add('a b c');
    step();
    expect(scheduler.abortAll()).toEqual(['a', 'b', 'c']);
    expect([scheduler.numWaiting, scheduler.numRunning]).toEqual([0, 0]);
    expect(step()).toBe('nothing');
  });
});

describe('a change of policy', () => {
  it('to off lets what runs end before it admits the next', () => {
    const driver = createDriver({ policy: 'continuous' });
    driver.add('a b', { maxNewTokens: 2 });
    driver.steps(2);
    driver.configure({ policy: 'off' });
    driver.add('c d', { maxNewTokens: 2 });
    expect(driver.steps(4)).toEqual([
      'decode a b',
      'prefill c 0+3 @0 last',
      'decode c',
      'prefill d 0+3 @0 last',
    ]);
  });

  it('to continuous opens a static batch at once', () => {
    const driver = createDriver({ policy: 'static' });
    driver.add('a');
    driver.step();
    driver.add('b');
    expect(driver.step()).toBe('decode a');
    driver.configure({ policy: 'continuous' });
    expect(driver.step()).toBe('prefill b 0+3 @1 last');
  });

  it('to a lower maxBatchSize lets what runs end, and fills up to the new one only', () => {
    const driver = createDriver({ maxBatchSize: 3 });
    driver.add('a', { maxNewTokens: 3 });
    driver.add('b c', { maxNewTokens: 4 });
    driver.steps(3);
    driver.configure({ maxBatchSize: 2 });
    driver.add('d');
    expect(driver.steps(5)).toEqual([
      'decode a b c',
      'decode a b c',
      'decode c b, 2→0',
      'prefill d 0+3 @0 last',
      'decode d',
    ]);
  });

  it('to a higher maxBatchSize admits more at once', () => {
    const driver = createDriver({ maxBatchSize: 1 });
    driver.add('a b');
    driver.step();
    driver.configure({ maxBatchSize: 2 });
    expect(driver.step()).toBe('prefill b 0+3 @1 last');
  });
});

describe('rejects', () => {
  it('a request beyond maxQueuedRequests, and nothing that was accepted before', () => {
    const driver = createDriver({ maxQueuedRequests: 2 });
    driver.add('a b');
    expect(() => driver.add('c')).toThrow(BackPressureError);
    expect(driver.scheduler.numWaiting).toBe(2);
    expect(driver.steps(3)).toEqual(['prefill a 0+3 @0 last', 'prefill b 0+3 @1 last', 'decode a b']);
    driver.add('c');
  });

  it('for good what could not be admitted into an empty queue, and says which limit it passes', () => {
    const { scheduler } = createDriver({ maxQueuedRequests: 1000 });
    const requests = Array.from({ length: 1024 }, (_, index) => createRequest(`a${index}`));
    expect(() => scheduler.addAll(requests, 0)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/1024 sequences can never be admitted.*1000 \(maxQueuedRequests\)/),
      }),
    );
    scheduler.addAll(requests.slice(0, 1000), 0);
    expect(() => scheduler.addAll(requests.slice(1000), 0)).toThrow(BackPressureError);
  });

  it('nothing that a lost engine had accepted', () => {
    const { scheduler } = createDriver({ maxQueuedRequests: 1 });
    const requests = ['a', 'b', 'c'].map((name) => createRequest(name));
    scheduler.addAll(requests, 0, true);
    expect(scheduler.numWaiting).toBe(3);
    expect(() => scheduler.addAll([createRequest('d')], 0)).toThrow(BackPressureError);
  });

  it('several at once with the time until there are places for all of them', () => {
    const driver = createDriver({ policy: 'off', maxQueuedRequests: 4 });
    driver.add('x');
    while (driver.scheduler.numRunning + driver.scheduler.numWaiting > 0) {
      driver.step();
      driver.nowMs += 40;
    }
    driver.add('a b c');
    driver.step();
    const retryAfterMsOf = (names: readonly string[]): number => {
      try {
        driver.scheduler.addAll(
          names.map((name) => createRequest(name)),
          driver.nowMs,
        );
      } catch (error) {
        if (error instanceof BackPressureError) return error.retryAfterMs;
      }
      return 0;
    };
    expect(retryAfterMsOf(['d', 'e', 'f', 'g'])).toBeGreaterThan(retryAfterMsOf(['d', 'e', 'f']));
  });

  it('with the limit in force, and when a place is likely to be free', () => {
    const driver = createDriver({ policy: 'off', maxQueuedRequests: 50 });
    driver.add(Array.from({ length: 50 }, (_, index) => `a${index}`).join(' '), { maxNewTokens: 2 });
    for (let turn = 0; turn < 60; turn += 1) {
      driver.step();
      driver.nowMs += 40;
    }
    driver.step();
    driver.configure({ maxQueuedRequests: 19 });
    const details = { numQueuedRequests: 19, maxQueuedRequests: 19, retryAfterMs: 40 };
    expect(() => driver.add('late')).toThrow(expect.objectContaining({ code: 'BACK_PRESSURE', ...details }));
  });
});

describe('background requests', () => {
  const background = { isBackground: true, maxNewTokens: 9 };

  it('start behind every other one, and take no place of theirs in the queue', () => {
    const driver = createDriver({ policy: 'off', maxQueuedRequests: 2 });
    driver.add('j k l m', { client: 'jobs', isBackground: true, maxNewTokens: 1, priority: -100 });
    driver.add('a b', { priority: 100, maxNewTokens: 1 });
    expect(() => driver.add('c')).toThrow(BackPressureError);
    expect(driver.steps(6).map((step) => step.split(' ')[1])).toEqual(['a', 'b', 'j', 'k', 'l', 'm']);
  });

  it('use all slots, and give one up at once to a request that comes', () => {
    const driver = createDriver({ maxBatchSize: 2 });
    driver.add('j k', background);
    driver.steps(2);
    expect(driver.step()).toBe('decode j k');
    driver.add('a', { maxNewTokens: 2 });
    expect(driver.steps(3)).toEqual(['prefill a 0+3 @1 last', 'decode j a', 'prefill k 0+5 @1 last']);
    expect(driver.scheduler.numWaiting).toBe(0);
  });

  it('copy their K/V back from the row that they left', () => {
    const driver = createDriver({ maxBatchSize: 1, prefixCaching: true });
    driver.add('j', background);
    driver.steps(3);
    driver.add('a', { maxNewTokens: 1 });
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 last, 0⇒1', expect.stringMatching(/^decode j, /)]);
  });

  it('let others before the rest of a long prompt', () => {
    const driver = createDriver({ maxBatchedTokens: 4 });
    driver.add('j', { ...background, promptLength: 12 });
    expect(driver.step()).toBe('prefill j 0+4 @0');
    driver.add('a', { maxNewTokens: 1 });
    expect(driver.steps(2)).toEqual(['prefill a 0+3 @0 last', 'prefill j 0+4 @0']);
  });

  it('are kept waiting for the whole prompt of another one', () => {
    const driver = createDriver({ maxBatchedTokens: 64, prefillStallMs: 0 }, {}, timeOf);
    driver.add('j', background);
    driver.steps(3);
    driver.add('a', { promptLength: 40 });
    expect(driver.step()).toBe('prefill a 0+40 @1 last');
  });

  it('start together, since nobody reads them as they come: each place has a prompt before the next step', () => {
    const driver = createDriver({ maxBatchSize: 3, maxBatchedTokens: 8 }, {}, timeOf);
    driver.add('j k l m n o', { ...background, promptLength: 8, maxNewTokens: 2 });
    const kinds = driver.steps(8).map((step) => step.replaceAll(/ 0\+8 @\d last/g, ''));
    expect(kinds).toEqual([
      'prefill j',
      'prefill k',
      'prefill l',
      'decode j k l',
      'prefill m',
      'prefill n',
      'prefill o',
      'decode m n o',
    ]);
  });

  it('leave a batch of the others alone', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 2 });
    driver.add('j k', background);
    driver.steps(3);
    driver.add('a', { maxNewTokens: 1 });
    expect(driver.step()).toBe('prefill a 0+3 @0 last');
    driver.steps(2);
    driver.add('b');
    expect(driver.step()).toContain('prefill b');
  });

  it('delay no prompt of another one by more than the step in flight, whatever they are', () => {
    const anyRow = fc.record({
      promptLength: fc.integer({ min: 1, max: 200 }),
      maxNewTokens: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(
        fc.array(anyRow, { minLength: 1, maxLength: 12 }),
        fc.record({
          maxBatchSize: fc.integer({ min: 1, max: 8 }),
          maxBatchedTokens: fc.integer({ min: 16, max: 256 }),
          prefixCaching: fc.boolean(),
        }),
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 200 }),
        (rows, knobs, numSteps, promptLength) => {
          const driver = createDriver(knobs, { contextLength: 512 }, timeOf);
          for (const [index, row] of rows.entries()) driver.add(`j${index}`, { isBackground: true, ...row });
          driver.steps(numSteps);
          const arrivedAtMs = driver.nowMs;
          driver.add('a', { promptLength });
          while (!driver.step().match(/prefill a .*last/))
            expect(driver.nowMs - arrivedAtMs).toBeLessThan(promptLength);
          // Alone, its prompt takes as long.
          expect(driver.nowMs - arrivedAtMs).toBe(promptLength);
        },
      ),
    );
  });
});
