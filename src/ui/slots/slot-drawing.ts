import { canvasFrames, frames } from '../drawing/frame-scheduler.ts';
import { hasMotion } from '../drawing/motion.ts';
import { observeSize, observeVisibility } from '../drawing/observe.ts';
import { latestRun } from '../state/run.ts';
import { recordedView, type ServeStore, type ServeView } from '../state/serve-store.ts';
import { onThemeChange } from '../theme/theme.ts';
import { chosenMs, timeSpanOf, type TimeSpan } from '../watch/time-span.ts';
import { watchSettings, type WatchSettings } from '../watch/watch-settings.ts';
import { sendersOf, type Sender } from './describe-bar.ts';
import { drawBars, drawText, textsOf, type SlotScene } from './draw-slots.ts';
import { policyBands } from './policy-bands.ts';
import { numLanesOf, placeBars, xOf, type TimeWindow } from './slot-layout.ts';
import { LEAD_MS, slide, withLead } from './slot-motion.ts';
import { SlotPointer } from './slot-pointer.ts';

interface SlotElements {
  /** Has the place of the timeline; the others lie in it. */
  readonly field: HTMLElement;
  /** Slides while time goes on. */
  readonly bars: HTMLCanvasElement;
  /** Names and times, which stand still unless the bars slide. */
  readonly texts: HTMLCanvasElement;
  /** A line at the chosen moment. */
  readonly cursor: HTMLElement;
  /** Describes the bar under the pointer. */
  readonly readout: HTMLElement;
}

const DRAWN_SETTINGS = ['pausedAtSeconds', 'windowSeconds', 'tracedId', 'highlightedIds', 'replay'] as const;

/**
 * Draws the timeline outside React. Bars are drawn while messages come; in between, the compositor moves those of an axis that slides
 * at the rate of the display, without the main thread.
 */
export class SlotDrawing {
  readonly #elements: SlotElements;
  readonly #store: ServeStore;
  readonly #onSenders: (senders: readonly Sender[]) => void;
  readonly #bars: CanvasRenderingContext2D;
  readonly #texts: CanvasRenderingContext2D;
  readonly #pointer: SlotPointer;
  readonly #releases: readonly (() => void)[];
  #scene: SlotScene | undefined;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #motion: Animation | undefined;
  #isInView = true;
  // Kept, because reading them in each frame would force a layout.
  #width = 0;
  #height = 0;

  constructor(elements: SlotElements, store: ServeStore, onSenders: (senders: readonly Sender[]) => void) {
    const { field, bars, texts } = elements;
    this.#elements = elements;
    this.#store = store;
    this.#onSenders = onSenders;
    this.#bars = contextOf(bars);
    this.#texts = contextOf(texts);
    this.#pointer = new SlotPointer(elements, this);
    this.#resize();
    this.#releases = [
      store.subscribe((view, previous) => this.#onChange(view, previous)),
      watchSettings.subscribe((settings, previous) => this.#onSettings(settings, previous)),
      onThemeChange(() => this.#drawSoon()),
      observeSize(field, () => this.#resize()),
      observeVisibility(field, (isVisible) => this.#show(isVisible)),
    ];
  }

  release(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    canvasFrames.cancel(this.#drawLast);
    frames.cancel(this.#draw);
    this.#motion?.cancel();
    for (const release of this.#releases) release();
    this.#pointer.release();
  }

  get span(): TimeSpan {
    return timeSpanOf(recordedView(this.#store));
  }

  /** Undefined until the first drawing. */
  get scene(): SlotScene | undefined {
    return this.#scene;
  }

  get width(): number {
    return this.#width;
  }

  #onChange(view: ServeView, previous: ServeView): void {
    const isOtherRun = latestRun(view.runs) !== latestRun(previous.runs);
    if (isOtherRun || view.status.policy !== previous.status.policy) this.#drawSoon();
    else if (view.historyRevision !== previous.historyRevision) canvasFrames.request(this.#drawLast);
  }

  #onSettings(settings: WatchSettings, previous: WatchSettings): void {
    const hasChanged = (name: keyof WatchSettings): boolean => settings[name] !== previous[name];
    if (hasChanged('cursorSeconds') || hasChanged('secondsAgo')) this.#moveCursor();
    if (DRAWN_SETTINGS.some(hasChanged)) this.#drawSoon();
  }

  #resize(): void {
    const { field } = this.#elements;
    [this.#width, this.#height] = [field.clientWidth, field.clientHeight];
    this.#drawSoon();
  }

  #show(isVisible: boolean): void {
    this.#isInView = isVisible;
    if (isVisible) this.#drawSoon();
  }

  #drawSoon(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#draw);
  }

  /** At the end of the frame, so that its events are drawn too. */
  readonly #drawLast = (): void => frames.request(this.#draw);

  readonly #draw = (): void => {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#motion?.cancel();
    clearTimeout(this.#timer);
    const { span } = this;
    // Out of sight, motion isn't drawn.
    if (this.#width === 0 || (span.isLive && !this.#isInView)) return;
    const window = { ...span, width: this.#width };
    // While the axis grows, it is drawn as often as those of the charts are; from there on it slides.
    const isSliding = span.isLive && span.startMs > span.originMs && hasMotion(this.#store.getState());
    const drawn = isSliding ? withLead(window) : window;
    this.#scene = this.#sceneOf(drawn, span.originMs);
    this.#paint(this.#scene, isSliding);
    if (isSliding) this.#motion = slide(this.#elements.bars, window, drawn, () => this.#drawSoon());
    else if (span.isLive) this.#timer = setTimeout(() => canvasFrames.request(this.#drawLast), LEAD_MS);
    this.#onSenders(sendersOf(this.#scene.placed.map(({ bar }) => bar)));
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
      // Before the first run, the axis stands for no time.
      bands: policyBands(latestRun(runs) ? history.policies : history.policies.slice(-1), window),
      placed,
      gaps: history.slots.gaps,
      outlinedIds: tracedId === undefined ? highlightedIds : new Set([...highlightedIds, tracedId]),
      isDimmed: placed.some(({ bar }) => highlightedIds.has(bar.requestId)),
      hasHead: replay !== undefined,
    };
  }

  #paint(scene: SlotScene, isSliding: boolean): void {
    const { width } = scene.window;
    this.#elements.bars.style.width = `${width}px`;
    clearCanvas(this.#bars, width, this.#height);
    clearCanvas(this.#texts, this.#width, this.#height);
    drawBars(this.#bars, scene);
    for (const text of textsOf(scene)) drawText(isSliding && !text.isSticky ? this.#bars : this.#texts, text);
  }

  #moveCursor(): void {
    const { span } = this;
    const { cursor } = this.#elements;
    const atMs = chosenMs(span);
    const x = atMs === undefined ? -1 : xOf({ ...span, width: this.#width }, atMs);
    cursor.hidden = x < 0 || x > this.#width;
    cursor.style.transform = `translateX(${Math.round(x)}px)`;
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
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
}
