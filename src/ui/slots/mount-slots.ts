import { observeSize, observeVisibility } from '../parts/observe.ts';
import { onDrawFrame } from '../state/draw-clock.ts';
import { paceDrawing } from '../state/draw-pace.ts';
import { hasMotion } from '../state/motion.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { latestRun } from '../state/run.ts';
import { timeSpanOf } from '../state/time-span.ts';
import type { TimeSpan } from '../state/time-span.ts';
import { onThemeChange } from '../theme/theme.ts';
import { chosenMs } from '../watch/chosen-moment.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { sendersOf } from './describe-bar.ts';
import type { Sender } from './describe-bar.ts';
import { drawBars, drawText, textsOf } from './draw-slots.ts';
import type { SlotScene } from './draw-slots.ts';
import { followPointer } from './follow-pointer.ts';
import { policyBands } from './policy-bands.ts';
import { numLanesOf, placeBars, xOf } from './slot-layout.ts';
import { LEAD_MS, slide, withLead } from './slot-motion.ts';

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

/**
 * Draws the timeline outside React; returns the release. Bars are drawn while messages come; in between, the compositor moves those of
 * an axis that slides at the rate of the display, without the main thread.
 */
export function mountSlots(
  elements: SlotElements,
  store: ServeStore,
  onSenders: (senders: readonly Sender[]) => void,
): () => void {
  const { field, cursor } = elements;
  const bars = contextOf(elements.bars);
  const texts = contextOf(elements.texts);
  let scene: SlotScene | undefined;
  let frame = 0;
  let cancelNews: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let motion: Animation | undefined;
  let isInView = true;
  // Kept, because reading them in each frame would force a layout.
  let [width, height] = [field.clientWidth, field.clientHeight];
  const spanNow = (): TimeSpan => timeSpanOf(store.getState());

  const draw = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    motion?.cancel();
    clearTimeout(timer);
    const span = spanNow();
    // Out of sight, motion isn't drawn.
    if (width === 0 || (span.isLive && !isInView)) return;
    const { startMs, originMs } = span;
    const window = { ...span, width };
    // While the axis grows, it is drawn as often as those of the charts are; from there on it slides.
    const isSliding = span.isLive && startMs > originMs && hasMotion(store.getState());
    const drawn = isSliding ? withLead(window) : window;
    scene = sceneOf(drawn, originMs);
    elements.bars.style.width = `${drawn.width}px`;
    clearCanvas(bars, drawn.width, height);
    clearCanvas(texts, width, height);
    drawBars(bars, scene);
    for (const text of textsOf(scene)) drawText(isSliding && !text.isSticky ? bars : texts, text);
    if (isSliding) motion = slide(elements.bars, window, drawn, drawSoon);
    else if (span.isLive) timer = setTimeout(news.request, LEAD_MS);
    onSenders(sendersOf(scene.placed.map(({ bar }) => bar)));
    pointer.look();
    moveCursor();
  };

  const sceneOf = (window: SlotScene['window'], originMs: number): SlotScene => {
    const { history, runs, status } = store.getState();
    const { tracedId, markedIds, replay } = watchSettings.getState();
    const placed = placeBars(history.slots.bars, window);
    return {
      window,
      originMs,
      height,
      numLanes: numLanesOf(placed, status.policy.maxBatchSize),
      // Before the first run, the axis stands for no time.
      bands: policyBands(latestRun(runs) ? history.policies : history.policies.slice(-1), window),
      placed,
      outlinedIds: tracedId === undefined ? markedIds : new Set([...markedIds, tracedId]),
      isDimmed: placed.some(({ bar }) => markedIds.has(bar.requestId)),
      hasHead: replay !== undefined,
    };
  };

  const drawSoon = (): void => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };

  const news = paceDrawing(() => {
    cancelNews = onDrawFrame(draw);
  });

  const moveCursor = (): void => {
    const span = spanNow();
    const atMs = chosenMs(span);
    const x = atMs === undefined ? -1 : xOf({ ...span, width }, atMs);
    cursor.hidden = x < 0 || x > width;
    cursor.style.transform = `translateX(${Math.round(x)}px)`;
  };

  const pointer = followPointer(elements, {
    spanNow,
    sceneNow: () => scene,
    widthNow: () => width,
  });

  const releases = [
    store.subscribe((view, previous) => {
      const hasNews = view.historyRevision !== previous.historyRevision;
      const hasTurned = latestRun(view.runs) !== latestRun(previous.runs);
      if (hasTurned || view.status.policy !== previous.status.policy) drawSoon();
      else if (hasNews) news.request();
    }),
    watchSettings.subscribe(({ cursorSeconds, secondsAgo, ...drawn }, previous) => {
      if (cursorSeconds !== previous.cursorSeconds || secondsAgo !== previous.secondsAgo) moveCursor();
      const hasChanged =
        drawn.pausedAtSeconds !== previous.pausedAtSeconds ||
        drawn.windowSeconds !== previous.windowSeconds ||
        drawn.tracedId !== previous.tracedId ||
        drawn.markedIds !== previous.markedIds ||
        drawn.replay !== previous.replay;
      if (hasChanged) drawSoon();
    }),
    onThemeChange(drawSoon),
    observeSize(field, () => {
      [width, height] = [field.clientWidth, field.clientHeight];
      drawSoon();
    }),
    observeVisibility(field, (isVisible) => {
      isInView = isVisible;
      if (isVisible) drawSoon();
    }),
    pointer.release,
  ];
  drawSoon();

  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    news.cancel();
    cancelNews?.();
    motion?.cancel();
    for (const release of releases) release();
  };
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
