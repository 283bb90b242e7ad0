import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { canvasFrames, frames } from '../../drawing/frame-scheduler.ts';
import { observeSize, observeVisibility } from '../../browser/observe.ts';
import { isOtherRun, type Run } from '../../state/run.ts';
import { recordedView, type ServeStore, type ServeView } from '../../state/serve-store.ts';
import { onThemeChange } from '../../browser/theme.ts';
import type { ChartHead } from './chart-head.ts';
import { READ_ONLY_CURSOR, toX, type ChartSpec, type Scene, type ChartColumns } from './chart-spec.ts';
import { specOf } from './charts.ts';
import { encoderSpanOf } from './encoder-run.ts';
import { followDrag } from './range-drag.ts';
import { sharedAxis, type Plot } from './shared-axis.ts';
import { chosenMs } from './time-span.ts';
import { highlightRequests, watchSettings, type WatchSettings } from './watch-settings.ts';
import type { Cell } from '../../state/chart-history.ts';
import { formatSeconds } from './slot-axis.ts';

interface ChartElements {
  readonly host: HTMLElement;
  /** Has an element for the value of each line. */
  readonly readout: HTMLElement;
  /** For screen readers. */
  readonly description: HTMLElement;
}

/** One of the further charts in each frame, so that typing and scrolling stay smooth. */
const chartFrames = frames.paced({ numPerFrame: 1 });
const OFF = -10;

/** Draws a chart into its host and keeps it, its values and its description current, outside React. */
export class ChartDrawing {
  readonly #host: HTMLElement;
  readonly #description: HTMLElement;
  readonly #store: ServeStore;
  readonly #spec: ChartSpec;
  readonly #chart: uPlot;
  readonly #showValues: ReturnType<typeof createReadout>;
  readonly #releases: readonly (() => void)[];
  #scene: Scene;
  #isInView = false;
  #isStale = false;
  /** The scale of a replay. */
  #fixed: { readonly run: Run; readonly min: number; readonly max: number } | undefined;

