import { describe, expect, it } from 'vitest';
import type { BatchRecord, StepRecord } from './stats.ts';
import { createBatch } from '../worker/test-support.ts';
import { BatchLog, stepBatchOf } from './batch-log.ts';

const indicesOf = (records: readonly BatchRecord[]): number[] => records.map(({ batchIndex }) => batchIndex);

describe('BatchLog', () => {
  it('keeps the last 200 batches of each deployment, oldest first', () => {
    const log = new BatchLog();
    log.add(createBatch('house-price', 0));
    for (let index = 0; index < 201; index++) log.add(createBatch('adder', index));
    expect(indicesOf(log.of('adder'))).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(indicesOf(log.of('house-price'))).toEqual([0]);
    expect(log.of('shout')).toEqual([]);
    expect(log.all).toEqual([...log.of('house-price'), ...log.of('adder')]);
  });

  it('hands out lists that what comes later does not change', () => {
    const log = new BatchLog();
    log.add(createBatch('adder', 0));
    const [own, all] = [log.of('adder'), log.all];
    log.add(createBatch('adder', 1));
    expect([own, all].map(indicesOf)).toEqual([[0], [0]]);
  });
});

const STEP: StepRecord = {
  stepIndex: 7,
  kind: 'decode',
  reason: 'full',
  isBehind: true,
  batchSize: 2,
  numTokens: 2,
  queueLength: 3,
  waitMs: 4,
  stepMs: 50,
  runMs: 10,
  readbackMs: 35,
  numGuessedTokens: 0,
  numRightGuesses: 0,
  agoMs: 60,
  outcome: 'ok',
  slots: [0, 1],
};

it('keeps a step as a batch: size, kind, reason, wait and execution', () => {
  expect(stepBatchOf(STEP)).toEqual({
    deployment: 'text-generator',
    batchIndex: 7,
    kind: 'decode',
    reason: 'full',
    batchSize: 2,
    numTokens: 2,
    queueLength: 3,
    waitMs: 4,
    executionMs: 50,
    outcome: 'ok',
  });
});
