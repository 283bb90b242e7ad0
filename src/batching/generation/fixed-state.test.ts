import { describe, expect, it } from 'vitest';
import type { BatchingPolicy } from './policy.ts';
import { HashedTokens } from './hashed-tokens.ts';
import type { SchedulerOptions } from './scheduler.ts';
import { Snapshots } from './snapshots.ts';
import {
  createEngine,
  createKvCacheLimits,
  createRequest,
  createScheduler,
  outputOf,
  describeStep,
  requestId,
  settle,
  type RequestOverrides,
} from './test-support.ts';

// Rows with state of a fixed size: short convolutions and linear attention. It can't be cut back to an earlier token, so other texts go on
// from a row's last token, or from a snapshot.

const kvCacheLimits = createKvCacheLimits({ bytesPerRow: 100 });

/** A scheduler whose device answers 9 to everything. */
function createDriver(policy: Partial<BatchingPolicy> = {}, options: Partial<SchedulerOptions> = {}) {
  const scheduler = createScheduler({ prefixCaching: true, ...policy }, { kvCacheLimits, ...options });
  const step = (): string => {
    const next = scheduler.schedule(0);
    const isSilent = next?.kind === 'prefill' && !next.isLastChunk;
    if (next) scheduler.update(next, outputOf(next.rows.flatMap(() => (isSilent ? [] : [9]))), 0);
    return describeStep(next);
  };
  return {
    scheduler,
    step,
    add: (name: string, request: RequestOverrides): void =>
      scheduler.addAll([createRequest(name, request)], 0),
    finish: (): void => {
      while (step() !== 'nothing');
    },
  };
}

const counted = (length: number): number[] => Array.from({ length }, (_, index) => 100 + index);
const PROMPT = counted(40);
/** A row has read all of a text but its last token. */
const READ = [...PROMPT, 9, 9];

