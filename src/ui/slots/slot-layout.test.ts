import { describe, expect, it } from 'vitest';

import type { SlotBar } from '../state/slot-history.ts';
import { createBar } from '../test-support.ts';
import { barAt, numLanes, placeBars } from './slot-layout.ts';

/** 1 px is 10 ms; the window ends at 1000 ms. */
const WINDOW = { endMs: 1000, durationMs: 1000, width: 100 };

function endedBar(change: Partial<SlotBar> = {}): SlotBar {
  return createBar({ endedAtMs: 800, end: 'length', ...change });
}

describe('bars of slots', () => {
  it('lie where their times are: wait, prefill, decode', () => {
    expect(placeBars([endedBar()], WINDOW)).toMatchObject([{ waitX: 30, startX: 40, decodeX: 50, endX: 80 }]);
  });

  it('reach the end of the window while they last, and are all prefill before their first token', () => {
    const { firstTokenAtMs: _token, endedAtMs: _ended, end: _end, ...lasting } = endedBar();
    expect(placeBars([lasting], WINDOW)).toMatchObject([{ startX: 40, decodeX: 100, endX: 100 }]);
  });

  it('have neither wait nor prefill where the sequence was moved in', () => {
    expect(placeBars([endedBar({ stayIndex: 1 })], WINDOW)).toMatchObject([
      { waitX: 40, startX: 40, decodeX: 40, endX: 80 },
    ]);
  });

  it('are wide enough to be seen, and left out where they are over or not begun', () => {
    expect(placeBars([endedBar({ endedAtMs: 401 })], WINDOW)).toMatchObject([{ endX: 42 }]);
    expect(placeBars([endedBar()], { ...WINDOW, endMs: 2000 })).toEqual([]);
    expect(placeBars([endedBar()], { ...WINDOW, endMs: 300 })).toEqual([]);
  });

  it('are found under a point of their own lane, the later one first', () => {
    const second = endedBar({ key: 'b#0#0', startedAtMs: 790, endedAtMs: 900 });
    const placed = placeBars([endedBar(), second], WINDOW);
    expect(barAt(placed, 45, 0)?.key).toBe('a#0#0');
    expect(barAt(placed, 79.5, 0)?.key).toBe('b#0#0');
    expect(barAt(placed, 45, 1)).toBeUndefined();
    expect(barAt(placed, 95, 0)).toBeUndefined();
  });

  it('have a lane for each slot, those beyond a lowered maximum too', () => {
    expect(numLanes(placeBars([endedBar({ slot: 9 })], WINDOW), 8)).toBe(10);
    expect(numLanes([], 8)).toBe(8);
  });
});
