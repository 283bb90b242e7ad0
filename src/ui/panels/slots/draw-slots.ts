import type { RequestId } from '../../../client/index.ts';
import { drawHatch } from '../../drawing/hatch.ts';
import type { WorkerGap } from '../../state/slot-history.ts';
import { resolvedColor } from '../../drawing/resolved-color.ts';
import type { PolicyBand } from './policy-bands.ts';
import { TICK_DISTANCE, ticksBetween } from '../watch/slot-axis.ts';
import { xOf, type PlacedBar, type TimeWindow } from './slot-layout.ts';
import { tabColor } from './tab-colors.ts';

/** The bars and all around them, in CSS pixels. */
export interface SlotScene {
  readonly window: TimeWindow;
  /** The start of the run, from which the labels count. */
  readonly originMs: number;
  readonly height: number;
  readonly numLanes: number;
  /** How far the lanes are scrolled. */
  readonly scrollTop: number;
  readonly bands: readonly PolicyBand[];
  readonly placed: readonly PlacedBar[];
  readonly gaps: readonly WorkerGap[];
  /** Their bars have an outline. */
  readonly outlinedIds: ReadonlySet<RequestId>;
  /** All other bars are pale. */
  readonly isDimmed: boolean;
  /** A line shows how far the window is drawn. */
  readonly hasHead: boolean;
}

/** A piece of text, drawn above the bars. */
interface SlotText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly maxWidth: number;
  readonly color: `--${string}`;
  readonly align: CanvasTextAlign;
  /** Belongs to a lane, and scrolls with it. */
  readonly isOfLane?: boolean;
}

/** The line above the lanes, with the names of the policies. */
export const BANDS_HEIGHT = 14;
/** The line below the lanes, with the times. */
const AXIS_HEIGHT = 16;
const WAIT_HEIGHT = 3;
const FONT = '11px system-ui, sans-serif';
const LETTER_WIDTH = 6;
const MIN_LABEL_HEIGHT = 10;
/** Around the name of a gap. */
const GAP_MARGIN = 30;
/** So that a bar has its name, with the gap below the lane; more lanes than that scroll. */
const MIN_LANE_HEIGHT = MIN_LABEL_HEIGHT + 2;
/** From the longest to the shortest. */
const GAP_NAMES = ['Handed over: another tab loads the model', 'Handed over'];

function lanesHeightOf({ height }: Pick<SlotScene, 'height'>): number {
  return Math.max(0, height - BANDS_HEIGHT - AXIS_HEIGHT);
}

type Lanes = Pick<SlotScene, 'height' | 'numLanes'>;

/** The height of a lane, with the gap below it. */
export function laneHeightOf({ height, numLanes }: Lanes): number {
  return Math.max(MIN_LANE_HEIGHT, lanesHeightOf({ height }) / numLanes);
}

/** The height of the whole timeline; more than its field where lanes scroll. */
export function heightOf(lanes: Lanes): number {
  return lanes.height - lanesHeightOf(lanes) + Math.floor(laneHeightOf(lanes) * lanes.numLanes);
}

/** The top of a lane, and its height without the gap below. Whole pixels, because edges blur in between. */
export function placeLane(
  scene: Lanes & Pick<SlotScene, 'scrollTop'>,
  lane: number,
): { readonly top: number; readonly height: number } {
  const each = laneHeightOf(scene);
  const at = (index: number): number => BANDS_HEIGHT + Math.round(index * each) - scene.scrollTop;
  return { top: at(lane), height: at(lane + 1) - at(lane) - 2 };
}

/** Draws on an empty canvas. */
export function drawSlots(context: CanvasRenderingContext2D, scene: SlotScene): void {
  const texts = textsOf(scene);
  context.save();
  clipTo(context, scene);
  drawBars(context, scene);
  for (const text of texts) if (text.isOfLane) drawText(context, text);
  context.restore();
  drawMarks(context, scene);
  for (const text of texts) if (!text.isOfLane) drawText(context, text);
}

/** To the lanes that are in view, and the plot. */
function clipTo(context: CanvasRenderingContext2D, scene: SlotScene): void {
  context.beginPath();
  context.rect(scene.window.left, BANDS_HEIGHT, scene.window.width, lanesHeightOf(scene));
  context.clip();
}