describe('a row with fixed state', () => {
  it('is gone on with from its last token, by the next turn of a chat', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 3 });
    driver.finish();
    driver.add('b', { promptTokenIds: [...READ, 9, 500], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill b 42+2 @0 of 0 last');
  });

  it.each([
    ['the same prompt', PROMPT],
    ['a text that it has read to its last token, from which the next one is sampled', READ],
  ])('is computed anew for %s', (_, promptTokenIds) => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 3 });
    driver.finish();
    driver.add('b', { promptTokenIds, maxNewTokens: 2 });
    expect(driver.step()).toMatch(/^prefill b 0\+4\d @\d last/);
  });

  it.each([
    [
      'is a prefix with the token that the step in flight has read',
      [...PROMPT, 9, 501, 502],
      'prefill b 41+2 @0 of 0 last',
    ],
    ['is no prefix without that token', [...PROMPT, 500, 501], 'prefill b 0+40 @0 to s0'],
  ])('%s', (_, promptTokenIds, expected) => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 20 });
    driver.step();
    const step = driver.scheduler.schedule(0);
    driver.scheduler.abort(requestId('a'));
    if (step) driver.scheduler.update(step, outputOf([9]), 0);
    driver.add('b', { promptTokenIds, maxNewTokens: 2 });
    expect(driver.step()).toBe(expected);
  });

  it.each([
    [
      'is a prefix with the end token, which the step behind its last one has read',
      9,
      'prefill c 42+2 @0 of 0 last',
    ],
    ['is no prefix with another token in place of it', 500, 'prefill c 0+41 @0 to s0'],
  ])('%s', (_, tokenId, expected) => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 20, stopTokenIds: [9] });
    driver.add('b', { promptLength: 2, maxNewTokens: 20 });
    for (const first of [8, 8]) {
      const prefill = driver.scheduler.schedule(0);
      if (prefill) driver.scheduler.update(prefill, outputOf([first]), 0);
    }
    const step = driver.scheduler.schedule(0);
    const behind =
      step && driver.scheduler.scheduleBehind(step, { numInFlight: 1, accepted: Promise.resolve() }, 0);
    expect(describeStep(behind)).toBe('decode a b, behind');
    if (step) driver.scheduler.update(step, outputOf([9, 8]), 0);
    if (behind) driver.scheduler.update(behind, outputOf([7, 8]), 0);
    driver.add('c', { promptTokenIds: [...PROMPT, 8, tokenId, 501, 502], maxNewTokens: 2 });
    expect(driver.step()).toBe(expected);
  });

  it('is no prefix with what two steps in flight have read of a text that was cancelled', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 20 });
    driver.step();
    const step = driver.scheduler.schedule(0);
    const behind =
      step && driver.scheduler.scheduleBehind(step, { numInFlight: 1, accepted: Promise.resolve() }, 0);
    expect(describeStep(behind)).toBe('decode a, behind');
    driver.scheduler.abort(requestId('a'));
    for (const each of [step, behind]) if (each) driver.scheduler.update(each, outputOf([9]), 0);
    driver.add('b', { promptTokenIds: [...PROMPT, 9, 9, 500], maxNewTokens: 2 });
    expect(driver.step()).toBe('prefill b 0+41 @0 to s0');
  });

  it('shares a prefill with prompts of its own length alone, since padding would move it on', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 3 }, { maxPrefillRows: 4 });
    driver.add('a', { promptLength: 8 });
    driver.add('b', { promptLength: 7 });
    driver.add('c', { promptLength: 8 });
    expect([driver.step(), driver.step()]).toEqual([
      'prefill a 0+8 @0 & c 0+8 @2 last',
      'prefill b 0+7 @1 last',
    ]);
  });

  it('shares a prefill with its like, whose state it could not go on with', () => {
    const driver = createDriver({ policy: 'static', maxBatchSize: 2 }, { maxPrefillRows: 4 });
    driver.add('a', { promptTokenIds: PROMPT });
    driver.add('b', { promptTokenIds: PROMPT });
    expect(driver.step()).toBe('prefill a 0+40 @0 & b 0+40 @1 last');
  });

  it('is counted beside its tokens, for each slot and each staging row', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 3 });
    driver.step();
    const { usedBytes, reservedBytes } = driver.scheduler.kvUsage;
    // Four slots and a staging row of 48 tokens, and four snapshots.
    expect([usedBytes, reservedBytes]).toEqual([100 + 40, 5 * (100 + 48) + 4 * 100]);
    driver.scheduler.configure({ ...driver.scheduler.policy, kvCacheMemoryBytes: 2 * (100 + 48) - 1 });
    expect(() => driver.add('b', { promptTokenIds: PROMPT })).toThrow(
      expect.objectContaining({ code: 'KV_BUDGET' }),
    );
  });

  it('takes forced tokens in one pass behind its last one', async () => {
    const forced = [[11, 12, 13], [12, 13], [13], []];
    const { engine, runner, submit } = createEngine({ runner: { kvCacheLimits } });
    let numAccepted = 0;
    const accept = (): boolean => {
      numAccepted += 1;
      return false;
    };
    submit('a', { maxNewTokens: 6, constraint: { accept, forced: () => forced[numAccepted - 1] ?? [] } });
    await settle();
    expect(runner.violations).toEqual([]);
    expect(runner.steps.map(describeStep)[1]).toBe('prefill a 3+4 @0 of 0 last');
    expect(engine.numRunning).toBe(0);
  });
});

