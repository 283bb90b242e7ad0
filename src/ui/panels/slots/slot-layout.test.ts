import { describe, expect, it } from 'vitest';

import type { SlotBar } from '../../state/slot-history.ts';
import { createBar } from '../../testing/test-support.ts';
import { barAt, numLanesOf, placeBars } from './slot-layout.ts';

/** 1 px is 10 ms. */
const WINDOW = { startMs: 0, endMs: 1000, untilMs: 1000, left: 0, width: 100 };

function endedBar(change: Partial<SlotBar> = {}): SlotBar {
  return createBar({ endedAtMs: 800, end: 'length', ...change });
}

describe('bars of slots', () => {
  it('lie where their times are: wait, prefill, decode', () => {
    expect(placeBars([endedBar()], WINDOW)).toMatchObject([{ waitX: 30, startX: 40, decodeX: 50, endX: 80 }]);
  });

  it('reach as far as the window is drawn while they last, and are all prefill before their first token', () => {
    const { firstTokenAtMs: _token, endedAtMs: _ended, end: _end, ...lasting } = endedBar();
    expect(placeBars([lasting], WINDOW)).toMatchObject([
      { startX: 40, decodeX: 100, endX: 100, isCut: true },
    ]);
    expect(placeBars([lasting], { ...WINDOW, untilMs: 900 })).toMatchObject([{ decodeX: 90, endX: 90 }]);
  });

  it('are cut where a replay is, and left out where they begin later', () => {
    expect(placeBars([endedBar()], { ...WINDOW, untilMs: 600 })).toMatchObject([
      { startX: 40, decodeX: 50, endX: 60, isCut: true },
    ]);
    expect(placeBars([endedBar()], { ...WINDOW, untilMs: 450 })).toMatchObject([{ decodeX: 45, endX: 45 }]);
    expect(placeBars([endedBar()], { ...WINDOW, untilMs: 390 })).toEqual([]);
  });

  it('have neither wait nor prefill where the sequence was moved in', () => {
    expect(placeBars([endedBar({ spanIndex: 1 })], WINDOW)).toMatchObject([
      { waitX: 40, startX: 40, decodeX: 40, endX: 80, isJoined: false },
    ]);
  });

  it('follow one another without a gap where their sequence was moved, whatever their messages said', () => {
    const moved = endedBar({ end: 'moved', endedAtMs: 600 });
    for (const startedAtMs of [580, 630])
      expect(placeBars([moved, endedBar({ slot: 3, spanIndex: 1, startedAtMs })], WINDOW)).toMatchObject([
        { endX: 60 },
        { startX: 60, endX: 80, isJoined: true },
      ]);
  });

  it('are wide enough to be seen, and left out where they are over or not begun', () => {
    expect(placeBars([endedBar({ endedAtMs: 401 })], WINDOW)).toMatchObject([{ endX: 42 }]);
    expect(placeBars([endedBar()], { ...WINDOW, startMs: 900, endMs: 2000, untilMs: 2000 })).toEqual([]);
  });

  it('are found under a point of their own lane, the later one first', () => {
    const second = endedBar({ key: 'b#0#0', slot: 5, startedAtMs: 790, endedAtMs: 900 });
    const placed = placeBars([endedBar(), second], WINDOW);
    expect(barAt(placed, 45, 0)?.key).toBe('a#0#0');
    expect(barAt(placed, 79.5, 0)?.key).toBe('b#0#0');
    expect(barAt(placed, 45, 1)).toBeUndefined();
    expect(barAt(placed, 95, 0)).toBeUndefined();
  });

  it('have a lane for each slot, those beyond a lowered maximum too', () => {
    expect(numLanesOf(placeBars([endedBar({ lane: 9 })], WINDOW), 8)).toBe(10);
    expect(numLanesOf([], 8)).toBe(8);
  });
});
