import type uPlot from 'uplot';

import { formatMs } from '../../parts/format.ts';
import { sequencesOf, stepsBetween, tokenGaps, ttftOf, type TokenGap } from '../../state/run-summary.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import { figuresOf } from './run-figures.ts';
import type { TimeSpan } from './time-span.ts';
import { color, endingAtOrAfter, latestBefore, lineSeries, toX } from './chart-spec.ts';
import type { ChartColumns, ChartSpec, Scene } from './chart-spec.ts';
import type { ChartHead } from './chart-head.ts';
import { formatDecade, LOGARITHMIC_MS } from './logarithmic-ms.ts';
import { LATENCY_HEAD, TIMED_LATENCY_HEAD } from './main-chart-heads.ts';
import { drawBehindPlot, highlightedBars } from './highlighted-time.ts';
import { keepExtremes } from './merge-rows.ts';
import { drawStripLabel, isStrip, linesOfSlots, PADDING, timeScale } from './time-axis.ts';

/** Two messages may disagree by this much on when a step ended. */
const TOLERANCE_MS = 100;
/** For half of the lowest label, CSS pixels. */
const ROOM_BELOW = 6;
/** Its place among the lines. */
const TTFT_LINE = 1;

const createChart = (head: ChartHead): ChartSpec => ({
  head,
  isAboveSlots: true,
  columnNames: ["time [s since the run's start]", 'inter-token latency [ms]', 'time to first token [ms]'],
  showsHighlights: true,
  createOptions: (scene) => ({
    padding: PADDING,
    scales: { x: timeScale(scene), y: LOGARITHMIC_MS.scale },
    axes: [linesOfSlots(ROOM_BELOW, head === TIMED_LATENCY_HEAD), LOGARITHMIC_MS.axis],
    series: [
      {},
      lineSeries(color('--series-itl')),
      {
        stroke: color('--series-ttft'),
        paths: () => null,
        points: { show: (chart) => drawFirstTokens(chart, scene()) },
      },
    ],
    hooks: {
      drawClear: [(chart) => drawBehindPlot(chart, scene())],
      draw: [(chart) => drawStripLabel(chart, formatDecade(chart.scales['y']?.max ?? 0))],
    },
  }),
  read: (view, span, numPixels) => {
    const { slots } = view.history;
    const gaps = tokenGaps(stepsBetween(slots.steps, span.startMs, span.untilMs)).filter(
      ({ gapMs }) => gapMs > 0,
    );
    return toColumns(gaps, firstTokensOf(view, span), span, numPixels);
  },
  format: formatMs,
  valueAt: (columns, line, x) => (line === TTFT_LINE ? latestBefore : endingAtOrAfter)(columns, line, x),
  valueOfRun: (_columns, line, view) => {
    const { ttftMs, itlMs } = figuresOf(view);
    return (line === TTFT_LINE ? ttftMs : itlMs)?.p50 ?? null;
  },
  describe: (view) => {
    const { itlMs, ttftMs } = figuresOf(view);
    return itlMs
      ? `inter-token latency p50 ${formatMs(itlMs.p50)}, time to first token p50 ${formatMs(ttftMs?.p50)}`
      : 'no token yet';
  },
});

export const LATENCY_CHART = createChart(LATENCY_HEAD);
export const TIMED_LATENCY_CHART = createChart(TIMED_LATENCY_HEAD);

interface FirstToken {
  readonly endedAtMs: number;
  readonly ttftMs: number;
}

