import { afterEach, describe, expect, it } from 'vitest';

import { ChartHistory } from '../../state/chart-history.ts';
import { timeSpanOf } from './time-span.ts';
import { watchSettings } from './watch-settings.ts';
import { moved, scaled, showAll, zoomTo, zoomWithin } from './zoom.ts';

const WHOLE = { originMs: 1000, startMs: 1000, endMs: 3000, untilMs: 3000, isLive: false };
const viewOf = (startedAtMs: number) => ({
  history: new ChartHistory(),
  requests: new Map(),
  runs: { prompts: { startedAtMs, endedAtMs: startedAtMs + 2000, requestIds: [] } },
});

afterEach(() => watchSettings.setState(watchSettings.getInitialState(), true));

describe('a zoom', () => {
  it('is the axis of all charts until all of it is shown again', () => {
    zoomTo({ startMs: 1500, endMs: 2000 }, WHOLE);
    expect(timeSpanOf(viewOf(1000))).toMatchObject({
      startMs: 1500,
      endMs: 2000,
      untilMs: 2000,
      originMs: 1000,
    });
    showAll();
    expect(timeSpanOf(viewOf(1000))).toEqual(WHOLE);
  });

  it('is over with the next run', () => {
    zoomTo({ startMs: 1500, endMs: 2000 }, WHOLE);
    expect(timeSpanOf(viewOf(9000))).toMatchObject({ startMs: 9000, endMs: 11_000 });
  });

  it('stays within the axis, has a least length, and is none where nothing is left out', () => {
    expect(zoomWithin({ startMs: 900, endMs: 1400 }, WHOLE)).toEqual({
      originMs: 1000,
      startMs: 1000,
      endMs: 1500,
    });
    expect(zoomWithin({ startMs: 2900, endMs: 3400 }, WHOLE)).toMatchObject({ startMs: 2500, endMs: 3000 });
    expect(zoomWithin({ startMs: 1500, endMs: 1500 }, WHOLE)).toMatchObject({ startMs: 1500, endMs: 1505 });
    expect(zoomWithin({ startMs: 900, endMs: 3400 }, WHOLE)).toBeUndefined();
  });

  it('by keys is half of the time around a moment, twice of it, or the part beside it', () => {
    expect(scaled(WHOLE, 2000, 0.5)).toEqual({ startMs: 1500, endMs: 2500 });
    expect(scaled(WHOLE, 2000, 2)).toEqual({ startMs: 0, endMs: 4000 });
    expect(moved(WHOLE, 0.25)).toEqual({ startMs: 1500, endMs: 3500 });
  });
});
