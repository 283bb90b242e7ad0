import type { OpenTab } from '../../../client/index.ts';
import { observeSize } from '../../browser/observe.ts';
import { isOtherRun, latestRun } from '../../state/run.ts';
import type { Sender } from '../../state/sender.ts';
import { recordedView, type ServeStore, type ServeView } from '../../state/serve-store.ts';
import { onThemeChange } from '../../browser/theme.ts';
import { followDrag } from '../watch/range-drag.ts';
import { plotOf, sharedAxis, xOf } from '../watch/shared-axis.ts';
import { chosenMs, type TimeSpan, timeSpanOf, wholeSpanOf } from '../watch/time-span.ts';
import { showAll, moved, scaled, zoomTo } from '../watch/zoom.ts';
import { watchSettings, type WatchSettings } from '../watch/watch-settings.ts';
import { sendersOf } from './describe-bar.ts';
import { drawSlots, heightOf, type SlotScene } from './draw-slots.ts';
import { policyBands } from './policy-bands.ts';
import { numLanesOf, placeBars, type TimeWindow } from './slot-layout.ts';
import { formatSeconds } from '../watch/slot-axis.ts';
import { SlotPointer } from './slot-pointer.ts';

interface SlotElements {
  /** Scrolls where there are more lanes than it has room for. */
  readonly field: HTMLElement;
  /** As high as all lanes. */
  readonly lanes: HTMLElement;
  /** Stays in view. */
  readonly canvas: HTMLCanvasElement;
  /** A line at the chosen moment, with an element for its time. */
  readonly cursor: HTMLElement;
  /** Describes the bar under the pointer. */
  readonly readout: HTMLElement;
}

/** Drawn without a new span. */
const DRAWN_SETTINGS = ['tracedId', 'highlightedIds'] as const;

/** Draws the timeline outside React, with the charts above it. */
export class SlotDrawing {
  readonly #elements: SlotElements;
  readonly #store: ServeStore;
  readonly #onSenders: (senders: readonly (Sender | undefined)[]) => void;
  readonly #context: CanvasRenderingContext2D;
  readonly #pointer: SlotPointer;
  readonly #releases: readonly (() => void)[];
  #scene: SlotScene | undefined;
  #frame = 0;
  // Kept, because reading them in each frame would force a layout.
  #width = 0;
  #height = 0;
  #scrollTop = 0;

