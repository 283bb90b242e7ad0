import { beforeEach, describe, expect, it } from 'vitest';

import type { SlotSpan, StepRecord } from '../../client/index.ts';
import { describeBar } from '../panels/slots/describe-bar.ts';
import { SlotHistory } from './slot-history.ts';
import {
  createReport,
  createRequest,
  createSlotSpan,
  createStats,
  createStepRecord,
  idOf,
} from '../testing/test-support.ts';

function createSpan(change: Partial<SlotSpan> = {}): SlotSpan {
  return createSlotSpan({ slot: 1, queueWaitMs: 5, firstStepIndex: 3, lastStepIndex: 4, ...change });
}

function createStep(stepIndex: number, slots: readonly number[], agoMs = 10): StepRecord {
  return createStepRecord({ stepIndex, slots, batchSize: slots.length, agoMs });
}

describe('the history of slots', () => {
  let history: SlotHistory;

  beforeEach(() => {
    history = new SlotHistory();
  });

  it('follows a bar from message to message', () => {
    history.record(...createReport({ slotSpans: [createSpan()] }, 1000));
    expect(history.numLive).toBe(1);
    const ended = { firstTokenAgoMs: 195, endedAgoMs: 35, end: 'stop', numTokens: 7 } as const;
    history.record(...createReport({ slotSpans: [createSpan({ startedAgoMs: 200, ...ended })] }, 1100));
    expect([...history.bars]).toMatchObject([
      { startedAtMs: 900, firstTokenAtMs: 905, endedAtMs: 1065, end: 'stop', numTokens: 7 },
    ]);
    expect(history.numLive).toBe(0);
    expect(history.lastEndedAtMs).toBe(1065);
  });

  it('keeps the distances of the worker’s clock, however late a message is read', () => {
    const endsMs = (): readonly number[] => history.steps.map(({ endedAtMs }) => endedAtMs);
    const readLate = (sentAtMs: number, lateMs: number, stepIndex: number): void => {
      const steps = [createStep(stepIndex, [1])];
      history.record(createStats({ sentAtMs, steps, slotSpans: [createSpan()] }), 5000 + sentAtMs + lateMs);
    };
    readLate(100, 40, 3);
    readLate(120, 200, 4);
    readLate(160, 0, 5);
    expect(endsMs()).toEqual([5130, 5150, 5190]);
    // The next run is placed by the message that was read soonest.
    history.adjustClock();
    readLate(200, 90, 6);
    expect(endsMs().at(-1)).toBe(5190);
  });

  it('measures a decode of 38 tokens in full, though the message of its first token came 180 ms late', () => {
    // On the worker: started at 0, first token at 10, the end at 200 ms; messages at 15 and 205 ms, both read at 205.
    const running = createSpan({ startedAgoMs: 15, firstTokenAgoMs: 5, numTokens: 1 });
    history.record(createStats({ sentAtMs: 15, slotSpans: [running] }), 205);
    const over = { startedAgoMs: 205, firstTokenAgoMs: 195, endedAgoMs: 5, end: 'length' } as const;
    history.record(createStats({ sentAtMs: 205, slotSpans: [createSpan({ ...over, numTokens: 38 })] }), 205);
    const [bar] = history.bars;
    expect(bar && describeBar(bar, [])).toContain('prefill 10.0 ms · decode 190 ms · 38 tokens');
  });

  it('keeps the lane of a sequence that was moved', () => {
    history.record(...createReport({ slotSpans: [createSpan()] }, 1000));
    const moved = createSpan({ startedAgoMs: 280, endedAgoMs: 140, end: 'moved' });
    const next = createSpan({ slot: 0, spanIndex: 1, startedAgoMs: 140, endedAgoMs: 90, end: 'stop' });
    history.record(...createReport({ slotSpans: [moved, next] }, 1180));
    expect(history.bars).toMatchObject([
      { startedAtMs: 900, endedAtMs: 1040, lane: 1 },
      { startedAtMs: 1040, endedAtMs: 1090, lane: 1 },
    ]);
  });

  it('takes a request that is not reported yet for one that goes on', () => {
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record(...createReport({ slotSpans: [createSpan()] }, 1000));
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record(...createReport({ slotSpans: [createSpan({ endedAgoMs: 20, end: 'stop' })] }, 1100));
    expect(history.isOver(idOf('a'))).toBe(true);
  });

  it('ends the bars of a lost worker with its last message, and leaves a gap until the next one’s first step', () => {
    const spans = ['a', 'b'].map((name, slot) => createSpan({ requestId: idOf(name), slot }));
    history.record(createStats({ workerStartedAtMs: 1, sentAtMs: 400, slotSpans: spans }), 1000);
    // The end of this text came, and the worker ended before it reported the slot.
    history.nameOwners(new Map([[idOf('b'), createRequest('b')]]));
    history.loseWorker();
    expect(history.numLive).toBe(0);
    const again = createSpan({ slot: 0, startedAgoMs: 50, lastStepIndex: 3 });
    const steps = [createStepRecord({ stepIndex: 3, agoMs: 20, stepMs: 30, slots: [0] })];
    history.record(createStats({ workerStartedAtMs: 2, sentAtMs: 900, steps, slotSpans: [again] }), 5000);
    expect(history.bars).toMatchObject([
      { requestId: 'a', end: 'lost', endedAtMs: 1000 },
      { requestId: 'b', endedAtMs: 1000 },
      { requestId: 'a', slot: 0, startedAtMs: 4950 },
    ]);
    expect(history.bars[1]).not.toHaveProperty('end');
    expect(history.gaps).toEqual([{ startedAtMs: 1000, endedAtMs: 4950 }]);
  });

  it('notices another worker by its clock', () => {
    history.record(createStats({ workerStartedAtMs: 1, slotSpans: [createSpan()] }), 1000);
    history.record(createStats({ workerStartedAtMs: 2, slotSpans: [] }), 2000);
    expect(history.bars).toMatchObject([{ end: 'lost', endedAtMs: 1000 }]);
    expect(history.gaps).toEqual([{ startedAtMs: 1000 }]);
  });

  it.each([
    ['after a message without it', [[]]],
    ['at another step', []],
  ] as const)('begins another bar for a request that is resubmitted, reported %s', (_, between) => {
    history.record(...createReport({ slotSpans: [createSpan()] }, 1000));
    for (const slotSpans of between) history.record(...createReport({ slotSpans }, 1200));
    const again = createSpan({ slot: 0, lastStepIndex: 3, startedAgoMs: 50 });
    history.record(...createReport({ slotSpans: [again] }, 5000));
    const later = { ...again, lastStepIndex: 9, startedAgoMs: 150 };
    history.record(...createReport({ slotSpans: [later] }, 5100));
    expect([...history.bars]).toMatchObject([
      { slot: 1, startedAtMs: 900, end: 'lost', endedAtMs: 1000 },
      { slot: 0, startedAtMs: 4950, lastStepIndex: 9 },
    ]);
    expect([...history.bars]).toHaveLength(2);
    expect(history.numLive).toBe(1);
    expect(history.isOver(idOf('a'))).toBe(false);
  });

  it('keeps to the lanes of its slots where all requests are resubmitted after a lost worker', () => {
    const slotSpans = ['a', 'b', 'c'].map((name, slot) => createSpan({ requestId: idOf(name), slot }));
    history.record(...createReport({ slotSpans }, 1000));
    const again = slotSpans
      .toReversed()
      .map((slotSpan, slot) => ({ ...slotSpan, slot, startedAgoMs: 30, lastStepIndex: 3 }));
    for (const receivedAtMs of [5000, 5000.5])
      history.record(...createReport({ slotSpans: again }, receivedAtMs));
    expect(history.bars.map(({ requestId, lane }) => `${requestId} ${lane}`)).toEqual([
      'a 0',
      'b 1',
      'c 2',
      'c 0',
      'b 1',
      'a 2',
    ]);
    const next = createSpan({ requestId: idOf('d'), slot: 1 });
    history.record(...createReport({ slotSpans: [...again, next] }, 5100));
    expect(history.bars.at(-1)).toMatchObject({ requestId: 'd', lane: 3 });
  });

  it('begins another bar for a span of the same name as one that ended', () => {
    history.record(...createReport({ slotSpans: [createSpan({ end: 'moved', endedAgoMs: 0 })] }, 1000));
    history.record(...createReport({ slotSpans: [createSpan()] }, 5000));
    expect([...history.bars]).toMatchObject([{ end: 'moved', endedAtMs: 1000 }, { startedAtMs: 4900 }]);
  });

  it('takes a request for over once all its bars have ended, and not before any is reported', () => {
    expect(history.isOver(idOf('a'))).toBe(false);
    const second = createSpan({ index: 1, slot: 2 });
    history.record(
      ...createReport({ slotSpans: [createSpan({ endedAgoMs: 0, end: 'stop' }), second] }, 1000),
    );
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record(...createReport({ slotSpans: [{ ...second, endedAgoMs: 0, end: 'stop' }] }, 1100));
    expect(history.isOver(idOf('a'))).toBe(true);
  });

  it('names the owner of a bar once its request is known', () => {
    history.record(
      ...createReport({ slotSpans: [createSpan(), createSpan({ requestId: idOf('b') })] }, 1000),
    );
    history.nameOwners(new Map([[idOf('a'), createRequest('a', { ordinal: 3 })]]));
    history.nameOwners(new Map([[idOf('b'), createRequest('b', { sender: 'HTTP' })]]));
    expect([...history.bars].map(({ owner }) => owner)).toEqual([
      { sender: undefined, ordinal: 3, prompt: 'a:' },
      { sender: 'HTTP', ordinal: undefined, prompt: 'b:' },
    ]);
  });

  it('finds the steps of a request in all its spans, and none of its neighbors', () => {
    const rows = [[1], [0, 1], [0], [0, 1]];
    const steps = rows.map((slots, place) => createStep(2 + place, slots, 40 - 10 * place));
    const moved = createSpan({
      slot: 0,
      spanIndex: 1,
      firstStepIndex: 5,
      lastStepIndex: 5,
      startedAgoMs: 20,
    });
    history.record(
      ...createReport({ steps, slotSpans: [createSpan({ end: 'moved', endedAgoMs: 20 }), moved] }, 1000),
    );
    expect(history.stepsOf(idOf('a'))).toMatchObject([
      { stepIndex: 3, slots: [0, 1], ownSlots: [1] },
      { stepIndex: 5, slots: [0, 1], ownSlots: [0] },
    ]);
  });

  it('gives each step of a resubmitted request a serial index of its own, though two have one index', () => {
    for (const receivedAtMs of [1000, 90_000]) {
      const steps = [createStep(3, [1]), createStep(4, [1], 0)];
      const slotSpans = [createSpan({ end: 'error', endedAgoMs: 0 })];
      history.record(...createReport({ steps, slotSpans }, receivedAtMs));
    }
    const steps = history.stepsOf(idOf('a'));
    expect(steps.map(({ stepIndex }) => stepIndex)).toEqual([3, 4, 3, 4]);
    expect(new Set(steps.map(({ serialIndex }) => serialIndex)).size).toBe(4);
  });

  it('separates steps of another worker, though they count from 0 again', () => {
    const steps = [createStep(3, [1])];
    const slotSpans = [createSpan({ end: 'stop', endedAgoMs: 0 })];
    history.record(...createReport({ steps, slotSpans }, 1000));
    history.record(...createReport({ steps }, 90_000));
    expect(history.stepsOf(idOf('a'))).toHaveLength(1);
  });

  it('lists requests in the order in which they started, whichever ended first', () => {
    const ended = createSpan({ requestId: idOf('b'), startedAgoMs: 50, endedAgoMs: 10, end: 'stop' });
    history.record(...createReport({ slotSpans: [ended, createSpan({ startedAgoMs: 80 })] }, 1000));
    expect([...history.requestIds()]).toEqual(['a', 'b']);
  });

  it('forgets the oldest bars', () => {
    for (let request = 0; request < 3100; request += 1) {
      const slotSpan = createSpan({ requestId: idOf(`r${request}`), end: 'stop', endedAgoMs: 0 });
      history.record(...createReport({ slotSpans: [slotSpan] }, request));
    }
    expect([...history.bars]).toHaveLength(3000);
    expect([...history.bars][0]?.requestId).toBe('r100');
  });
});
