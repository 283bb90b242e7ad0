import type { RequestId } from '../../client/index.ts';
import { drawHatch } from '../drawing/hatch.ts';
import type { WorkerGap } from '../state/slot-history.ts';
import { resolvedColor } from '../theme/resolved-color.ts';
import type { PolicyBand } from './policy-bands.ts';
import { ticksBetween } from './slot-axis.ts';
import { xOf, type PlacedBar, type TimeWindow } from './slot-layout.ts';
import { tabColor } from './tab-colors.ts';

/** The bars and all around them, in CSS pixels. */
export interface SlotScene {
  readonly window: TimeWindow;
  /** The start of the run, from which the labels count. */
  readonly originMs: number;
  readonly height: number;
  readonly numLanes: number;
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
  /** It stays at the left edge while the bars move. */
  readonly isSticky: boolean;
}

/** The line above the lanes, with the names of the policies. */
export const BANDS_HEIGHT = 14;
/** The line below the lanes, with the times. */
const AXIS_HEIGHT = 16;
const WAIT_HEIGHT = 3;
const FONT = '11px system-ui, sans-serif';
const LETTER_WIDTH = 6;
const MIN_LABEL_HEIGHT = 10;
/** More than a bar moves before it is drawn again: a name that stays would lie on the next bar's. */
const STICKY_MARGIN = 30;
/** From the longest to the shortest. */
const GAP_NAMES = ['Handed over: another tab loads the model', 'Handed over'];
/** The least distance of two times on the axis. */
const TICK_DISTANCE = 72;

export function lanesHeightOf({ height }: Pick<SlotScene, 'height'>): number {
  return Math.max(0, height - BANDS_HEIGHT - AXIS_HEIGHT);
}

/** The top of a lane, and its height without the gap below. Whole pixels, because edges blur in between. */
export function placeLane(
  { height, numLanes }: Pick<SlotScene, 'height' | 'numLanes'>,
  lane: number,
): { readonly top: number; readonly height: number } {
  const each = lanesHeightOf({ height }) / numLanes;
  // Rounding would leave some lanes without a pixel if each has less than two.
  const at = (index: number): number => BANDS_HEIGHT + (each < 2 ? index * each : Math.round(index * each));
  const gap = each >= 6 ? 2 : each >= 3 ? 1 : 0;
  return { top: at(lane), height: at(lane + 1) - at(lane) - gap };
}

/** Draws on an empty canvas all but the texts. */
export function drawBars(context: CanvasRenderingContext2D, scene: SlotScene): void {
  drawField(context, scene);
  for (const { left, right } of placeGaps(scene))
    drawHatch(context, { left, top: BANDS_HEIGHT, width: right - left, height: lanesHeightOf(scene) });
  for (const placed of scene.placed) drawBar(context, placed, scene);
  context.globalAlpha = 1;
  if (!scene.hasHead) return;
  context.fillStyle = resolvedColor('--ink');
  const x = xOf(scene.window, scene.window.untilMs);
  context.fillRect(Math.round(x) - 1, BANDS_HEIGHT, 1, lanesHeightOf(scene));
}

/** The ground of the lanes with the bands of the policies, and the grid. */
function drawField(context: CanvasRenderingContext2D, scene: SlotScene): void {
  const { window, bands, numLanes } = scene;
  const spans = bands.length > 0 ? bands : [{ startMs: 0, endMs: Infinity, isOdd: false }];
  for (const { startMs, endMs, isOdd } of spans) {
    context.fillStyle = resolvedColor(isOdd ? '--sunken' : '--track');
    const left = Math.max(0, xOf(window, startMs));
    const right = Math.min(window.width, xOf(window, endMs));
    for (let lane = 0; lane < numLanes; lane += 1) {
      const { top, height } = placeLane(scene, lane);
      context.fillRect(left, top, right - left, height);
    }
  }
  context.fillStyle = resolvedColor('--rule');
  for (const { x } of placeTicks(scene))
    context.fillRect(Math.round(x), BANDS_HEIGHT, 1, lanesHeightOf(scene));
  context.fillStyle = resolvedColor('--rule-control');
  for (const { startMs } of bands) {
    const x = xOf(window, startMs);
    if (x > 0) context.fillRect(Math.round(x), 0, 1, BANDS_HEIGHT + lanesHeightOf(scene));
  }
}

