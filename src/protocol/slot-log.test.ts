import { describe, expect, it } from 'vitest';

import { RequestCancelledError } from '../batching/base/errors.ts';
import type { RequestEvent, StepEvent } from '../batching/generation/events.ts';
import type { KvSlot } from '../batching/generation/kv-slots.ts';
import type { RequestId } from './ids.ts';
import { sequenceIdOf } from './sequence-id.ts';
import { SlotLog } from './slot-log.ts';

const STEP_MS = 10;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
const id = (name: string) => name as RequestId;

/** Step i runs from 10 i to 10 i + 10 ms; `rows` says which sequence is in which slot. */
function createStep(
  stepIndex: number,
  rows: Readonly<Record<string, number>>,
  requests: readonly RequestEvent[] = [],
): StepEvent {
  const entries = Object.entries(rows);
  return {
    stepIndex,
    kind: 'decode',
    reason: 'idle',
    isBehind: false,
    batchSize: entries.length,
    numTokens: entries.length,
    numGuessedTokens: 0,
    numRightGuesses: 0,
    queueLength: 0,
    stepMs: STEP_MS,
    runMs: 8,
    readbackMs: 1,
    endedAtMs: (stepIndex + 1) * STEP_MS,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
    rows: entries.map(([name, slot]) => ({ requestId: id(name), slot: slot as KvSlot })),
    requests,
  };
}

const started = (name: string, queueWaitMs = 0): RequestEvent => ({
  type: 'started',
  requestId: id(name),
  queueWaitMs,
  numPrefillTokens: 3,
  numReusedTokens: 0,
});
const token = (name: string): RequestEvent => ({ type: 'token', requestId: id(name), tokenId: 1, itlMs: 10 });
const finished = (name: string): RequestEvent => ({
  type: 'finished',
  requestId: id(name),
  finishReason: 'length',
  tokenIds: [1],
  numPromptTokens: 1,
  numOutputTokens: 1,
  timings: { queueWaitMs: 0, ttftMs: 10, e2eMs: 20, tpotMs: 10 },
});

describe('SlotLog', () => {
  it('follows a sequence from its first step over its first token to its end', () => {
    const log = new SlotLog();
    log.recordStep(createStep(0, { a: 2 }, [started('a', 7)]));
    log.recordStep(createStep(1, { a: 2 }, [token('a')]));
    expect(log.take(25)).toEqual([
      {
        requestId: 'a',
        index: 0,
        slot: 2,
        spanIndex: 0,
        queueWaitMs: 7,
        startedAgoMs: 25,
        firstTokenAgoMs: 5,
        numTokens: 1,
        firstStepIndex: 0,
        lastStepIndex: 1,
      },
    ]);
    log.recordStep(createStep(2, { a: 2 }, [token('a'), finished('a')]));
    expect(log.take(30)).toMatchObject([{ end: 'length', endedAgoMs: 0, numTokens: 2, lastStepIndex: 2 }]);
    expect(log.take(40), 'what has ended is told once').toEqual([]);
  });

  it('ends a span when the sequence is moved, and begins the next one', () => {
    const log = new SlotLog();
    const second = sequenceIdOf(id('a'), 1);
    log.recordStep(createStep(0, { [second]: 3 }, [started(second), token(second)]));
    log.recordStep(createStep(1, { [second]: 0 }, [token(second)]));
    expect(log.take(20)).toMatchObject([
      { requestId: 'a', index: 1, slot: 3, spanIndex: 0, end: 'moved', endedAgoMs: 10, lastStepIndex: 0 },
      { requestId: 'a', index: 1, slot: 0, spanIndex: 1, startedAgoMs: 10, firstStepIndex: 1 },
    ]);
  });

  it('makes no span of a row whose sequence ended while its step was in flight', () => {
    const log = new SlotLog();
    log.recordStep(createStep(0, { a: 0 }, [started('a'), token('a')]));
    const error = RequestCancelledError.because(undefined);
    log.recordEnd({ type: 'failed', requestId: id('a'), finishReason: 'abort', error }, 12);
    log.recordStep(createStep(1, { a: 0 }));
    expect(log.take(20)).toMatchObject([{ end: 'abort', endedAgoMs: 8, numTokens: 1 }]);
    expect(log.take(20)).toEqual([]);
  });

  it('has nothing to say of a sequence that ends while it waits', () => {
    const log = new SlotLog();
    const error = RequestCancelledError.because(undefined);
    log.recordEnd({ type: 'failed', requestId: id('a'), finishReason: 'abort', error }, 5);
    expect(log.take(10)).toEqual([]);
  });
});
