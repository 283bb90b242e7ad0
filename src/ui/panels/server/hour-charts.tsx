import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import type { LogSlice } from '../../../client/index.ts';
import { observeSize } from '../../browser/observe.ts';
import { onThemeChange } from '../../browser/theme.ts';
import { formatNumber, formatShare } from '../../parts/format.ts';
import type { ChartColor } from '../watch/chart-head.ts';
import { color, createAxis, lineSeries, READ_ONLY_CURSOR } from '../watch/chart-spec.ts';
import { sliceHour } from './merge-logs.ts';

const HEIGHT = 92;

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

interface HourLine {
  readonly title: string;
  readonly color: ChartColor;
  readonly format: (value: number) => string;
  /** Left out where it grows with the values. */
  readonly max?: number;
  /** Null where there is no value. */
  readonly read: (slice: LogSlice | undefined) => number | null;
  /** A second, dashed line. */
  readonly mean?: (slice: LogSlice | undefined) => number | null;
}

const LINES: readonly HourLine[] = [
  {
    title: 'Tokens a second',
    color: '--series-decode',
    format: formatNumber,
    read: (slice) => (slice ? (slice.numOutputTokens * 1000) / slice.durationMs : 0),
  },
  {
    title: 'Waiting requests: most, and mean (dashed)',
    color: '--series-queue',
    format: formatNumber,
    read: (slice) => slice?.maxWaiting ?? 0,
    mean: (slice) => slice?.meanWaiting ?? 0,
  },
  {
    title: 'K/V memory filled, of reserved',
    color: '--series-itl',
    format: formatShare,
    max: 1,
    read: (slice) => slice?.maxKvShare ?? 0,
  },
  {
    title: 'Prompt tokens found in the cache',
    color: '--series-ttft',
    format: formatShare,
    max: 1,
    read: (slice) =>
      slice && slice.numPrefixQueries > 0 ? slice.numPrefixHits / slice.numPrefixQueries : null,
  },
];

/** The text generator's last hour, in pieces of 10 s. */
export function HourCharts({ slices }: { readonly slices: readonly LogSlice[] }) {
  const hour = useHour(slices);
  return (
    <section aria-labelledby="hour-title">
      <h3 id="hour-title">Text generator, last hour</h3>
      <div className="hour-charts">
        {LINES.map((line) => (
          <HourChart key={line.title} line={line} hour={hour} />
        ))}
      </div>
    </section>
  );
}

type Hour = ReturnType<typeof sliceHour>;

/** Moves on without news, too. */
function useHour(slices: readonly LogSlice[]): Hour {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => sliceHour(slices, Math.max(nowMs, slices.at(-1)?.startedAtMs ?? 0)), [slices, nowMs]);
}

function HourChart({ line, hour }: { readonly line: HourLine; readonly hour: Hour }) {
  const hostRef = useRef<HTMLDivElement>(null);
  const chartRef = useRef<uPlot>(undefined);
  const values = hour.map(([, slice]) => line.read(slice));
  useEffect(() => {
    const host = hostRef.current;
    if (!host) return undefined;
    const chart = new uPlot(optionsOf(line, host.clientWidth), [[]], host);
    chartRef.current = chart;
    const stopResizing = observeSize(host, () => chart.setSize({ width: host.clientWidth, height: HEIGHT }));
    const stopFollowingTheme = onThemeChange(() => chart.redraw(false));
    return () => {
      stopResizing();
      stopFollowingTheme();
      chart.destroy();
    };
  }, [line]);
  useEffect(() => {
    const { read, mean } = line;
    const columns = [read, ...(mean ? [mean] : [])].map((each) => hour.map(([, slice]) => each(slice)));
    chartRef.current?.setData([hour.map(([startedAtMs]) => startedAtMs / 1000), ...columns]);
  }, [line, hour]);
  return (
    <figure className="chart">
      <figcaption className="row">
        <span>{line.title}</span> <span className="note">{describeValues(values, line.format)}</span>
      </figcaption>
      <div ref={hostRef} aria-hidden="true" />
    </figure>
  );
}

function describeValues(values: readonly (number | null)[], format: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  return last === undefined ? 'none yet' : `last ${format(last)}, highest ${format(Math.max(...known))}`;
}

function optionsOf({ color: name, format, max, mean }: HourLine, width: number): uPlot.Options {
  const stroke = color(name);
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: READ_ONLY_CURSOR,
    scales: {
      x: { time: false },
      y: { range: (_chart, _min, largest) => [0, max ?? Math.max(1, (largest ?? 0) * 1.1)] },
    },
    axes: [
      createAxis({
        grid: { show: false },
        size: 22,
        space: 56,
        incrs: [300, 900, 1800],
        values: (_chart, splits) => splits.map((seconds) => TIME.format(seconds * 1000)),
      }),
      createAxis({
        size: 44,
        space: 24,
        values: (_chart, splits) => splits.map((value) => (max ? format(value) : value.toLocaleString('en'))),
      }),
    ],
    series: [{}, lineSeries(stroke), ...(mean ? [lineSeries(stroke, [4, 3])] : [])],
  };
}
