import { beforeEach, describe, expect, it } from 'vitest';

import type { SlotSpan, StepRecord } from '../../client/index.ts';
import { describeBar } from '../slots/describe-bar.ts';
import { SlotHistory } from './slot-history.ts';
import { createRequest, createSlotSpan, createStepRecord, idOf, OTHER_TAB } from '../test-support.ts';

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

  it('takes the start of a bar from the earliest message, and all else from the last', () => {
    history.record({ steps: [], slotSpans: [createSpan()] }, 1000);
    expect(history.numLive).toBe(1);
    const ended = { firstTokenAgoMs: 180, endedAgoMs: 20, end: 'stop', numTokens: 7 } as const;
    history.record({ steps: [], slotSpans: [createSpan({ startedAgoMs: 185, ...ended })] }, 1100);
    expect([...history.bars]).toMatchObject([
      { startedAtMs: 900, firstTokenAtMs: 905, endedAtMs: 1065, end: 'stop', numTokens: 7 },
    ]);
    expect(history.numLive).toBe(0);
    expect(history.lastEndedAtMs).toBe(1065);
  });

  it('puts the steps of a late message where the steps before them ended, unless all had rested', () => {
    const endsMs = (): readonly number[] => history.steps.map(({ endedAtMs }) => endedAtMs);
    history.record({ steps: [createStep(3, [1])], slotSpans: [createSpan()] }, 1000);
    // Read 40 ms late: each step takes 10 ms.
    const late = [createStep(4, [1], 20), createStep(5, [1], 10)];
    history.record({ steps: late, slotSpans: [createSpan({ endedAgoMs: 10, end: 'stop' })] }, 1060);
    expect(endsMs()).toEqual([990, 1000, 1010]);
    history.record({ steps: [createStep(6, [1])], slotSpans: [createSpan()] }, 1500);
    expect(endsMs().at(-1)).toBe(1490);
    // Another worker counts from 0 again.
    history.record({ steps: [createStep(0, [1])], slotSpans: [createSpan()] }, 1700);
    expect(endsMs().at(-1)).toBe(1690);
  });

  it('measures a decode of 38 tokens in full, though the message of its first token came 180 ms late', () => {
    // On the worker: started at 0, first token at 10, the end at 200 ms; messages at 15 and 205 ms, both read at 205.
    const running = createSpan({ startedAgoMs: 15, firstTokenAgoMs: 5, numTokens: 1 });
    history.record({ steps: [], slotSpans: [running] }, 205);
    const over = { startedAgoMs: 205, firstTokenAgoMs: 195, endedAgoMs: 5, end: 'length' } as const;
    history.record({ steps: [], slotSpans: [createSpan({ ...over, numTokens: 38 })] }, 205);
    const [bar] = history.bars;
    expect(bar && describeBar(bar)).toContain('prefill 10.0 ms · decode 190 ms · 38 tokens');
    expect(bar).toMatchObject({ startedAtMs: 0, firstTokenAtMs: 10, endedAtMs: 200 });
  });

  it('lets a span begin where its sequence was moved, though a late message reported both', () => {
    history.record({ steps: [], slotSpans: [createSpan()] }, 1000);
    const moved = createSpan({ startedAgoMs: 200, endedAgoMs: 60, end: 'moved' });
    const next = createSpan({ slot: 0, spanIndex: 1, startedAgoMs: 60, endedAgoMs: 10, end: 'stop' });
    history.record({ steps: [], slotSpans: [moved, next] }, 1180);
    expect(history.bars).toMatchObject([
      { startedAtMs: 900, endedAtMs: 1040, lane: 1 },
      { startedAtMs: 1040, endedAtMs: 1090, lane: 1 },
    ]);
  });

  it('takes a request that is not reported yet for one that goes on', () => {
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record({ steps: [], slotSpans: [createSpan()] }, 1000);
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record({ steps: [], slotSpans: [createSpan({ endedAgoMs: 20, end: 'stop' })] }, 1100);
    expect(history.isOver(idOf('a'))).toBe(true);
  });

  it('ends a bar that is no longer reported where the next worker’s first one begins', () => {
    history.record({ steps: [], slotSpans: [createSpan()] }, 1000);
    history.record({ steps: [], slotSpans: [createSpan({ requestId: idOf('b') })] }, 1200);
    expect([...history.bars]).toMatchObject([
      { requestId: 'a', end: 'error', endedAtMs: 1100 },
      { requestId: 'b' },
    ]);
  });

  it.each([
    ['after a message without it', [[]]],
    ['at another step', []],
  ] as const)('begins another bar for a request that is resubmitted, reported %s', (_, between) => {
    history.record({ steps: [], slotSpans: [createSpan()] }, 1000);
    for (const slotSpans of between) history.record({ steps: [], slotSpans }, 1200);
    const again = createSpan({ slot: 0, lastStepIndex: 3, startedAgoMs: 50 });
    history.record({ steps: [], slotSpans: [again] }, 5000);
    history.record({ steps: [], slotSpans: [{ ...again, lastStepIndex: 9, startedAgoMs: 150 }] }, 5100);
    expect([...history.bars]).toMatchObject([
      { slot: 1, startedAtMs: 900, end: 'error', endedAtMs: between.length > 0 ? 1200 : 4950 },
      { slot: 0, startedAtMs: 4950, lastStepIndex: 9 },
    ]);
    expect([...history.bars]).toHaveLength(2);
    expect(history.numLive).toBe(1);
    expect(history.isOver(idOf('a'))).toBe(false);
  });

  it('keeps to the lanes of its slots where all requests are resubmitted after a lost worker', () => {
    const slotSpans = ['a', 'b', 'c'].map((name, slot) => createSpan({ requestId: idOf(name), slot }));
    history.record({ steps: [], slotSpans: slotSpans }, 1000);
    const again = slotSpans
      .toReversed()
      .map((slotSpan, slot) => ({ ...slotSpan, slot, startedAgoMs: 30, lastStepIndex: 3 }));
    for (const receivedAtMs of [5000, 5000.5]) history.record({ steps: [], slotSpans: again }, receivedAtMs);
    expect(history.bars.map(({ requestId, lane }) => `${requestId} ${lane}`)).toEqual([
      'a 0',
      'b 1',
      'c 2',
      'c 0',
      'b 1',
      'a 2',
    ]);
    const next = createSpan({ requestId: idOf('d'), slot: 1 });
    history.record({ steps: [], slotSpans: [...again, next] }, 5100);
    expect(history.bars.at(-1)).toMatchObject({ requestId: 'd', lane: 3 });
  });

  it('begins another bar for a span of the same name as one that ended', () => {
    history.record({ steps: [], slotSpans: [createSpan({ end: 'moved', endedAgoMs: 0 })] }, 1000);
    history.record({ steps: [], slotSpans: [createSpan()] }, 5000);
    expect([...history.bars]).toMatchObject([{ end: 'moved', endedAtMs: 1000 }, { startedAtMs: 4900 }]);
  });

  it('takes a request for over once all its bars have ended, and not before any is reported', () => {
    expect(history.isOver(idOf('a'))).toBe(false);
    const second = createSpan({ index: 1, slot: 2 });
    history.record({ steps: [], slotSpans: [createSpan({ endedAgoMs: 0, end: 'stop' }), second] }, 1000);
    expect(history.isOver(idOf('a'))).toBe(false);
    history.record({ steps: [], slotSpans: [{ ...second, endedAgoMs: 0, end: 'stop' }] }, 1100);
    expect(history.isOver(idOf('a'))).toBe(true);
  });

  it('names the owner of a bar once its request is known', () => {
    history.record({ steps: [], slotSpans: [createSpan(), createSpan({ requestId: idOf('b') })] }, 1000);
    history.nameOwners(new Map([[idOf('a'), createRequest('a', { ordinal: 3 })]]));
    const clientId = OTHER_TAB;
    history.nameOwners(new Map([[idOf('b'), createRequest('b', { clientId, isHttp: true })]]));
    expect([...history.bars].map(({ owner }) => owner)).toEqual([
      { clientId: undefined, isHttp: undefined, ordinal: 3, prompt: 'a:' },
      { clientId: OTHER_TAB, isHttp: true, ordinal: undefined, prompt: 'b:' },
    ]);
  });

  it('finds the steps of a request in all its spans, and none of its neighbors', () => {
    const steps = [createStep(2, [1]), createStep(3, [0, 1]), createStep(4, [0]), createStep(5, [0, 1])];
    const moved = createSpan({
      slot: 0,
      spanIndex: 1,
      firstStepIndex: 5,
      lastStepIndex: 5,
      startedAgoMs: 20,
    });
    history.record({ steps, slotSpans: [createSpan({ end: 'moved', endedAgoMs: 20 }), moved] }, 1000);
    expect(history.stepsOf(idOf('a'))).toMatchObject([
      { stepIndex: 3, slots: [0, 1], ownSlots: [1] },
      { stepIndex: 5, slots: [0, 1], ownSlots: [0] },
    ]);
  });

  it('gives each step of a resubmitted request a serial index of its own, though two have one index', () => {
    for (const receivedAtMs of [1000, 90_000])
      history.record(
        {
          steps: [createStep(3, [1]), createStep(4, [1], 0)],
          slotSpans: [createSpan({ end: 'error', endedAgoMs: 0 })],
        },
        receivedAtMs,
      );
    const steps = history.stepsOf(idOf('a'));
    expect(steps.map(({ stepIndex }) => stepIndex)).toEqual([3, 4, 3, 4]);
    expect(new Set(steps.map(({ serialIndex }) => serialIndex)).size).toBe(4);
  });

  it('separates steps of another worker, though they count from 0 again', () => {
    history.record(
      { steps: [createStep(3, [1])], slotSpans: [createSpan({ end: 'stop', endedAgoMs: 0 })] },
      1000,
    );
    history.record({ steps: [createStep(3, [1])], slotSpans: [] }, 90_000);
    expect(history.stepsOf(idOf('a'))).toHaveLength(1);
  });

  it('lists requests in the order in which they started, whichever ended first', () => {
    const ended = createSpan({ requestId: idOf('b'), startedAgoMs: 50, endedAgoMs: 10, end: 'stop' });
    history.record({ steps: [], slotSpans: [ended, createSpan({ startedAgoMs: 80 })] }, 1000);
    expect([...history.requestIds()]).toEqual(['a', 'b']);
  });

  it('forgets the oldest bars', () => {
    for (let request = 0; request < 3100; request += 1) {
      const slotSpan = createSpan({ requestId: idOf(`r${request}`), end: 'stop', endedAgoMs: 0 });
      history.record({ steps: [], slotSpans: [slotSpan] }, request);
    }
    expect([...history.bars]).toHaveLength(3000);
    expect([...history.bars][0]?.requestId).toBe('r100');
  });
});
