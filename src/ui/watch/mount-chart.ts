import uPlot from 'uplot';
import type { AlignedData } from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { observeSize, observeVisibility } from '../observe.ts';
import { createDrawTurns } from '../state/draw-turns.ts';
import type { ServeStore, ServeView } from '../state/serve-store.ts';
import { onThemeChange } from '../theme/theme.ts';
import type { ChartSpec } from './chart-spec.ts';
import { watchSettings } from './watch-settings.ts';

const turns = createDrawTurns(1);

/** Draws a chart into `host` and keeps it and its description current, outside React; returns the release. */
export function mountChart(
  host: HTMLElement,
  description: HTMLElement,
  spec: ChartSpec,
  store: ServeStore,
): () => void {
  const readShown = (): AlignedData => spec.read(store.getState(), watchSettings.getState().pausedAtSeconds);
  /** The data at the pause, some of which the history may have dropped since. */
  let stopped = isPaused() ? readShown() : undefined;
  const chart = new uPlot(
    {
      ...spec.createOptions(uPlot.paths),
      ...sizeOf(host),
      // Once ready, the legend shows values, before new data comes.
      hooks: { ready: [showNewestInLegend], setCursor: [shareCursor] },
    },
    stopped ?? readShown(),
    host,
  );
  let drawnX = spec.newestX(store.getState());
  let isInView = false;
  let isStale = false;
  const update = (): void => {
    isStale = !isInView;
    if (isStale) return;
    drawnX = spec.newestX(store.getState());
    // Drawn at once, because the cursor's place depends on the scale of the new data.
    chart.batch(() => chart.setData(stopped ?? readShown()));
    followCursor();
  };

  /** Only the chart under the pointer shares its cursor. */
  function shareCursor(source: uPlot): void {
    if (!host.matches(':hover')) return;
    const left = source.cursor.left ?? -1;
    const x = left < 0 ? undefined : source.posToVal(left, 'x');
    const cursorSeconds = x === undefined ? undefined : toSeconds(x);
    if (cursorSeconds !== watchSettings.getState().cursorSeconds) watchSettings.setState({ cursorSeconds });
  }

  function toSeconds(x: number): number | undefined {
    return spec.time ? spec.time.toSeconds(store.getState(), x) : x;
  }

  function followCursor(): void {
    if (host.matches(':hover')) return;
    const seconds = chosenSeconds(store.getState());
    const x = seconds !== undefined && spec.time ? spec.time.toX(store.getState(), seconds) : seconds;
    const left = x === undefined ? -10 : chart.valToPos(x, 'x');
    if (left !== chart.cursor.left) chart.setCursor({ left, top: left < 0 ? -10 : 1 }, false);
    if (left < 0) showNewestInLegend(chart);
  }

  host.addEventListener('pointerleave', clearCursor);
  description.textContent = spec.describe(store.getState());
  const unsubscribeData = store.subscribe((view, previous) => {
    if (view.historyRevision !== previous.historyRevision) description.textContent = spec.describe(view);
    if (spec.newestX(view) !== drawnX && !isPaused()) turns.request(update);
  });
  const unsubscribeSettings = watchSettings.subscribe((settings, previous) => {
    const hasMoved =
      settings.cursorSeconds !== previous.cursorSeconds || settings.secondsAgo !== previous.secondsAgo;
    if (hasMoved) followCursor();
    const hasTurned = settings.pausedAtSeconds !== previous.pausedAtSeconds;
    if (hasTurned) stopped = isPaused() ? readShown() : undefined;
    if (hasTurned || settings.windowSeconds !== previous.windowSeconds) update();
  });
  const releases = [
    unsubscribeData,
    unsubscribeSettings,
    observeSize(host, () => chart.setSize(sizeOf(host))),
    observeVisibility(host, (isVisible) => {
      isInView = isVisible;
      if (isInView && isStale) update();
    }),
    onThemeChange(() => chart.redraw(false)),
  ];

  return () => {
    host.removeEventListener('pointerleave', clearCursor);
    for (const release of releases) release();
    turns.cancel(update);
    chart.destroy();
  };
}

function isPaused(): boolean {
  return watchSettings.getState().pausedAtSeconds !== undefined;
}

/** The moment whose values all charts show, on this tab's clock; undefined for the newest. */
function chosenSeconds({ history }: ServeView): number | undefined {
  const { cursorSeconds, secondsAgo, pausedAtSeconds } = watchSettings.getState();
  if (cursorSeconds !== undefined || secondsAgo === 0) return cursorSeconds;
  const untilMs = (pausedAtSeconds ?? Infinity) * 1000;
  const newest = history.samples.findLast(({ atMs }) => atMs <= untilMs);
  const newestSeconds = newest ? newest.atMs / 1000 : pausedAtSeconds;
  return newestSeconds === undefined ? undefined : newestSeconds - secondsAgo;
}

function clearCursor(): void {
  watchSettings.setState({ cursorSeconds: undefined });
}

/** The plot fills its host above the legend, whose height CSS reserves as `--legend-height`. */
function sizeOf(host: HTMLElement): { width: number; height: number } {
  const legendHeight = Number.parseFloat(getComputedStyle(host).getPropertyValue('--legend-height'));
  return { width: host.clientWidth, height: host.clientHeight - legendHeight };
}

/** Without a pointer on the chart, its legend shows the newest values. */
function showNewestInLegend(chart: uPlot): void {
  const isHovered = (chart.cursor.left ?? -1) >= 0;
  const newest = chart.data[0].length - 1;
  if (!isHovered && newest >= 0) chart.setLegend({ idx: newest }, false);
}