export function drawBars(context: CanvasRenderingContext2D, scene: SlotScene): void {
  drawField(context, scene);
  for (const { left, right } of placeGaps(scene))
    drawHatch(context, { left, top: BANDS_HEIGHT, width: right - left, height: lanesHeightOf(scene) });
  for (const placed of scene.placed) drawBar(context, placed, scene);
  context.globalAlpha = 1;
}

/** The starts of the policies, and how far the window is drawn. */
function drawMarks(context: CanvasRenderingContext2D, scene: SlotScene): void {
  const { window, bands, hasHead } = scene;
  context.fillStyle = resolvedColor('--rule-control');
  for (const { startMs } of bands) {
    const x = xOf(window, startMs);
    if (x > window.left) context.fillRect(Math.round(x), 0, 1, BANDS_HEIGHT + lanesHeightOf(scene));
  }
  if (!hasHead) return;
  context.fillStyle = resolvedColor('--ink');
  context.fillRect(Math.round(xOf(window, window.untilMs)) - 1, BANDS_HEIGHT, 1, lanesHeightOf(scene));
}

/** The ground of the lanes with the bands of the policies, and the grid. */
function drawField(context: CanvasRenderingContext2D, scene: SlotScene): void {
  const { bands, numLanes } = scene;
  const spans = bands.length > 0 ? bands : [{ startMs: -Infinity, endMs: Infinity, isOdd: false }];
  for (const { startMs, endMs, isOdd } of spans) {
    context.fillStyle = resolvedColor(isOdd ? '--sunken' : '--track');
    const { left, right } = withinPlot(scene, startMs, endMs);
    for (let lane = 0; lane < numLanes; lane += 1) {
      const { top, height } = placeLane(scene, lane);
      context.fillRect(left, top, right - left, height);
    }
  }
  context.fillStyle = resolvedColor('--rule');
  for (const { x } of placeTicks(scene))
    context.fillRect(Math.round(x), BANDS_HEIGHT, 1, lanesHeightOf(scene));
}

/** The part of a time that is in view. */
function withinPlot({ window }: Pick<SlotScene, 'window'>, startMs: number, endMs: number) {
  const left = Math.max(window.left, xOf(window, startMs));
  return { left, right: Math.min(window.left + window.width, xOf(window, endMs)) };
}

function drawBar(
  context: CanvasRenderingContext2D,
  { bar, waitX, startX, decodeX, endX, isCut }: PlacedBar,
  scene: SlotScene,
): void {
  const { top, height } = placeLane(scene, bar.lane);
  const isOutlined = scene.outlinedIds.has(bar.requestId);
  const alpha = scene.isDimmed && !isOutlined ? 0.35 : 1;
  const color = resolvedColor(bar.owner ? tabColor(bar.owner.sender) : '--rule-control');
  if (startX > waitX) {
    // Another sequence had the lane during the wait. A line at its bottom, set off from that one's bar, shows both.
    context.globalAlpha = 1;
    context.fillStyle = resolvedColor('--paper');
    context.fillRect(waitX, top + height - WAIT_HEIGHT - 1, startX - waitX, WAIT_HEIGHT + 1);
    context.fillStyle = color;
    context.globalAlpha = 0.7 * alpha;
    context.fillRect(waitX, top + height - WAIT_HEIGHT, startX - waitX, WAIT_HEIGHT);
  }
  context.fillStyle = color;
  context.globalAlpha = 0.45 * alpha;
  context.fillRect(startX, top, decodeX - startX, height);
  context.globalAlpha = alpha;
  context.fillRect(decodeX, top, endX - decodeX, height);
  if (!isCut && bar.end !== 'moved') {
    // Red where the sequence was cut off; else a gap before the next bar.
    const isCutOff = bar.end === 'abort' || bar.end === 'error' || bar.end === 'lost';
    const endWidth = isCutOff ? 3 : 1;
    context.fillStyle = resolvedColor(isCutOff ? '--bad' : '--paper');
    context.fillRect(endX - endWidth, top, endWidth, height);
  }
  if (!isOutlined) return;
  context.strokeStyle = resolvedColor('--ink');
  context.lineWidth = 1.5;
  context.strokeRect(startX, top, endX - startX, height);
}

/** The names of the bars and the policies, the times, and how many lanes are below. */
export function textsOf(scene: SlotScene): readonly SlotText[] {
  return [
    ...gapNames(scene),
    ...barNames(scene),
    ...policyNames(scene),
    ...axisTexts(scene),
    ...lanesBelow(scene),
  ];
}

