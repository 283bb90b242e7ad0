import { describe, expect, it } from 'vitest';

import type { RequestId } from '../../worker/protocol.ts';
import type { SlotBar } from '../state/slot-history.ts';
import { barAt, numLanes, placeBars } from './slot-layout.ts';

/** 1 px is 10 ms; the window ends at 1000 ms. */
const WINDOW = { endMs: 1000, durationMs: 1000, width: 100 };

function createBar(change: Partial<SlotBar> = {}): SlotBar {
  return {
    key: 'a#0#0',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
    requestId: 'a' as RequestId,
    index: 0,
    slot: 0,
    stayIndex: 0,
    queueWaitMs: 100,
    numTokens: 3,
    firstStepIndex: 0,
    lastStepIndex: 5,
    startedAtMs: 400,
    firstTokenAtMs: 500,
    endedAtMs: 800,
    end: 'length',
    ...change,
  };
}

describe('bars of slots', () => {
  it('lie where their times are: wait, prefill, decode', () => {
    expect(placeBars([createBar()], WINDOW)).toMatchObject([
      { waitX: 30, startX: 40, decodeX: 50, endX: 80 },
    ]);
  });

  it('reach the end of the window while they last, and are all prefill before their first token', () => {
    const { firstTokenAtMs: _token, endedAtMs: _ended, end: _end, ...lasting } = createBar();
    expect(placeBars([lasting], WINDOW)).toMatchObject([{ startX: 40, decodeX: 100, endX: 100 }]);
  });

  it('have neither wait nor prefill where the sequence was moved in', () => {
    expect(placeBars([createBar({ stayIndex: 1 })], WINDOW)).toMatchObject([
      { waitX: 40, startX: 40, decodeX: 40, endX: 80 },
    ]);
  });

  it('are wide enough to be seen, and left out where they are over or not begun', () => {
    expect(placeBars([createBar({ endedAtMs: 401 })], WINDOW)).toMatchObject([{ endX: 42 }]);
    expect(placeBars([createBar()], { ...WINDOW, endMs: 2000 })).toEqual([]);
    expect(placeBars([createBar()], { ...WINDOW, endMs: 300 })).toEqual([]);
  });

  it('are found under a point of their own lane, the later one first', () => {
    const second = createBar({ key: 'b#0#0', startedAtMs: 790, endedAtMs: 900 });
    const placed = placeBars([createBar(), second], WINDOW);
    expect(barAt(placed, 45, 0)?.key).toBe('a#0#0');
    expect(barAt(placed, 79.5, 0)?.key).toBe('b#0#0');
    expect(barAt(placed, 45, 1)).toBeUndefined();
    expect(barAt(placed, 95, 0)).toBeUndefined();
  });

  it('have a lane for each slot, those beyond a lowered maximum too', () => {
    expect(numLanes(placeBars([createBar({ slot: 9 })], WINDOW), 8)).toBe(10);
    expect(numLanes([], 8)).toBe(8);
  });
});
