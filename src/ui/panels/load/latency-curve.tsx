import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { formatMs, formatNumber } from '../../parts/format.ts';
import type { ChartColor } from '../watch/chart-head.ts';
import { color, createAxis, keepChart, READ_ONLY_CURSOR } from '../watch/chart-spec.ts';
import type { Trial } from './summarize.ts';

const HEIGHT = 165;
/** Its place among the series. */
const LIMIT_LINE = 3;

interface LatencyCurveProps {
  readonly trials: readonly Pick<Trial, 'label' | 'summary'>[];
  readonly latencyLimitMs: number;
}

/** Latency over throughput, one point for each row of the table. Screen readers read the table. */
export function LatencyCurve({ trials, latencyLimitMs }: LatencyCurveProps) {
  const hostRef = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const host = hostRef.current;
    if (!host) return undefined;
    const chart = new uPlot(optionsOf(host.clientWidth), dataOf(trials, latencyLimitMs), host);
    return keepChart(chart, host, HEIGHT);
  }, [trials, latencyLimitMs]);

  return (
    <figure className="chart">
      <figcaption className="row">
        <h3>Latency over throughput</h3> <span className="note">one point for each row of the table</span>
      </figcaption>
      <div ref={hostRef} aria-hidden="true" data-testid="latency-curve" />
    </figure>
  );
}

/** The legend is HTML, where CSS variables work. A dashed line has a hollow marker. */
const MARKERS: uPlot.Legend.Markers = {
  width: (chart, index) => (isDashed(chart, index) ? 2 : 0),
  stroke: (_chart, index) => variableOf(index),
  fill: (chart, index) => (isDashed(chart, index) ? 'transparent' : variableOf(index)),
};

function isDashed(chart: uPlot, seriesIndex: number): boolean {
  return chart.series[seriesIndex]?.dash !== undefined;
}

function variableOf(seriesIndex: number): string {
  return seriesIndex === LIMIT_LINE ? 'var(--bad)' : 'var(--series-e2e)';
}

function optionsOf(width: number): uPlot.Options {
  const points = { show: true, size: 8, fill: color('--series-e2e') };
  return {
    width,
    height: HEIGHT,
    legend: { markers: MARKERS },
    cursor: READ_ONLY_CURSOR,
    scales: {
      x: { time: false, range: (_chart, _min, max) => [0, (max ?? 1) * 1.08] },
      y: { range: (_chart, _min, max) => [0, (max ?? 1) * 1.1] },
    },
    axes: [
      createAxis({ label: 'tokens/s', labelSize: 18, labelFont: '11px system-ui, sans-serif', size: 30 }),
      createAxis({ size: 64, values: (_chart, splits) => splits.map((value) => formatMs(value)) }),
    ],
    series: [
      { label: 'tokens/s', value: (_chart, value: number | null) => formatNumber(value) },
      line('end to end p95', '--series-e2e', { width: 1.5, points }),
      line('p50', '--series-e2e', { width: 1.5, points, dash: [5, 4] }),
      line('limit', '--bad', { width: 1, points: { show: false } }),
    ],
  };
}

function line(label: string, name: ChartColor, style: uPlot.Series): uPlot.Series {
  return { label, stroke: color(name), value: (_chart, value: number | null) => formatMs(value), ...style };
}

function dataOf(trials: readonly Pick<Trial, 'summary'>[], latencyLimitMs: number): uPlot.AlignedData {
  const sorted = trials.toSorted((a, b) => a.summary.tokensPerSecond - b.summary.tokensPerSecond);
  return [
    sorted.map(({ summary }) => summary.tokensPerSecond),
    sorted.map(({ summary }) => summary.e2eMs?.p95 ?? null),
    sorted.map(({ summary }) => summary.e2eMs?.p50 ?? null),
    sorted.map(() => latencyLimitMs),
  ];
}