  constructor(
    elements: SlotElements,
    store: ServeStore,
    onSenders: (senders: readonly (Sender | undefined)[]) => void,
  ) {
    const { field, canvas } = elements;
    this.#elements = elements;
    this.#store = store;
    this.#onSenders = onSenders;
    this.#context = contextOf(canvas);
    this.#pointer = new SlotPointer(elements.field, elements.readout, this);
    this.#resize();
    const onScroll = (): void => {
      this.#scrollTop = field.scrollTop;
      this.#drawSoon();
    };
    field.addEventListener('scroll', onScroll);
    this.#releases = [
      store.subscribe((view, previous) => this.#onChange(view, previous)),
      watchSettings.subscribe((settings, previous) => this.#onSettings(settings, previous)),
      onThemeChange(() => this.#drawSoon()),
      observeSize(field, () => this.#resize()),
      followDrag(field, store, () => plotOf(this.#width)),
      followKeys(field, store),
      sharedAxis.join(this.#draw),
      () => field.removeEventListener('scroll', onScroll),
    ];
  }

  release(): void {
    cancelAnimationFrame(this.#frame);
    for (const release of this.#releases) release();
    this.#pointer.release();
  }

  get span(): TimeSpan {
    return sharedAxis.spanOf(recordedView(this.#store));
  }

  /** Undefined until the first drawing. */
  get scene(): SlotScene | undefined {
    return this.#scene;
  }

  get tabs(): readonly OpenTab[] {
    return this.#store.getState().status.tabs;
  }

  #onChange(view: ServeView, previous: ServeView): void {
    if (latestRun(view.runs)?.startedAtMs !== latestRun(previous.runs)?.startedAtMs) showAll();
    if (isOtherRun(view, previous) || view.status.policy !== previous.status.policy) sharedAxis.requestSoon();
    else if (view.historyRevision !== previous.historyRevision) sharedAxis.request();
  }

  #onSettings(settings: WatchSettings, previous: WatchSettings): void {
    const hasChanged = (name: keyof WatchSettings): boolean => settings[name] !== previous[name];
    if (hasChanged('cursorSeconds') || hasChanged('secondsAgo')) this.#moveCursor();
    if (DRAWN_SETTINGS.some(hasChanged)) this.#drawSoon();
  }

  #resize(): void {
    const { field } = this.#elements;
    // With the scroll bar, which lies beside the plot.
    [this.#width, this.#height] = [field.offsetWidth, field.clientHeight];
    this.#drawSoon();
  }

  /** At the moment of the last drawing, as the charts stand. */
  #drawSoon(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#draw);
  }

  readonly #draw = (): void => {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#width === 0) return;
    const { span } = this;
    const scene = this.#sceneOf({ ...span, ...plotOf(this.#width) }, span.originMs);
    this.#scene = scene;
    const { lanes } = this.#elements;
    const height = `${heightOf(scene)}px`;
    if (lanes.style.height !== height) lanes.style.height = height;
    clearCanvas(this.#context, this.#width, this.#height);
    drawSlots(this.#context, scene);
    this.#onSenders(sendersOf(scene.placed.map(({ bar }) => bar)));
    this.#pointer.update();
    this.#moveCursor();
  };

  #sceneOf(window: TimeWindow, originMs: number): SlotScene {
    const { history, runs, status } = recordedView(this.#store);
    const { tracedId, highlightedIds, replay } = watchSettings.getState();
    const placed = placeBars(history.slots.bars, window);
    return {
      window,
      originMs,
      height: this.#height,
      numLanes: numLanesOf(placed, status.policy.maxBatchSize),
      scrollTop: this.#scrollTop,
      // Before the first run, the axis stands for no time.
      bands: policyBands(latestRun(runs) ? history.policies : history.policies.slice(-1), window),
      placed,
      gaps: history.slots.gaps,
      outlinedIds: tracedId === undefined ? highlightedIds : new Set([...highlightedIds, tracedId]),
      isDimmed: placed.some(({ bar }) => highlightedIds.has(bar.requestId)),
      hasHead: replay !== undefined,
    };
  }

  #moveCursor(): void {
    const { span } = this;
    const { cursor } = this.#elements;
    const plot = plotOf(this.#width);
    const atMs = chosenMs(span);
    const x = atMs === undefined ? -1 : xOf(atMs, span, plot);
    cursor.hidden = x < plot.left || x > plot.left + plot.width;
    cursor.style.transform = `translateX(${Math.round(x)}px)`;
    const [time] = cursor.children;
    if (time && atMs !== undefined) time.textContent = formatSeconds((atMs - span.originMs) / 1000);
  }
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The canvas has no 2D context.');
  return context;
}

/** At the display's resolution. Setting a canvas's size reallocates it, so only a new size is set. */
function clearCanvas(context: CanvasRenderingContext2D, width: number, height: number): void {
  const { canvas } = context;
  const scale = devicePixelRatio;
  const [scaledWidth, scaledHeight] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== scaledWidth || canvas.height !== scaledHeight) {
    canvas.width = scaledWidth;
    canvas.height = scaledHeight;
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
}

/** Steps of the chosen moment and of the shown part, as shares of the shown time. */
const MOMENT_STEP = 0.01;
const PART_STEP = 0.25;

/** The keys of the timeline: arrows choose a moment, with Shift another part; plus and minus zoom. Returns the release. */
function followKeys(field: HTMLElement, store: ServeStore): () => void {
  const listening = new AbortController();
  field.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !act(event, store)) return;
      event.preventDefault();
    },
    { signal: listening.signal },
  );
  return () => listening.abort();
}

/** Whether the key was one of the timeline. */
function act({ key, shiftKey }: KeyboardEvent, store: ServeStore): boolean {
  const view = recordedView(store);
  const [span, whole] = [timeSpanOf(view), wholeSpanOf(view)];
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const factor = { '+': 0.5, '=': 0.5, '-': 2 }[key];
  if (direction !== undefined && shiftKey) zoomTo(moved(span, direction * PART_STEP), whole);
  else if (direction !== undefined) {
    const stepSeconds = ((span.endMs - span.startMs) / 1000) * MOMENT_STEP;
    const secondsAgo = watchSettings.getState().secondsAgo - direction * stepSeconds;
    watchSettings.setState({ secondsAgo: Math.max(0, secondsAgo) });
  } else if (factor === undefined) return false;
  else zoomTo(scaled(span, chosenMs(span) ?? (span.startMs + span.endMs) / 2, factor), whole);
  return true;
}
