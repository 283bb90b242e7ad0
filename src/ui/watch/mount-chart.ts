import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import type { ServeStore } from '../state/serve-store.ts';
import { toAlignedData } from './chart-spec.ts';
import type { ChartSpec } from './chart-spec.ts';

/** Draws a chart into `host` and keeps it current, outside React; returns the release of all it took. */
export function mountChart(host: HTMLElement, spec: ChartSpec, store: ServeStore): () => void {
  const chart = new uPlot(
    // Its legend takes values from then on: a chart that comes back with its tab has some from the start.
    { ...spec.options, ...sizeOf(host), hooks: { ready: [showNewestInLegend] } },
    toAlignedData(spec.read(store.getState())),
    host,
  );
  const update = (): void => {
    chart.setData(toAlignedData(spec.read(store.getState())));
    showNewestInLegend(chart);
  };
  update();

  const unsubscribe = store.subscribe((view, previous) => {
    if (view.historyRevision !== previous.historyRevision) update();
  });
  const resizeObserver = new ResizeObserver(() => chart.setSize(sizeOf(host)));
  resizeObserver.observe(host);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const recolor = (): void => chart.redraw(false);
  scheme.addEventListener('change', recolor);

  return () => {
    unsubscribe();
    resizeObserver.disconnect();
    scheme.removeEventListener('change', recolor);
    chart.destroy();
  };
}

/** The plot fills its host above the legend, whose height CSS reserves as `--legend-height`. */
function sizeOf(host: HTMLElement): { width: number; height: number } {
  const legendHeight = Number.parseFloat(getComputedStyle(host).getPropertyValue('--legend-height'));
  return { width: host.clientWidth, height: host.clientHeight - legendHeight };
}

/** Without a pointer on it the legend reads the newest values. */
function showNewestInLegend(chart: uPlot): void {
  const isHovered = (chart.cursor.left ?? -1) >= 0;
  const newest = chart.data[0].length - 1;
  if (!isHovered && newest >= 0) chart.setLegend({ idx: newest }, false);
}
