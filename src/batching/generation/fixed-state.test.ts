import { describe, expect, it } from 'vitest';
import type { BatchingPolicy } from './policy.ts';
import type { SchedulerOptions } from './scheduler.ts';
import {
  createEngine,
  createKvCacheLimits,
  createRequest,
  createScheduler,
  describeStep,
  requestId,
  settle,
  type RequestOverrides,
} from './test-support.ts';

// Rows with state of a fixed size: short convolutions and linear attention. It can't be cut back to an earlier token.

const kvCacheLimits = createKvCacheLimits({ bytesPerRow: 100 });

/** A scheduler whose device answers 9 to everything. */
function createDriver(policy: Partial<BatchingPolicy> = {}, options: Partial<SchedulerOptions> = {}) {
  const scheduler = createScheduler({ prefixCaching: true, ...policy }, { kvCacheLimits, ...options });
  const step = (): string => {
    const next = scheduler.schedule(0);
    const isSilent = next?.kind === 'prefill' && !next.isLastChunk;
    if (next)
      scheduler.update(
        next,
        { tokenIds: next.rows.flatMap(() => (isSilent ? [] : [9])), runMs: 0, readbackMs: 0 },
        0,
      );
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

const answer = (tokenIds: number[]) => ({ tokenIds, runMs: 0, readbackMs: 0 });

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
    ['a text that branches off before its end', [...PROMPT, 9, 500]],
    ['a text that it has read to its last token, from which the next one is sampled', READ],
  ])('is computed anew for %s', (_, promptTokenIds) => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 3 });
    driver.finish();
    driver.add('b', { promptTokenIds, maxNewTokens: 2 });
    expect(driver.step()).toMatch(/^prefill b 0\+4\d @\d last/);
  });

  it('is not a prefix once the step in flight has moved it on', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 20 });
    driver.step();
    const step = driver.scheduler.schedule(0);
    driver.scheduler.abort(requestId('a'));
    if (step) driver.scheduler.update(step, { tokenIds: [9], runMs: 0, readbackMs: 0 }, 0);
    driver.add('b', { promptTokenIds: [...PROMPT, 500, 501], maxNewTokens: 2 });
    expect(driver.step()).toMatch(/^prefill b 0\+42/);
  });

  it('is not a prefix where the step behind its last one has read a token that was dropped', () => {
    const driver = createDriver();
    driver.add('a', { promptTokenIds: PROMPT, maxNewTokens: 20, stopTokenIds: [9] });
    driver.add('b', { promptLength: 2, maxNewTokens: 20 });
    for (const first of [8, 8]) {
      const prefill = driver.scheduler.schedule(0);
      if (prefill) driver.scheduler.update(prefill, answer([first]), 0);
    }
    const step = driver.scheduler.schedule(0);
    const behind = step && driver.scheduler.scheduleBehind(step, Promise.resolve(), 0);
    expect(describeStep(behind)).toBe('decode a b, behind');
    if (step) driver.scheduler.update(step, answer([9, 8]), 0);
    if (behind) driver.scheduler.update(behind, answer([7, 8]), 0);
    driver.add('c', { promptTokenIds: [...PROMPT, 8, 500], maxNewTokens: 2 });
    expect(driver.step()).toMatch(/^prefill c 0\+42/);
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
    // Four slots and a staging row of 48 tokens.
    expect([usedBytes, reservedBytes]).toEqual([100 + 40, 5 * (100 + 48)]);
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