  constructor({ host, readout, description }: ChartElements, head: ChartHead, store: ServeStore) {
    this.#host = host;
    this.#description = description;
    this.#store = store;
    this.#spec = specOf(head);
    this.#scene = this.#readScene(host.clientWidth);
    this.#chart = this.#createChart();
    this.#showValues = createReadout(readout, this.#chart.over.querySelector('.u-cursor-x'), this.#spec);
    this.#followCursor();
    this.#describe();
    host.addEventListener('pointerleave', this.#leave);
    this.#releases = [
      store.subscribe((view, previous) => this.#onChange(view, previous)),
      ...(this.#followsRun
        ? [sharedAxis.join(this.#draw), followDrag(host, store, () => plotOfChart(this.#chart))]
        : []),
      watchSettings.subscribe((settings, previous) => this.#onSettings(settings, previous)),
      observeSize(host, () => this.#resize()),
      observeVisibility(host, (isVisible) => this.#show(isVisible)),
      onThemeChange(() => this.#chart.redraw(false)),
    ];
  }

  release(): void {
    if (this.#host.matches(':hover')) this.#leave();
    this.#host.removeEventListener('pointerleave', this.#leave);
    for (const release of this.#releases) release();
    canvasFrames.cancel(this.#draw);
    chartFrames.cancel(this.#update);
    this.#chart.destroy();
  }

  #createChart(): uPlot {
    const { hooks, ...options } = this.#spec.createOptions(() => this.#scene);
    return new uPlot(
      {
        ...options,
        ...sizeOf(this.#host),
        legend: { show: false },
        cursor: READ_ONLY_CURSOR,
        hooks: { ...hooks, setCursor: [(chart) => this.#shareCursor(chart)] },
      },
      this.#scene.columns,
      this.#host,
    );
  }

  #readScene(width: number, isWhole = false): Scene {
    const view = recordedView(this.#store);
    const { deployment } = this.#spec.head;
    const shown = deployment === undefined ? sharedAxis.spanOf(view) : encoderSpanOf(view, deployment);
    const span = isWhole ? { ...shown, untilMs: shown.endMs } : shown;
    return { view, span, columns: this.#spec.read(view, span, Math.max(1, width)) };
  }

  #onChange(view: ServeView, previous: ServeView): void {
    if (!this.#followsRun) {
      if (view.batches !== previous.batches) canvasFrames.request(this.#draw);
    } else if (isOtherRun(view, previous)) sharedAxis.requestSoon();
    else if (view.historyRevision !== previous.historyRevision) sharedAxis.request();
  }

  #onSettings(settings: WatchSettings, previous: WatchSettings): void {
    const hasChanged = (name: keyof WatchSettings): boolean => settings[name] !== previous[name];
    if (this.#isInView && (hasChanged('cursorSeconds') || hasChanged('secondsAgo'))) this.#followCursor();
    if (this.#spec.showsHighlights && this.#isInView && hasChanged('highlightedIds'))
      this.#chart.redraw(false);
  }

  readonly #draw = (): void => {
    this.#describe();
    if (this.#spec.isAboveSlots) this.#update();
    else chartFrames.request(this.#update);
  };

  /** Only the text generator's run has the shared axis, and can be paused, zoomed and replayed. */
  get #followsRun(): boolean {
    return this.#spec.head.deployment === undefined;
  }

  readonly #update = (): void => {
    this.#isStale = !this.#isInView;
    if (this.#isStale) return;
    if (this.#followsRun) this.#fixScale();
    const chart = this.#chart;
    this.#scene = this.#readScene(chart.width);
    // Drawn at once, because the cursor's place depends on the scale of the new data.
    chart.batch(() => {
      chart.setData(this.#scene.columns);
      // A copy: a chart without values widens what it gets.
      if (this.#fixed) chart.setScale('y', { ...this.#fixed });
    });
    this.#followCursor();
  };

  /** In a replay, the scale is that of the whole run from its start on. */
  #fixScale(): void {
    const { replay } = watchSettings.getState();
    if (replay?.run === this.#fixed?.run) return;
    this.#fixed = undefined;
    if (!replay) return;
    const chart = this.#chart;
    this.#scene = this.#readScene(chart.width, true);
    chart.batch(() => chart.setData(this.#scene.columns));
    const { min = 0, max = 1 } = chart.scales['y'] ?? {};
    this.#fixed = { run: replay.run, min, max };
  }

  #describe(): void {
    this.#description.textContent = this.#spec.describe(recordedView(this.#store));
  }

  #resize(): void {
    this.#chart.setSize(sizeOf(this.#host));
    this.#update();
  }

  #show(isVisible: boolean): void {
    this.#isInView = isVisible;
    if (isVisible && this.#isStale) this.#update();
  }

  /** Only the chart under the pointer shares its cursor. */
  #shareCursor(chart: uPlot): void {
    if (!this.#host.matches(':hover')) return;
    const { left = OFF } = chart.cursor;
    const { columns, span } = this.#scene;
    const x = left < 0 ? undefined : chart.posToVal(left, 'x');
    const atMs = x === undefined ? undefined : span.originMs + x * 1000;
    this.#showValues(columns, x);
    const cursorSeconds = atMs === undefined ? undefined : atMs / 1000;
    if (cursorSeconds !== watchSettings.getState().cursorSeconds) watchSettings.setState({ cursorSeconds });
    if (!this.#spec.highlightsRequests) return;
    const isDrawn = atMs !== undefined && atMs <= span.untilMs;
    highlightRequests(isDrawn ? this.#store.history.slots.requestsAt(atMs) : []);
  }

  #followCursor(): void {
    if (this.#host.matches(':hover')) return;
    const chart = this.#chart;
    const { columns, span } = this.#scene;
    const atMs = chosenMs(span);
    const x = atMs === undefined ? undefined : toX(atMs, span);
    const left = x === undefined ? OFF : chart.valToPos(x, 'x');
    // Reading the width of an element would force a layout.
    const isOnPlot = left >= 0 && left <= chart.bbox.width / devicePixelRatio;
    const shown = isOnPlot ? left : OFF;
    if (shown !== chart.cursor.left) chart.setCursor({ left: shown, top: isOnPlot ? 1 : OFF }, false);
    const { valueOfRun } = this.#spec;
    if (isOnPlot || span.isLive || !valueOfRun) this.#showValues(columns, isOnPlot ? x : undefined);
    else this.#showValues(columns, undefined, (line) => valueOfRun(columns, line, this.#scene.view));
  }

  readonly #leave = (): void => {
    watchSettings.setState({ cursorSeconds: undefined });
    if (this.#spec.highlightsRequests) highlightRequests();
  };
}

function sizeOf(host: HTMLElement): { width: number; height: number } {
  return { width: host.clientWidth, height: host.clientHeight };
}

function plotOfChart({ bbox: { left, width } }: uPlot): Plot {
  return { left: left / devicePixelRatio, width: width / devicePixelRatio };
}

/** Writes the values at a time, or the newest ones, into the elements that React has rendered, and the time at the crosshair. */
function createReadout(
  host: HTMLElement,
  crosshair: Element | null,
  { format, valueAt }: Pick<ChartSpec, 'format' | 'valueAt'>,
): (columns: ChartColumns, x: number | undefined, valueOf?: (line: number) => Cell) => void {
  const time = crosshair?.appendChild(document.createElement('span'));
  if (time) time.className = 'crosshair-time';
  const values = [...host.querySelectorAll('.readout-value')];
  return (columns, x, valueOf = (line) => valueAt(columns, line, x)) => {
    if (time && x !== undefined) write(time, formatSeconds(x));
    for (const [line, element] of values.entries()) write(element, format(valueOf(line)));
  };
}

function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
