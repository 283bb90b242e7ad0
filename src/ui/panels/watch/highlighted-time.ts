import type uPlot from 'uplot';

import { drawHatch } from '../../drawing/hatch.ts';
import type { SlotBar } from '../../state/slot-history.ts';
import { color, toX, type Scene } from './chart-spec.ts';
import { watchSettings } from './watch-settings.ts';

export function drawBehindPlot(chart: uPlot, scene: Scene): void {
  drawWorkerGaps(chart, scene);
  drawHighlightedTime(chart, scene);
}

/** The times in which no worker ran. */
function drawWorkerGaps(chart: uPlot, { view, span }: Scene): void {
  const { ctx, bbox } = chart;
  for (const { startedAtMs, endedAtMs = span.untilMs } of view.history.slots.gaps) {
    const left = leftOf(chart, startedAtMs, span);
    const width = leftOf(chart, Math.min(endedAtMs, span.untilMs), span) - left;
    drawHatch(ctx, { left, top: bbox.top, width, height: bbox.height }, devicePixelRatio);
  }
}

/** On the plot, in pixels of the canvas. */
function leftOf(chart: uPlot, atMs: number, span: Scene['span']): number {
  const { bbox } = chart;
  const left = chart.valToPos(toX(atMs, span), 'x', true);
  return Math.min(Math.max(left, bbox.left), bbox.left + bbox.width);
}

/** A tint behind the plot, with a line below it, over the time of the highlighted requests. */
function drawHighlightedTime(chart: uPlot, { view, span }: Scene): void {
  const bars = highlightedBars(view.history.slots.bars);
  if (bars.length === 0) return;
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = color('--accent')();
  const lineHeight = 2 * devicePixelRatio;
  for (const [startMs, endMs] of joinTimes(bars, span.untilMs)) {
    const [left, right] = [leftOf(chart, startMs, span), leftOf(chart, endMs, span)];
    ctx.globalAlpha = 0.12;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, bbox.top + bbox.height, right - left, lineHeight);
  }
  ctx.restore();
}

export function highlightedBars(bars: readonly SlotBar[]): readonly SlotBar[] {
  const { highlightedIds } = watchSettings.getState();
  return highlightedIds.size === 0 ? [] : bars.filter(({ requestId }) => highlightedIds.has(requestId));
}

type Times = Pick<SlotBar, 'startedAtMs' | 'endedAtMs'>;

/** The times of the bars until then. Those that overlap are one, because tints would add up. */
export function joinTimes(
  bars: readonly Times[],
  untilMs: number,
): readonly (readonly [startMs: number, endMs: number])[] {
  const joined: [number, number][] = [];
  for (const { startedAtMs, endedAtMs = untilMs } of bars.toSorted((a, b) => a.startedAtMs - b.startedAtMs)) {
    const endMs = Math.min(endedAtMs, untilMs);
    const last = joined.at(-1);
    if (last && startedAtMs <= last[1]) last[1] = Math.max(last[1], endMs);
    else if (startedAtMs < endMs) joined.push([startedAtMs, endMs]);
  }
  return joined;
}
