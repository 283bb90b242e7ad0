import { BATCH_SIZE_CHART } from './batch-size-chart.ts';
import type { ChartHead } from './chart-head.ts';
import type { ChartSpec } from './chart-spec.ts';
import { ENCODER_CHARTS } from './encoder-charts.ts';
import { LATENCY_CHART, TIMED_LATENCY_CHART } from './latency-chart.ts';
import { TIME_CHARTS, SERVER_LATENCY_CHART } from './time-charts.ts';

const CHARTS = [
  BATCH_SIZE_CHART,
  LATENCY_CHART,
  TIMED_LATENCY_CHART,
  SERVER_LATENCY_CHART,
  ...TIME_CHARTS,
  ...ENCODER_CHARTS,
];

/** The heads are loaded with the page, all else with the first chart. */
export function specOf(head: ChartHead): ChartSpec {
  const spec = CHARTS.find((chart) => chart.head === head);
  if (!spec) throw new Error(`There is no chart ${head.testId}.`);
  return spec;
}
