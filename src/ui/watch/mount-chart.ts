import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { observeSize, observeVisibility } from '../parts/observe.ts';
import { paceDrawing } from '../state/draw-pace.ts';
import { createDrawTurns } from '../state/draw-turns.ts';
import { latestRun, type Run } from '../state/run.ts';
import type { ServeStore, ServeView } from '../state/serve-store.ts';
import { timeSpanOf } from '../state/time-span.ts';
import { onThemeChange } from '../theme/theme.ts';
import type { ChartHead } from './chart-head.ts';
import { READ_ONLY_CURSOR, toX, type Scene } from './chart-spec.ts';
import { specOf } from './charts.ts';
import { chosenMs } from './chosen-moment.ts';
import { createReadout } from './readout.ts';
import { markRequests, watchSettings } from './watch-settings.ts';

interface ChartElements {
  readonly host: HTMLElement;
  /** Has an element for the value of each line. */
  readonly readout: HTMLElement;
  /** For screen readers. */
  readonly description: HTMLElement;
}

const turns = createDrawTurns(1);
const OFF = -10;

/** Draws a chart into its host and keeps it, its values and its description current, outside React; returns the release. */
export function mountChart(
  { host, readout, description }: ChartElements,
  head: ChartHead,
  store: ServeStore,
): () => void {
  const spec = specOf(head);
  const readScene = (width: number): Scene => {
    const view = store.getState();
    const span = timeSpanOf(view);
    return { view, span, columns: spec.read(view, span, Math.max(1, width)) };
  };
  let scene = readScene(host.clientWidth);
  const { hooks, ...options } = spec.createOptions(() => scene);
  const chart = new uPlot(
    {
      ...options,
      ...sizeOf(host),
      legend: { show: false },
      cursor: READ_ONLY_CURSOR,
      hooks: { ...hooks, setCursor: [shareCursor] },
    },
    scene.columns,
    host,
  );
  const showValues = createReadout(readout, chart.over.querySelector('.u-cursor-x'), spec);
  let isInView = false;
  let isStale = false;
  let fixed: { readonly run: Run; readonly min: number; readonly max: number } | undefined;

  function update(): void {
    isStale = !isInView;
    if (isStale) return;
    fixScale();
    scene = readScene(chart.width);
    // Drawn at once, because the cursor's place depends on the scale of the new data.
    chart.batch(() => {
      chart.setData(scene.columns);
      if (fixed) chart.setScale('y', fixed);
    });
    followCursor();
  }

  /** In a replay, the scale is that of the whole run from its start on. */
  function fixScale(): void {
    const { replay } = watchSettings.getState();
    if (replay?.run === fixed?.run) return;
    fixed = undefined;
    if (!replay) return;
    const view = store.getState();
    const span = timeSpanOf(view);
    const whole = { ...span, untilMs: span.endMs };
    scene = { view, span: whole, columns: spec.read(view, whole, Math.max(1, chart.width)) };
    chart.batch(() => chart.setData(scene.columns));
    const { min = 0, max = 1 } = chart.scales['y'] ?? {};
    fixed = { run: replay.run, min, max };
  }

  /** Only the chart under the pointer shares its cursor. */
  function shareCursor({ cursor: { left = OFF } }: uPlot): void {
    if (!host.matches(':hover')) return;
    const { originMs, untilMs } = scene.span;
    const x = left < 0 ? undefined : chart.posToVal(left, 'x');
    const atMs = x === undefined ? undefined : originMs + x * 1000;
    showValues(scene.columns, x);
    const cursorSeconds = atMs === undefined ? undefined : atMs / 1000;
    if (cursorSeconds !== watchSettings.getState().cursorSeconds) watchSettings.setState({ cursorSeconds });
    if (!spec.marksRequests) return;
    const isDrawn = atMs !== undefined && atMs <= untilMs;
    markRequests(isDrawn ? store.getState().history.slots.requestsAt(atMs) : []);
  }

  function followCursor(): void {
    if (host.matches(':hover')) return;
    const atMs = chosenMs(scene.span);
    const x = atMs === undefined ? undefined : toX(atMs, scene.span);
    const left = x === undefined ? OFF : chart.valToPos(x, 'x');
    // Reading the width of an element would force a layout.
    const isOnPlot = left >= 0 && left <= chart.bbox.width / devicePixelRatio;
    const shown = isOnPlot ? left : OFF;
    if (shown !== chart.cursor.left) chart.setCursor({ left: shown, top: isOnPlot ? 1 : OFF }, false);
    showValues(scene.columns, isOnPlot ? x : undefined);
  }

  function leave(): void {
    watchSettings.setState({ cursorSeconds: undefined });
    if (spec.marksRequests) markRequests();
  }

  const news = paceDrawing(() => {
    description.textContent = spec.describe(store.getState());
    if (!isStandingStill()) turns.request(update);
  });
  followCursor();
  host.addEventListener('pointerleave', leave);
  description.textContent = spec.describe(store.getState());
  const unsubscribeData = store.subscribe((view, previous) => {
    if (view.historyRevision !== previous.historyRevision) news.request();
    if (!isStandingStill() && isOtherRun(view, previous)) turns.request(update);
  });
  const unsubscribeSettings = watchSettings.subscribe((settings, previous) => {
    const hasTurned =
      settings.pausedAtSeconds !== previous.pausedAtSeconds ||
      settings.windowSeconds !== previous.windowSeconds;
    const hasMoved =
      settings.cursorSeconds !== previous.cursorSeconds || settings.secondsAgo !== previous.secondsAgo;
    // At once, so that what comes after the pause isn't in it.
    if (hasTurned) update();
    else if (settings.replay !== previous.replay) turns.request(update);
    else if (hasMoved && isInView) followCursor();
    if (spec.showsMarks && isInView && settings.markedIds !== previous.markedIds) chart.redraw(false);
  });
  const releases = [
    unsubscribeData,
    unsubscribeSettings,
    observeSize(host, () => {
      chart.setSize(sizeOf(host));
      update();
    }),
    observeVisibility(host, (isVisible) => {
      isInView = isVisible;
      if (isInView && isStale) update();
    }),
    onThemeChange(() => chart.redraw(false)),
  ];

  return () => {
    if (host.matches(':hover')) leave();
    host.removeEventListener('pointerleave', leave);
    for (const release of releases) release();
    news.cancel();
    turns.cancel(update);
    chart.destroy();
  };
}

/** News is recorded, but not drawn. */
function isStandingStill(): boolean {
  const { pausedAtSeconds, replay } = watchSettings.getState();
  return pausedAtSeconds !== undefined || replay !== undefined;
}

/** A new run has a fresh axis, and a run that ends has an axis that stands still. */
function isOtherRun({ runs }: ServeView, { runs: previousRuns }: ServeView): boolean {
  const [run, previous] = [latestRun(runs), latestRun(previousRuns)];
  return run?.startedAtMs !== previous?.startedAtMs || run?.endedAtMs !== previous?.endedAtMs;
}

function sizeOf(host: HTMLElement): { width: number; height: number } {
  return { width: host.clientWidth, height: host.clientHeight };
}
