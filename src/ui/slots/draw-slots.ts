import type { RequestId } from '../../worker/protocol/ids.ts';
import { resolvedColor } from '../theme/resolved-color.ts';
import type { PlacedBar, TimeWindow } from './slot-layout.ts';
import { tabColor } from './tab-colors.ts';

interface LanesScene {
  readonly window: TimeWindow;
  readonly numLanes: number;
  readonly laneHeight: number;
  /** Whether the right edge is now. If not, it is the end of the last sequence. */
  readonly isLive: boolean;
}

interface BarsScene {
  readonly placed: readonly PlacedBar[];
  readonly laneHeight: number;
  /** Its bars are marked. */
  readonly tracedId: RequestId | undefined;
}

export const AXIS_HEIGHT = 18;
const GAP = 3;
const WAIT_HEIGHT = 3;
const FONT = '11px system-ui, sans-serif';
/** The width of a short name. */
const MIN_LABEL_WIDTH = 26;
const MIN_LABEL_HEIGHT = 11;

/** Draws in CSS pixels on an empty canvas, as `drawBars` does. */
export function drawLanes(context: CanvasRenderingContext2D, scene: LanesScene): void {
  const { window, numLanes: lanes, laneHeight } = scene;
  context.font = FONT;
  drawAxis(context, scene, AXIS_HEIGHT + lanes * laneHeight);
  context.fillStyle = resolvedColor('--sunken');
  for (let lane = 0; lane < lanes; lane += 1) {
    context.fillRect(0, AXIS_HEIGHT + lane * laneHeight + GAP / 2, window.width, laneHeight - GAP);
  }
}

export function drawBars(context: CanvasRenderingContext2D, scene: BarsScene): void {
  context.font = FONT;
  for (const bar of scene.placed) drawBar(context, bar, scene);
}

function drawBar(
  context: CanvasRenderingContext2D,
  { bar, waitX, startX, decodeX, endX }: PlacedBar,
  { laneHeight, tracedId }: BarsScene,
): void {
  const top = AXIS_HEIGHT + bar.slot * laneHeight + GAP / 2;
  const height = laneHeight - GAP;
  const tab = resolvedColor(bar.owner ? tabColor(bar.owner.clientId) : '--rule-control');
  // Another sequence had the slot during the wait. A line at the bottom of the lane, set off from its bar, shows both.
  context.fillStyle = resolvedColor('--surface');
  context.fillRect(waitX, top + height - WAIT_HEIGHT - 1, startX - waitX, WAIT_HEIGHT + 1);
  context.fillStyle = tab;
  context.globalAlpha = 0.7;
  context.fillRect(waitX, top + height - WAIT_HEIGHT, startX - waitX, WAIT_HEIGHT);
  context.globalAlpha = 0.45;
  context.fillRect(startX, top, decodeX - startX, height);
  context.globalAlpha = 1;
  context.fillRect(decodeX, top, endX - decodeX, height);
  if (bar.end !== undefined) {
    // Red where the sequence was cut off; else a gap before the next bar.
    const isCutOff = bar.end === 'abort' || bar.end === 'error';
    const endWidth = isCutOff ? 3 : 1;
    context.fillStyle = resolvedColor(isCutOff ? '--bad' : '--surface');
    context.fillRect(endX - endWidth, top, endWidth, height);
  }
  if (bar.requestId === tracedId) {
    context.strokeStyle = resolvedColor('--ink');
    context.lineWidth = 2;
    context.strokeRect(startX, top, endX - startX, height);
  }
  // On the decode part: the prefill is too pale for text.
  const labelX = Math.max(0, decodeX);
  const ordinal = bar.owner?.ordinal;
  if (height < MIN_LABEL_HEIGHT || endX - labelX < MIN_LABEL_WIDTH || ordinal === undefined) return;
  context.fillStyle = resolvedColor('--on-accent');
  context.textBaseline = 'middle';
  context.fillText(`#${ordinal}`, labelX + 5, top + height / 2 + 0.5, endX - labelX - 6);
}

/** Seconds before the end of the window. */
function drawAxis(
  context: CanvasRenderingContext2D,
  { window: { width, durationMs }, isLive }: LanesScene,
  height: number,
): void {
  const numParts = 5;
  context.textBaseline = 'middle';
  for (let part = 0; part <= numParts; part += 1) {
    const x = Math.round((part / numParts) * width);
    const seconds = (durationMs / 1000) * (1 - part / numParts);
    context.fillStyle = resolvedColor('--rule');
    context.fillRect(Math.min(x, width - 1), AXIS_HEIGHT - 4, 1, height);
    context.fillStyle = resolvedColor('--ink-2');
    context.textAlign = part === 0 ? 'left' : part === numParts ? 'right' : 'center';
    context.fillText(
      seconds === 0 ? (isLive ? 'now' : 'last end') : `-${Number(seconds.toFixed(1))} s`,
      x,
      AXIS_HEIGHT / 2 - 2,
    );
  }
  context.textAlign = 'left';
}
