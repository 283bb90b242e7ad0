import { describe, expect, it } from 'vitest';

import { createBar, idOf } from '../testing/test-support.ts';
import { Lanes } from './lanes.ts';
import type { SlotBar } from './slot-history.ts';

/** Reports bars of one message, then settles; says the lane of each. */
function report(lanes: Lanes, bars: readonly (readonly [name: string, change: Partial<SlotBar>])[]) {
  const given = bars.map(([name, change]) => {
    const bar = createBar({ requestId: idOf(name), ...change });
    const lane = lanes.choose(bar);
    lanes.follow({ ...bar, lane });
    return lane;
  });
  lanes.settle();
  return given;
}

const over = (endedAtMs: number, end: SlotBar['end'] = 'length') => ({ endedAtMs, ...(end && { end }) });

describe('a sequence’s lane', () => {
  it('is that of its slot', () => {
    expect(report(new Lanes(), [['a', { slot: 2 }]])).toEqual([2]);
  });

  it('stays the same where the engine moves its row, however often', () => {
    const lanes = new Lanes();
    report(lanes, [
      ['a', { slot: 0, ...over(600) }],
      ['b', { slot: 1 }],
    ]);
    const slotSpan = { slot: 1, ...over(600, 'moved') };
    expect(
      report(lanes, [
        ['b', slotSpan],
        ['b', { slot: 0, spanIndex: 1, startedAtMs: 600 }],
      ]),
    ).toEqual([1, 1]);
  });

  it('is another free one where a moved sequence keeps that of its slot', () => {
    const lanes = new Lanes();
    report(lanes, [
      ['a', { slot: 0, ...over(600) }],
      ['b', { slot: 1, ...over(600, 'moved') }],
      ['b', { slot: 0, spanIndex: 1, startedAtMs: 600 }],
    ]);
    expect(report(lanes, [['c', { slot: 1, startedAtMs: 700 }]])).toEqual([0]);
  });

  it('is taken again once its sequence has ended, in the same message too', () => {
    const ended = { slot: 3, ...over(600) };
    expect(
      report(new Lanes(), [
        ['a', ended],
        ['b', { slot: 3, startedAtMs: 600 }],
      ]),
    ).toEqual([3, 3]);
  });

  it('isn’t taken by one that ran beside it', () => {
    const ended = { slot: 3, ...over(600) };
    expect(
      report(new Lanes(), [
        ['a', ended],
        ['b', { slot: 3, startedAtMs: 550 }],
      ]),
    ).toEqual([3, 0]);
  });

  it('is taken again though a late message made its end seem later than the next start', () => {
    const lanes = new Lanes();
    report(lanes, [['a', { slot: 3, ...over(780) }]]);
    expect(report(lanes, [['b', { slot: 3, startedAtMs: 610 }]])).toEqual([3]);
  });

  it('differs for each continuation of a request', () => {
    expect(
      report(new Lanes(), [
        ['a', { index: 0, slot: 0 }],
        ['a', { index: 1, slot: 1 }],
      ]),
    ).toEqual([0, 1]);
  });
});