describe('a snapshot of fixed state', () => {
  const SYSTEM = counted(40);
  /** A prompt of 60 tokens. */
  const asked = (question: number): number[] => [...SYSTEM, ...Array.from({ length: 20 }, () => question)];

  it('is taken shortly before the end of a prompt, from where the same prompt goes on', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: asked(1), maxNewTokens: 3 });
    expect([driver.step(), driver.step()]).toEqual(['prefill a 0+44 @0 to s0', 'prefill a 44+16 @0 last']);
    driver.add('b', { promptTokenIds: asked(1), maxNewTokens: 3 });
    expect(driver.step()).toBe('prefill b 44+16 @1 of 0 from s0 last');
  });

  it('serves the next turn of a chat where the template has dropped tokens of the last one', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: asked(1), maxNewTokens: 3 });
    driver.finish();
    driver.add('b', {
      promptTokenIds: [...asked(1).slice(0, -2), 9, ...asked(2).slice(40)],
      maxNewTokens: 2,
    });
    expect(driver.step()).toMatch(/^prefill b 44\+35 @0 of 0 from s0 last/);
  });

  it('lets rows that come together read what they share once', () => {
    const driver = createDriver({}, { contextLength: 128 });
    for (const name of ['a', 'b', 'c', 'd']) driver.add(name, { promptTokenIds: asked(name.charCodeAt(0)) });
    const prefills = Array.from({ length: 12 }, driver.step).filter((step) => step.startsWith('prefill'));
    expect(prefills).toEqual([
      'prefill a 0+40 @0 to s0',
      'prefill a 40+20 @0 last',
      'prefill b 40+20 @1 of 0 from s0 last',
      'prefill c 40+20 @2 of 0 from s0 last',
      'prefill d 40+20 @3 of 0 from s0 last',
    ]);
  });

  it('is taken of the background only where texts branch off', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: asked(1), isBackground: true });
    expect(driver.step()).toBe('prefill a 0+60 @0 last');
    driver.add('b', { promptTokenIds: asked(2), isBackground: true });
    expect(driver.step()).toBe('prefill b 0+40 @1 to s0');
  });

  it.each([
    ['without prefixes', { prefixCaching: false }],
    // The rows of 64 tokens that it needs itself, and a byte less than a snapshot.
    ['without memory', { kvCacheMemoryBytes: 2 * (100 + 64) + 99 }],
  ])('is not taken %s', (_, policy) => {
    const driver = createDriver(policy);
    driver.add('a', { promptTokenIds: asked(1) });
    expect(driver.step()).toBe('prefill a 0+60 @0 last');
  });

  it('is given up before the memory of rows, and forgotten', () => {
    const driver = createDriver({ kvCacheMemoryBytes: 3 * (100 + 64) + 99 });
    driver.add('a', { promptTokenIds: asked(1), maxNewTokens: 3 });
    expect(driver.step()).toBe('prefill a 0+60 @0 last');
    driver.finish();
    const { scheduler } = driver;
    scheduler.configure({ ...scheduler.policy, kvCacheMemoryBytes: 3 * (100 + 64) + 100 });
    driver.add('b', { promptTokenIds: asked(2), maxNewTokens: 3 });
    expect(driver.step()).toBe('prefill b 0+40 @0 to s0');
    scheduler.configure({ ...scheduler.policy, kvCacheMemoryBytes: 3 * (100 + 64) + 99 });
    driver.finish();
    driver.add('c', { promptTokenIds: asked(3), maxNewTokens: 3 });
    expect(driver.step()).toMatch(/^prefill c 0\+60/);
    expect(scheduler.kvUsage.reservedBytes).toBe(3 * (100 + 64));
  });

  it('that was used last stays, where there are more than places', () => {
    const snapshots = new Snapshots();
    const texts = [1, 2, 3].map((question) => new HashedTokens(asked(question)));
    const [first, second, third] = texts.map((text) => () => snapshots.take(text, 50, 2));
    expect([first?.(), second?.()]).toEqual([0, 1]);
    snapshots.use(0);
    expect(third?.()).toBe(1);
    expect(texts.map((text) => snapshots.longest(text, 60)?.snapshot)).toEqual([0, undefined, 1]);
    expect(texts.map((text) => snapshots.longest(text, 49))).toEqual([undefined, undefined, undefined]);
  });
});
