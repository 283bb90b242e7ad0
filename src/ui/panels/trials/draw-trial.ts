import type { TrialSlots } from './trial-slots.ts';
import { resolvedColor } from '../../drawing/resolved-color.ts';

interface TrialScene extends TrialSlots {
  readonly durationMs: number;
  /** The time that the whole width shows. */
  readonly spanMs: number;
  readonly numLanes: number;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

type TrialContext = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const GAP = 2;
const MIN_WIDTH = 1;
/** The room that a number needs. */
const LABEL_SIZE = 10;

/** So that a small batch fills only part of the field. */
const MIN_LANES = 8;

/** The scale that compared trials share: the time of the longest one, and the most lanes. */
export function scaleOf(trials: readonly Pick<TrialScene, 'durationMs' | 'bars'>[]) {
  const lanes = trials.flatMap(({ bars }) => bars).map(({ lane }) => lane + 1);
  return {
    spanMs: Math.max(1, ...trials.map(({ durationMs }) => durationMs)),
    numLanes: lanes.reduce((most, numLanes) => Math.max(most, numLanes), MIN_LANES),
  };
}

/** The slots of one trial: a bar for each request, pale while its prompt is read. */
export function drawTrial(context: TrialContext, scene: TrialScene): void {
  const { bars, requestIds, startedAtMs, durationMs, spanMs, numLanes, width, height } = scene;
  const laneHeight = height / numLanes;
  const barHeight = Math.max(1, laneHeight - GAP);
  const xOf = (atMs: number): number => ((atMs - startedAtMs) / spanMs) * width;
  const places = new Map(requestIds.map((id, index) => [id, index]));
  context.fillStyle = resolvedColor('--track');
  for (let lane = 0; lane < numLanes; lane += 1) context.fillRect(0, lane * laneHeight, width, barHeight);
  context.font = `${LABEL_SIZE}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  const endMs = startedAtMs + durationMs;
  for (const bar of bars) {
    const index = places.get(bar.requestId) ?? 0;
    const top = bar.lane * laneHeight;
    const startX = Math.max(0, xOf(bar.startedAtMs));
    const endX = Math.max(xOf(bar.endedAtMs ?? endMs), startX + MIN_WIDTH);
    const decodeX = bar.spanIndex > 0 ? startX : Math.min(xOf(bar.firstTokenAtMs ?? bar.startedAtMs), endX);
    // As in the slots, where colors tell tabs apart: these requests are all of this one.
    context.fillStyle = resolvedColor('--accent');
    context.globalAlpha = 0.45;
    context.fillRect(startX, top, decodeX - startX, barHeight);
    context.globalAlpha = 1;
    // A gap shows where the next request begins.
    const gap = bar.end === 'moved' ? 0 : 2;
    context.fillRect(decodeX, top, Math.max(MIN_WIDTH, endX - decodeX - gap), barHeight);
    const label = String(index + 1);
    const isRoom = barHeight >= LABEL_SIZE - 1 && endX - decodeX > context.measureText(label).width + 6;
    if (!isRoom || bar.spanIndex > 0) continue;
    context.fillStyle = resolvedColor('--on-accent');
    context.fillText(label, decodeX + 3, top + barHeight / 2 + 0.5);
  }
  if (durationMs === 0) return;
  context.fillStyle = resolvedColor('--ink');
  context.fillRect(Math.min(xOf(endMs), width - 1), 0, 1, height);
}