function drawBar(
  context: CanvasRenderingContext2D,
  { bar, waitX, startX, decodeX, endX, isCut }: PlacedBar,
  scene: SlotScene,
): void {
  const { top, height } = placeLane(scene, bar.lane);
  const isOutlined = scene.outlinedIds.has(bar.requestId);
  const alpha = scene.isDimmed && !isOutlined ? 0.35 : 1;
  const color = resolvedColor(bar.owner ? tabColor(bar.owner.clientId, bar.owner.isHttp) : '--rule-control');
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

/** The names of the bars and the policies, and the times. */
export function textsOf(scene: SlotScene): readonly SlotText[] {
  return [...gapNames(scene), ...barNames(scene), ...policyNames(scene), ...axisTexts(scene)];
}

export function drawText(
  context: CanvasRenderingContext2D,
  { text, x, y, maxWidth, color, align }: SlotText,
): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  context.textAlign = align;
  context.fillStyle = resolvedColor(color);
  context.fillText(text, x, y, maxWidth);
}

/** The times without a worker that reach into the window. */
function placeGaps({ window, gaps }: SlotScene) {
  return gaps.flatMap(({ startedAtMs, endedAtMs = window.untilMs }) => {
    const left = Math.max(0, xOf(window, startedAtMs));
    const right = Math.min(window.width, xOf(window, Math.min(endedAtMs, window.untilMs)));
    return right > left ? [{ left, right }] : [];
  });
}

function gapNames(scene: SlotScene): readonly SlotText[] {
  return placeGaps(scene).flatMap(({ left, right }) => {
    const text = GAP_NAMES.find((name) => right - left >= name.length * LETTER_WIDTH + STICKY_MARGIN);
    if (text === undefined) return [];
    const [x, y] = [(left + right) / 2, BANDS_HEIGHT + lanesHeightOf(scene) / 2];
    return [{ text, x, y, maxWidth: right - left, color: '--ink', align: 'center', isSticky: false }];
  });
}

/** On the decode part: the prefill is too pale for text. */
function barNames(scene: SlotScene): readonly SlotText[] {
  return scene.placed.flatMap(({ bar, decodeX, endX, isJoined }) => {
    const { top, height } = placeLane(scene, bar.lane);
    const x = Math.max(0, decodeX) + 4;
    const text = bar.owner?.ordinal === undefined ? '' : `#${bar.owner.ordinal}`;
    const maxWidth = endX - x - 2;
    const isPale = scene.isDimmed && !scene.outlinedIds.has(bar.requestId);
    const isSticky = decodeX < 0;
    const minWidth = text.length * LETTER_WIDTH + (isSticky ? STICKY_MARGIN : 0);
    const isRoomy = height >= MIN_LABEL_HEIGHT && maxWidth >= minWidth;
    if (!isRoomy || text === '' || isPale || (isJoined && !isSticky)) return [];
    // Above the line of a request that waits for this lane.
    const y = top + Math.max(LETTER_WIDTH, (height - WAIT_HEIGHT) / 2) + 0.5;
    return [{ text, x, y, maxWidth, color: '--on-accent', align: 'left', isSticky }];
  });
}

/** Each name stands at the start of its policy, or at the left edge. */
function policyNames({ window, bands }: SlotScene): readonly SlotText[] {
  return bands.flatMap(({ policy, startMs, endMs }) => {
    const startX = xOf(window, startMs);
    const x = startX > 0 ? startX + 4 : 0;
    const maxWidth = Math.min(window.width, xOf(window, endMs)) - x;
    if (maxWidth < policy.length * LETTER_WIDTH) return [];
    const y = BANDS_HEIGHT / 2 - 1;
    return [{ text: policy, x, y, maxWidth, color: '--ink-2', align: 'left', isSticky: startX <= 0 }];
  });
}

function axisTexts(scene: SlotScene): readonly SlotText[] {
  const { window, height, originMs } = scene;
  const isMoving = window.startMs > originMs;
  return placeTicks(scene).flatMap(({ label, x }) => {
    const margin = label.length * (LETTER_WIDTH / 2);
    const isInside = x >= margin && x <= window.width - margin;
    // At the edges of an axis that stands still, the text stays inside. One that moves leaves it out there.
    const align = isInside ? 'center' : x < margin ? 'left' : 'right';
    if (isMoving && !isInside) return [];
    const y = height - AXIS_HEIGHT / 2 + 1;
    return { text: label, x, y, maxWidth: TICK_DISTANCE, color: '--ink-2', align, isSticky: false };
  });
}

function placeTicks({ window, originMs }: SlotScene) {
  const { startMs, endMs, width } = window;
  const maxSteps = Math.max(1, Math.floor(width / TICK_DISTANCE));
  return ticksBetween((startMs - originMs) / 1000, (endMs - originMs) / 1000, maxSteps).map(
    ({ seconds, label }) => ({ label, x: xOf(window, originMs + seconds * 1000) }),
  );
}
