import type { SlotBar } from '../state/slot-history.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { observeSize, observeVisibility } from '../observe.ts';
import { onThemeChange } from '../theme/theme.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { describeBar } from './describe-bar.ts';
import { AXIS_HEIGHT, drawBars, drawLanes } from './draw-slots.ts';
import { barAt, numLanes, placeBars } from './slot-layout.ts';
import type { PlacedBar, TimeWindow } from './slot-layout.ts';

interface SlotElements {
  readonly lanes: HTMLCanvasElement;
  readonly bars: HTMLCanvasElement;
  /** Describes the bar under the pointer. */
  readonly readout: HTMLElement;
}

/** Height of all lanes while each is tall enough to see, so that a change of policy moves nothing below them. */
export const LANES_HEIGHT = 176;
const MIN_LANE_HEIGHT = 8;
const MAX_LANE_HEIGHT = 28;
/** How far beyond now running bars are drawn, ms. For this long the compositor moves them without a redraw. */
const LEAD_MS = 300;

function laneHeightOf(lanes: number): number {
  return Math.min(MAX_LANE_HEIGHT, Math.max(MIN_LANE_HEIGHT, Math.floor(LANES_HEIGHT / lanes)));
}

/**
 * Draws lanes and bars on two canvases, outside React; returns the release. Time runs while a sequence holds a slot. Bars are drawn
 * with each message; in between, the compositor moves them at the rate of the display, without the main thread.
 */
export function mountSlots(
  { lanes: laneCanvas, bars: canvas, readout }: SlotElements,
  store: ServeStore,
): () => void {
  const [laneContext, barContext] = [laneCanvas.getContext('2d'), canvas.getContext('2d')];
  if (!laneContext || !barContext) throw new Error('The canvas has no 2D context.');
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  let placed: readonly PlacedBar[] = [];
  let frame = 0;
  let motion: Animation | undefined;
  const { pausedAtSeconds: pausedBefore } = watchSettings.getState();
  let pausedAtMs = pausedBefore && pausedBefore * 1000;
  let isInView = true;
  // Kept, because reading it in each frame would force a layout.
  let width = laneCanvas.clientWidth;

  /** The time at the right edge. */
  const endOfTime = (): number => {
    const { slots } = store.getState().history;
    return pausedAtMs ?? (slots.numLive > 0 ? performance.now() : slots.lastEndedAtMs);
  };

  const draw = (): void => {
    frame = 0;
    motion?.cancel();
    const { history, status } = store.getState();
    const { slotWindowMs: windowMs, tracedId } = watchSettings.getState();
    const isLive = pausedAtMs === undefined && history.slots.numLive > 0;
    // Out of sight, motion isn't drawn.
    if (width === 0 || (isLive && !isInView)) return;
    const window = { endMs: endOfTime(), durationMs: windowMs, width };
    const leadWidth = isLive && !calm.matches ? Math.max(1, Math.round((LEAD_MS / windowMs) * width)) : 0;
    const drawn = withLead(window, leadWidth);
    placed = placeBars(history.slots.bars, drawn);
    const lanes = numLanes(placed, status.policy.maxBatchSize);
    const laneHeight = laneHeightOf(lanes);
    const height = AXIS_HEIGHT + Math.max(LANES_HEIGHT, lanes * laneHeight);
    clearCanvas(laneContext, width, height);
    drawLanes(laneContext, { window, numLanes: lanes, laneHeight, isLive });
    canvas.style.width = `${drawn.width}px`;
    clearCanvas(barContext, drawn.width, height);
    drawBars(barContext, { placed, laneHeight, tracedId });
    if (leadWidth > 0) motion = moveLeft(canvas, leadWidth, window.endMs, drawn.endMs, drawSoon);
  };

  const drawSoon = (): void => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };

  const barUnder = (event: MouseEvent): SlotBar | undefined => {
    const lanes = numLanes(placed, store.getState().status.policy.maxBatchSize);
    return barAt(placed, event.offsetX, Math.floor((event.offsetY - AXIS_HEIGHT) / laneHeightOf(lanes)));
  };
  const hover = (event: PointerEvent): void => {
    const bar = barUnder(event);
    canvas.style.cursor = bar ? 'pointer' : '';
    readout.textContent = bar ? describeBar(bar) : '';
  };
  const trace = (event: MouseEvent): void => {
    const bar = barUnder(event);
    if (bar) watchSettings.setState({ tracedId: bar.requestId });
  };
  const listening = new AbortController();
  const { signal } = listening;
  canvas.addEventListener('pointermove', hover, { signal });
  canvas.addEventListener('pointerleave', () => (readout.textContent = ''), { signal });
  canvas.addEventListener('click', trace, { signal });

  const releases = [
    store.subscribe((view, previous) => {
      const hasNews = view.historyRevision !== previous.historyRevision;
      if (hasNews || view.status.policy !== previous.status.policy) drawSoon();
    }),
    watchSettings.subscribe(({ pausedAtSeconds, slotWindowMs, tracedId }, previous) => {
      const hasTurned = pausedAtSeconds !== previous.pausedAtSeconds;
      if (hasTurned) pausedAtMs = pausedAtSeconds === undefined ? undefined : endOfTime();
      // A pointer over a chart changes settings too.
      if (hasTurned || slotWindowMs !== previous.slotWindowMs || tracedId !== previous.tracedId) drawSoon();
    }),
    onThemeChange(drawSoon),
    observeSize(laneCanvas, () => {
      width = laneCanvas.clientWidth;
      drawSoon();
    }),
    observeVisibility(laneCanvas, (isVisible) => {
      isInView = isVisible;
      if (isVisible) drawSoon();
    }),
  ];
  drawSoon();

  return () => {
    cancelAnimationFrame(frame);
    motion?.cancel();
    listening.abort();
    for (const release of releases) release();
  };
}

/** The window with so many pixels more at its end. */
function withLead({ endMs, durationMs, width }: TimeWindow, leadWidth: number): TimeWindow {
  const leadMs = (leadWidth / width) * durationMs;
  return { endMs: endMs + leadMs, durationMs: durationMs + leadMs, width: width + leadWidth };
}

/** In steps of whole device pixels, because names blur in between. */
function moveLeft(
  canvas: HTMLElement,
  distance: number,
  startMs: number,
  endMs: number,
  onEnd: () => void,
): Animation {
  const motion = canvas.animate(
    { transform: ['translateX(0)', `translateX(${-distance}px)`] },
    {
      duration: endMs - startMs,
      easing: `steps(${Math.round(distance * devicePixelRatio)})`,
      fill: 'forwards',
    },
  );
  // The time of the drawing; by default the motion would start a frame late.
  motion.startTime = startMs;
  motion.addEventListener('finish', onEnd);
  return motion;
}

/** At the display's resolution. Setting a canvas's size reallocates it, so only a new size is set. */
function clearCanvas(context: CanvasRenderingContext2D, width: number, height: number): void {
  const { canvas } = context;
  const scale = devicePixelRatio;
  const [scaledWidth, scaledHeight] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== scaledWidth || canvas.height !== scaledHeight) {
    canvas.width = scaledWidth;
    canvas.height = scaledHeight;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
}