/** The first tokens in this time, oldest first. */
function firstTokensOf(
  { history, requests }: Pick<RecordedView, 'history' | 'requests'>,
  { startMs, untilMs }: Pick<TimeSpan, 'startMs' | 'untilMs'>,
): readonly FirstToken[] {
  const { bars } = history.slots;
  const shown = bars.filter(
    ({ startedAtMs, endedAtMs = Infinity }) => startedAtMs <= untilMs && endedAtMs >= startMs,
  );
  const ids = new Set(shown.map(({ requestId }) => requestId));
  return sequencesOf(bars.filter(({ requestId }) => ids.has(requestId)))
    .flatMap((sequence) => {
      const { firstTokenAtMs } = sequence;
      if (firstTokenAtMs === undefined || firstTokenAtMs < startMs || firstTokenAtMs > untilMs) return [];
      return { endedAtMs: firstTokenAtMs, ttftMs: Math.max(1e-3, ttftOf(sequence, requests)) };
    })
    .toSorted((a, b) => a.endedAtMs - b.endedAtMs);
}

/** One row for each value; the line breaks over idle time. */
export function toColumns(
  gaps: readonly TokenGap[],
  firstTokens: readonly FirstToken[],
  span: Pick<TimeSpan, 'startMs' | 'endMs' | 'originMs'>,
  numPixels = Infinity,
): ChartColumns {
  const grid = { originMs: span.originMs, pixelMs: (span.endMs - span.startMs) / numPixels };
  const isDense = (rows: readonly unknown[]): boolean => rows.length > numPixels;
  const shownGaps = isDense(gaps) ? keepExtremes(gaps, ({ gapMs }) => gapMs, grid) : gaps;
  const shownTokens = isDense(firstTokens)
    ? keepExtremes(firstTokens, ({ ttftMs }) => ttftMs, grid)
    : firstTokens;
  const rows = [
    ...withBreaks(gaps, shownGaps),
    ...shownTokens.map(({ endedAtMs, ttftMs }) => ({ atMs: endedAtMs, gapMs: undefined, ttftMs })),
  ].toSorted((a, b) => a.atMs - b.atMs);
  return [
    rows.map(({ atMs }) => (atMs - span.originMs) / 1000),
    rows.map(({ gapMs }) => gapMs),
    rows.map(({ ttftMs }) => ttftMs),
  ];
}

interface Row {
  readonly atMs: number;
  readonly gapMs: number | null | undefined;
  readonly ttftMs: number | undefined;
}

function withBreaks(gaps: readonly TokenGap[], shown: readonly TokenGap[]): readonly Row[] {
  const breaks = gaps.flatMap(({ endedAtMs, gapMs }, index) => {
    const before = gaps[index - 1]?.endedAtMs ?? Infinity;
    return endedAtMs - gapMs - before > TOLERANCE_MS ? { atMs: before, gapMs: null, ttftMs: undefined } : [];
  });
  const rows = shown.map(({ endedAtMs, gapMs }) => ({ atMs: endedAtMs, gapMs, ttftMs: undefined }));
  // The sort is stable: a break comes after the value at its time.
  return [...rows, ...breaks];
}

/** A dot for each request; where some are highlighted, the others are pale. Returns that there is nothing more to draw. */
function drawFirstTokens(chart: uPlot, { view, span, columns }: Scene): boolean {
  const { ctx } = chart;
  const highlighted = new Set(
    highlightedBars(view.history.slots.bars).map(({ firstTokenAtMs = 0 }) => toX(firstTokenAtMs, span)),
  );
  const radius = (isStrip(chart) ? 2 : 3) * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = color('--series-ttft')();
  ctx.strokeStyle = color('--paper')();
  ctx.lineWidth = devicePixelRatio;
  for (const [row, value] of (columns[TTFT_LINE + 1] ?? []).entries()) {
    if (typeof value !== 'number') continue;
    const x = columns[0][row] ?? 0;
    const isHighlighted = highlighted.has(x);
    ctx.globalAlpha = highlighted.size > 0 && !isHighlighted ? 0.3 : 1;
    ctx.beginPath();
    const [left, top] = [chart.valToPos(x, 'x', true), chart.valToPos(value, 'y', true)];
    ctx.arc(left, top, isHighlighted ? radius * 1.5 : radius, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
  return false;
}
