import uPlot from 'uplot';
import type { AlignedData } from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { createDrawTurns } from '../state/draw-turns.ts';
import { readUntil } from '../state/ring-columns.ts';
import type { ServeStore, ServeView } from '../state/serve-store.ts';
import { onThemeChange } from '../theme/theme.ts';
import { toAlignedData } from './chart-spec.ts';
import type { ChartSpec } from './chart-spec.ts';
import { watchSettings } from './watch-settings.ts';

const turns = createDrawTurns(1);

/** Draws a chart into `host` and keeps it current, outside React; returns the release of all it took. */
export function mountChart(host: HTMLElement, spec: ChartSpec, store: ServeStore): () => void {
  const readShown = (): AlignedData =>
    toAlignedData(spec.read(store.getState(), watchSettings.getState().pausedAtSeconds));
  /** What was there at the pause, whatever the history has forgotten since. */
  let stopped = isPaused() ? readShown() : undefined;
  const chart = new uPlot(
    {
      ...spec.createOptions(uPlot.paths),
      ...sizeOf(host),
      // Its legend takes values from then on: a chart that comes back with its tab has some from the start.
      hooks: { ready: [showNewestInLegend], setCursor: [shareCursor] },
    },
    stopped ?? readShown(),
    host,
  );
  let drawnRevision = spec.revision(store.getState());
  let isInView = false;
  let isStale = false;
  const update = (): void => {
    isStale = !isInView;
    if (isStale) return;
    drawnRevision = spec.revision(store.getState());
    // Drawn at once: where the cursor goes depends on the scale that comes with the data.
    chart.batch(() => chart.setData(stopped ?? readShown()));
    followCursor();
  };

  /** The pointer's own chart tells the others; what they are told they keep to themselves. */
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
  const unsubscribeData = store.subscribe((view) => {
    if (spec.revision(view) !== drawnRevision && !isPaused()) turns.request(update);
  });
  const unsubscribeSettings = watchSettings.subscribe((settings, previous) => {
    const hasMoved =
      settings.cursorSeconds !== previous.cursorSeconds || settings.secondsAgo !== previous.secondsAgo;
    if (hasMoved) followCursor();
    const hasTurned = settings.pausedAtSeconds !== previous.pausedAtSeconds;
    if (hasTurned) stopped = isPaused() ? readShown() : undefined;
    if (hasTurned || settings.windowSeconds !== previous.windowSeconds) update();
  });
  const resizeObserver = new ResizeObserver(() => chart.setSize(sizeOf(host)));
  resizeObserver.observe(host);
  // A chart out of sight costs nothing.
  const visibilityObserver = new IntersectionObserver((entries) => {
    isInView = entries.some(({ isIntersecting }) => isIntersecting);
    if (isInView && isStale) update();
  });
  visibilityObserver.observe(host);
  const stopFollowingTheme = onThemeChange(() => chart.redraw(false));

  return () => {
    host.removeEventListener('pointerleave', clearCursor);
    unsubscribeData();
    turns.cancel(update);
    unsubscribeSettings();
    resizeObserver.disconnect();
    visibilityObserver.disconnect();
    stopFollowingTheme();
    chart.destroy();
  };
}

function isPaused(): boolean {
  return watchSettings.getState().pausedAtSeconds !== undefined;
}

/** The moment whose values all charts show, on this tab's clock; undefined where they show the newest. */
function chosenSeconds({ history }: ServeView): number | undefined {
  const { cursorSeconds, secondsAgo, pausedAtSeconds } = watchSettings.getState();
  if (cursorSeconds !== undefined || secondsAgo === 0) return cursorSeconds;
  const [times = []] = readUntil(history.samples, ['seconds'], pausedAtSeconds);
  const newestSeconds = times.at(-1) ?? pausedAtSeconds;
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

/** Without a pointer on it the legend reads the newest values. */
function showNewestInLegend(chart: uPlot): void {
  const isHovered = (chart.cursor.left ?? -1) >= 0;
  const newest = chart.data[0].length - 1;
  if (!isHovered && newest >= 0) chart.setLegend({ idx: newest }, false);
}
