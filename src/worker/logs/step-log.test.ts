import { describe, expect, it } from 'vitest';
import type { StepRecord } from '../protocol/stats.ts';
import { StepLog } from './step-log.ts';

function createRecord(stepIndex: number): StepRecord {
  return {
    stepIndex,
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
    agoMs: 60,
    outcome: 'ok',
    slots: [0, 1],
  };
}

describe('StepLog', () => {
  it('keeps steps as batches: size, kind, reason, wait and execution', () => {
    const log = new StepLog();
    log.addRecords([createRecord(7)]);
    expect(log.all).toEqual([
      {
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
      },
    ]);
  });

  it('keeps the last 200, oldest first, in lists that what comes later does not change', () => {
    const log = new StepLog();
    log.addRecords(Array.from({ length: 150 }, (_, index) => createRecord(index)));
    const early = log.all;
    log.addRecords(Array.from({ length: 100 }, (_, index) => createRecord(150 + index)));
    expect([early.length, log.all.length]).toEqual([150, 200]);
    expect([log.all[0]?.batchIndex, log.all.at(-1)?.batchIndex]).toEqual([50, 249]);
  });
});
