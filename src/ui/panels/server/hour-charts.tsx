import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import type { LogSlice, WorkerLog } from '../../../client/index.ts';
import { formatCount, formatNumber } from '../../parts/format.ts';
import type { ChartColor } from '../watch/chart-head.ts';
import { color, createAxis, keepChart, lineSeries, READ_ONLY_CURSOR } from '../watch/chart-spec.ts';
import { sliceHour, type HourSlice } from './merge-logs.ts';

const HEIGHT = 92;

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

interface HourLine {
  readonly title: string;
  readonly color: ChartColor;
  readonly format: (value: number) => string;
  /** Left out where it grows with the values. */
  readonly max?: number;
  /** Null where there is no value. */
  readonly read: (slice: LogSlice) => number | null;
  /** A second line, which is dashed. */
  readonly mean?: (slice: LogSlice) => number;
  /** While the generator does nothing. */
  readonly idle: number | null;
}

const formatPercent = (share: number): string => `${Math.round(share * 100)} %`;

const LINES: readonly HourLine[] = [
  {
    title: 'Tokens/s, means of 10 s',
    color: '--series-decode',
    format: (value) => (value === 0 ? '0' : formatNumber(value)),
    read: ({ numOutputTokens, durationMs }) => (numOutputTokens * 1000) / durationMs,
    idle: 0,
  },
  {
    title: 'Waiting, mean dashed',
    color: '--series-queue',
    format: formatCount,
    read: ({ maxWaiting }) => maxWaiting,
    mean: ({ meanWaiting }) => meanWaiting,
    idle: 0,
  },
  {
    title: 'K/V memory filled',
    color: '--series-itl',
    format: formatPercent,
    max: 1,
    read: ({ maxKvShare }) => maxKvShare,
    idle: 0,
  },
  {
    title: 'Prompt tokens reused',
    color: '--series-ttft',
    format: formatPercent,
    max: 1,
    read: ({ numPrefixQueries, numPrefixHits }) =>
      numPrefixQueries > 0 ? numPrefixHits / numPrefixQueries : null,
    idle: null,
  },
];

/** The text generator's last hour, in pieces of 10 s. */
export function HourCharts({ log }: { readonly log: WorkerLog }) {
  const hour = useHour(log);
  return (
    <section aria-labelledby="hour-title">
      <h3 id="hour-title">Text generator, last hour</h3>
      <div className="hour-charts stack spaced">
        {LINES.map((line) => (
          <HourChart key={line.title} line={line} hour={hour} />
        ))}
      </div>
    </section>
  );
}

type Hour = ReturnType<typeof sliceHour>;

/** Moves on without news, too. */
function useHour(log: WorkerLog): Hour {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => sliceHour(log, Math.max(nowMs, log.slices.at(-1)?.startedAtMs ?? 0)), [log, nowMs]);
}

function valueOf(slice: HourSlice, read: HourLine['read'], idle: HourLine['idle']): number | null {
  if (slice === 'unknown') return null;
  return slice === 'idle' ? idle : read(slice);
}

function HourChart({ line, hour }: { readonly line: HourLine; readonly hour: Hour }) {
  const hostRef = useRef<HTMLDivElement>(null);
  const chartRef = useRef<uPlot>(undefined);
  const values = hour.map(([, slice]) => valueOf(slice, line.read, line.idle));
  useEffect(() => {
    const host = hostRef.current;
    if (!host) return undefined;
    const chart = new uPlot(optionsOf(line, host.clientWidth), [[]], host);
    chartRef.current = chart;
    return keepChart(chart, host, HEIGHT);
  }, [line]);
  useEffect(() => {
    const { read, mean, idle } = line;
    const columns = [read, ...(mean ? [mean] : [])].map((each) =>
      hour.map(([, slice]) => valueOf(slice, each, idle)),
    );
    chartRef.current?.setData([hour.map(([startedAtMs]) => startedAtMs / 1000), ...columns]);
  }, [line, hour]);
  return (
    <figure className="chart">
      <figcaption>
        <div>{line.title}</div> <div className="note">{describeValues(values, line.format)}</div>
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
        space: 60,
        incrs: [900, 1800, 3600],
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
