import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { placeBars, xOf as xInSlots } from '../slots/slot-layout.ts';
import { ChartHistory } from '../../state/chart-history.ts';
import type { Run } from '../../state/run.ts';
import { createBar, createRequest } from '../../testing/test-support.ts';
import { BATCH_SIZE_CHART } from './batch-size-chart.ts';
import { toX, type Scene } from './chart-spec.ts';
import { LATENCY_CHART } from './latency-chart.ts';
import { INSETS, msAt, plotOf, sharedAxis, xOf } from './shared-axis.ts';
import type { TimeSpan } from './time-span.ts';
import { watchSettings } from './watch-settings.ts';

// A theme needs a page.
vi.mock(import('../../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const showOn = (isWide: boolean): void => {
  vi.stubGlobal('matchMedia', () => ({ matches: isWide }));
};

beforeEach(() => showOn(true));
afterEach(() => vi.unstubAllGlobals());

/** As uPlot places a time: between the axis of the values and the padding, from one end of the scale to the other. */
function xInChart(chart: typeof BATCH_SIZE_CHART, atMs: number, span: TimeSpan, width: number): number {
  const scene: Scene = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the scale reads the span alone
    view: undefined as never,
    span,
    columns: [[]],
  };
  const { scales, axes, padding } = chart.createOptions(() => scene);
  const range = scales?.['x']?.range;
  const plot = { height: 100, width, data: [[0]] };
  const call = (value: unknown): unknown => (typeof value === 'function' ? value(plot, 0, 0, 0) : value);
  const [min, max] = [call(range)].flat().map(Number);
  const [left, right] = [Number(call(axes?.[1]?.size)), Number(call(padding?.[1]))];
  return left + ((toX(atMs, span) - (min ?? 0)) / ((max ?? 0) - (min ?? 0))) * (width - left - right);
}

const times = fc
  .record({
    originMs: fc.integer({ min: 0, max: 1e7 }),
    fromMs: fc.integer({ min: 0, max: 300_000 }),
    lengthMs: fc.integer({ min: 5, max: 300_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    width: fc.integer({ min: 200, max: 3000 }),
  })
  .map(({ originMs, fromMs, lengthMs, share, width }) => {
    const startMs = originMs + fromMs;
    const endMs = startMs + lengthMs;
    const span: TimeSpan = { originMs, startMs, endMs, untilMs: endMs, isLive: true };
    return { span, atMs: startMs + share * lengthMs, width };
  });

describe('the shared axis', () => {
  it('has one x for an instant, in both charts and in the slots, at any width and time', () => {
    fc.assert(
      fc.property(times, ({ span, atMs, width }) => {
        const x = xOf(atMs, span, plotOf(width));
        const bar = createBar({ queueWaitMs: 0, startedAtMs: atMs, endedAtMs: span.endMs });
        const window = { ...span, ...plotOf(width) };
        expect(xInSlots(window, atMs)).toBe(x);
        expect(placeBars([bar], window)[0]?.startX).toBe(x);
        for (const chart of [BATCH_SIZE_CHART, LATENCY_CHART])
          expect(xInChart(chart, atMs, span, width)).toBeCloseTo(x, 4);
      }),
    );
  });

  it('finds the time under an x again, and the nearest end outside of the plot', () => {
    fc.assert(
      fc.property(times, ({ span, atMs, width }) => {
        const plot = plotOf(width);
        expect(msAt(xOf(atMs, span, plot), span, plot)).toBeCloseTo(atMs, 3);
        expect(msAt(-5, span, plot)).toBe(span.startMs);
        expect(msAt(width + 5, span, plot)).toBe(span.endMs);
      }),
    );
  });

  it('has the whole width on a narrow screen', () => {
    expect(plotOf(800)).toEqual({ left: INSETS.left, width: 800 - INSETS.left - INSETS.right });
    showOn(false);
    expect(plotOf(328)).toEqual({ left: 0, width: 328 });
  });

  it('draws all that has joined of one moment, also while time goes on', async () => {
    vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) =>
      setTimeout(() => callback(performance.now()), 1),
    );
    const request = createRequest('a', { status: 'running' });
    const run: Run = { startedAtMs: performance.now() - 50, requestIds: [request.id] };
    const requests = new Map([[request.id, request]]);
    const view = { history: new ChartHistory(), runs: { prompts: run }, requests };
    const ends: number[] = [];
    const drawn = Promise.withResolvers<undefined>();
    const draw = (): void => {
      const busyUntilMs = performance.now() + 5;
      while (performance.now() < busyUntilMs);
      ends.push(sharedAxis.spanOf(view).untilMs);
      if (ends.length === 3) drawn.resolve(undefined);
    };
    const releases = Array.from({ length: 3 }, () => sharedAxis.join(() => draw()));
    sharedAxis.requestSoon();
    await drawn.promise;
    for (const release of releases) release();
    expect(new Set(ends).size).toBe(1);
    watchSettings.setState(watchSettings.getInitialState(), true);
  });
});