function drawText(context: CanvasRenderingContext2D, { text, x, y, maxWidth, color, align }: SlotText): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  context.textAlign = align;
  context.fillStyle = resolvedColor(color);
  context.fillText(text, x, y, maxWidth);
}

/** The times without a worker that reach into the window. */
function placeGaps(scene: SlotScene) {
  const { untilMs } = scene.window;
  return scene.gaps.flatMap(({ startedAtMs, endedAtMs = untilMs }) => {
    const place = withinPlot(scene, startedAtMs, Math.min(endedAtMs, untilMs));
    return place.right > place.left ? [place] : [];
  });
}

function gapNames(scene: SlotScene): readonly SlotText[] {
  return placeGaps(scene).flatMap(({ left, right }) => {
    const text = GAP_NAMES.find((name) => right - left >= name.length * LETTER_WIDTH + GAP_MARGIN);
    if (text === undefined) return [];
    const [x, y] = [(left + right) / 2, BANDS_HEIGHT + lanesHeightOf(scene) / 2];
    return [{ text, x, y, maxWidth: right - left, color: '--ink', align: 'center' }];
  });
}

/** On the decode part: the prefill is too pale for text. */
function barNames(scene: SlotScene): readonly SlotText[] {
  const { window } = scene;
  return scene.placed.flatMap(({ bar, decodeX, endX, isJoined }) => {
    const { top, height } = placeLane(scene, bar.lane);
    const isCutAtStart = decodeX < window.left;
    const x = Math.max(window.left, decodeX) + 4;
    const text = bar.owner?.ordinal === undefined ? '' : `#${bar.owner.ordinal}`;
    const maxWidth = Math.min(endX, window.left + window.width) - x - 2;
    const isPale = scene.isDimmed && !scene.outlinedIds.has(bar.requestId);
    const isRoomy = height >= MIN_LABEL_HEIGHT && maxWidth >= text.length * LETTER_WIDTH;
    if (!isRoomy || text === '' || isPale || (isJoined && !isCutAtStart)) return [];
    // Above the line of a request that waits for this lane.
    const y = top + (height - WAIT_HEIGHT) / 2 + 0.5;
    return [{ text, x, y, maxWidth, color: '--on-accent', align: 'left', isOfLane: true }];
  });
}

/** Each name stands at the start of its policy, or at the left edge. */
function policyNames(scene: SlotScene): readonly SlotText[] {
  const { window, bands } = scene;
  return bands.flatMap(({ policy, startMs, endMs }) => {
    const { left, right } = withinPlot(scene, startMs, endMs);
    const x = left > window.left ? left + 4 : left;
    if (right - x < policy.length * LETTER_WIDTH) return [];
    return [
      { text: policy, x, y: BANDS_HEIGHT / 2 - 1, maxWidth: right - x, color: '--ink-2', align: 'left' },
    ];
  });
}

/** Inside the canvas. */
function axisTexts(scene: SlotScene): readonly SlotText[] {
  const { left, width } = scene.window;
  return placeTicks(scene).map(({ label, x }) => {
    const half = label.length * (LETTER_WIDTH / 2);
    const align = x < half ? 'left' : left === 0 && x > width - half ? 'right' : 'center';
    const y = scene.height - AXIS_HEIGHT / 2 + 1;
    return { text: label, x, y, maxWidth: TICK_DISTANCE, color: '--ink-2', align };
  });
}

/** Beside the lowest lane in view; a scroll bar may be hidden. */
function lanesBelow(scene: SlotScene): readonly SlotText[] {
  const numBelow = Math.round((heightOf(scene) - scene.height - scene.scrollTop) / laneHeightOf(scene));
  const { left } = scene.window;
  if (numBelow <= 0 || left === 0) return [];
  const y = scene.height - AXIS_HEIGHT - MIN_LABEL_HEIGHT / 2;
  return [{ text: `+${numBelow}`, x: left - 4, y, maxWidth: left, color: '--ink-2', align: 'right' }];
}

function placeTicks({ window, originMs }: Pick<SlotScene, 'window' | 'originMs'>) {
  const { startMs, endMs, width } = window;
  return ticksBetween((startMs - originMs) / 1000, (endMs - originMs) / 1000, width / TICK_DISTANCE).map(
    ({ seconds, label }) => ({ label, x: xOf(window, originMs + seconds * 1000) }),
  );
}
