import type { Axis, Scale } from 'uplot';

import { GRID } from './chart-spec.ts';
import { valueAxis } from './time-axis.ts';

/** For latencies, which spread over decades. */
export const LOGARITHMIC_MS: { readonly axis: Axis; readonly scale: Scale } = {
  axis: valueAxis((value) => (isDecade(value) ? formatDecade(value) : ''), {
    space: 20,
    grid: { ...GRID, filter: (_chart, splits) => splits.map((value) => (isDecade(value) ? value : null)) },
  }),
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot declares an enum that does not exist at run time
  scale: { distr: 3, range: (_chart, min, max) => wholeDecades(min, max) },
};

/** Whole decades keep the grid still while the lines move. */
function wholeDecades(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [1, 1000];
  const low = 10 ** Math.floor(Math.log10(min));
  return [low, Math.max(10 ** Math.ceil(Math.log10(max)), low * 10)];
}

function isDecade(value: number): boolean {
  return Number.isInteger(Math.log10(value));
}

/** “10 ms”, “1 s”. */
export function formatDecade(value: number): string {
  return value < 1000 ? `${value} ms` : `${value / 1000} s`;
}
