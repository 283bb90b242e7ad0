import type { SlotBar } from '../state/slot-history.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { onThemeChange } from '../theme/on-theme-change.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { AXIS_HEIGHT, drawSlots } from './draw-slots.ts';
import { barAt, numLanes, placeBars } from './slot-layout.ts';
import type { PlacedBar } from './slot-layout.ts';
import { slotSettings } from './slot-settings.ts';
import type { TabColors } from './tab-colors.ts';

interface SlotsListener {
  readonly onHover: (bar: SlotBar | undefined) => void;
  readonly onSelect: (bar: SlotBar) => void;
}

/** All lanes together, as long as each of them can be seen: a change of policy moves nothing below them. */
export const LANES_HEIGHT = 176;
const MIN_LANE_HEIGHT = 8;
const MAX_LANE_HEIGHT = 28;

function laneHeightOf(lanes: number): number {
  return Math.min(MAX_LANE_HEIGHT, Math.max(MIN_LANE_HEIGHT, Math.floor(LANES_HEIGHT / lanes)));
}

/**
 * Draws the lanes on a canvas of their own, outside React; returns the release. Time runs while somebody holds a slot, at the
 * rate of the display, and stands still else.
 */
export function mountSlots(
  canvas: HTMLCanvasElement,
  store: ServeStore,
  tabColors: TabColors,
  { onHover, onSelect }: SlotsListener,
): () => void {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('A canvas of its own has a 2D context.');
  let placed: readonly PlacedBar[] = [];
  let frame = 0;
  let pausedAtMs: number | undefined;
  let isInView = true;
  // Kept, because asking for it in each frame would have the page laid out in each frame.
  let width = canvas.clientWidth;

  /** The time at the right edge. */
  const endOfTime = (): number => {
    const { slots } = store.getState().history;
    return pausedAtMs ?? (slots.numLive > 0 ? performance.now() : slots.lastEndedAtMs);
  };

  const draw = (): void => {
    const { history, status } = store.getState();
    const { slots } = history;
    const { windowMs, selectedKeys } = slotSettings.getState();
    if (width === 0) return;
    const window = { endMs: endOfTime(), durationMs: windowMs, width };
    placed = placeBars(slots.bars, window);
    const lanes = numLanes(placed, status.policy.maxBatchSize);
    const laneHeight = laneHeightOf(lanes);
    fitCanvas(canvas, context, width, AXIS_HEIGHT + Math.max(LANES_HEIGHT, lanes * laneHeight));
    const isLive = pausedAtMs === undefined && slots.numLive > 0;
    const scene = { placed, window, numLanes: lanes, laneHeight, isLive };
    drawSlots(context, { ...scene, marked: selectedKeys, tabColors });
  };

  const isMoving = (): boolean =>
    isInView && pausedAtMs === undefined && store.getState().history.slots.numLive > 0;

  const drawAndGoOn = (): void => {
    draw();
    frame = isMoving() ? requestAnimationFrame(drawAndGoOn) : 0;
  };
  const drawSoon = (): void => {
    if (frame === 0) frame = requestAnimationFrame(drawAndGoOn);
  };

  const barUnder = (event: PointerEvent | MouseEvent): SlotBar | undefined => {
    const lanes = numLanes(placed, store.getState().status.policy.maxBatchSize);
    return barAt(placed, event.offsetX, Math.floor((event.offsetY - AXIS_HEIGHT) / laneHeightOf(lanes)));
  };
  const hover = (event: PointerEvent): void => {
    const bar = barUnder(event);
    canvas.style.cursor = bar ? 'pointer' : '';
    onHover(bar);
  };
  const leave = (): void => onHover(undefined);
  const select = (event: MouseEvent): void => {
    const bar = barUnder(event);
    if (bar) onSelect(bar);
  };
  canvas.addEventListener('pointermove', hover);
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('click', select);

  const releases = [
    store.subscribe((view, previous) => {
      const hasNews = view.historyRevision !== previous.historyRevision;
      if (hasNews || view.status.policy !== previous.status.policy) drawSoon();
    }),
    watchSettings.subscribe(({ isPaused }) => {
      pausedAtMs = isPaused ? endOfTime() : undefined;
      drawSoon();
    }),
    slotSettings.subscribe(drawSoon),
    onThemeChange(drawSoon),
    observeWidth(canvas, (newWidth) => {
      width = newWidth;
      drawSoon();
    }),
    observeVisibility(canvas, (isVisible) => {
      isInView = isVisible;
      if (isVisible) drawSoon();
    }),
  ];
  drawSoon();

  return () => {
    cancelAnimationFrame(frame);
    canvas.removeEventListener('pointermove', hover);
    canvas.removeEventListener('pointerleave', leave);
    canvas.removeEventListener('click', select);
    for (const release of releases) release();
  };
}

/** As many pixels as the display has; setting the size clears, so only where it changed. */
function fitCanvas(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
): void {
  const scale = devicePixelRatio;
  const [scaledWidth, scaledHeight] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.style.height !== `${height}px`) canvas.style.height = `${height}px`;
  if (canvas.width !== scaledWidth || canvas.height !== scaledHeight) {
    canvas.width = scaledWidth;
    canvas.height = scaledHeight;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
}

function observeWidth(canvas: HTMLElement, onChange: (width: number) => void): () => void {
  const observer = new ResizeObserver(() => onChange(canvas.clientWidth));
  observer.observe(canvas);
  return () => observer.disconnect();
}

function observeVisibility(canvas: HTMLElement, onChange: (isVisible: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) =>
    onChange(entries.some(({ isIntersecting }) => isIntersecting)),
  );
  observer.observe(canvas);
  return () => observer.disconnect();
}
