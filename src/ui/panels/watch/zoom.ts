import type { TimeSpan } from './time-span.ts';
import { watchSettings, type Zoom } from './watch-settings.ts';

/** The shortest time that a zoom shows, ms. */
const MIN_ZOOM_MS = 5;

export function showAll(): void {
  watchSettings.setState({ zoom: undefined });
}

/** Shows this part of the axis; all of it where nothing would be left out. */
export function zoomTo(ends: Pick<Zoom, 'startMs' | 'endMs'>, whole: TimeSpan): void {
  watchSettings.setState({ zoom: zoomWithin(ends, whole) });
}

/** The part within the axis, not shorter than `MIN_ZOOM_MS`; undefined for all of it. */
export function zoomWithin(
  { startMs, endMs }: Pick<Zoom, 'startMs' | 'endMs'>,
  whole: Pick<TimeSpan, 'startMs' | 'endMs' | 'originMs'>,
): Zoom | undefined {
  const lengthMs = Math.max(MIN_ZOOM_MS, endMs - startMs);
  if (lengthMs >= whole.endMs - whole.startMs) return undefined;
  const from = Math.min(Math.max(startMs, whole.startMs), whole.endMs - lengthMs);
  return { originMs: whole.originMs, startMs: from, endMs: from + lengthMs };
}

/** The same moment in the middle, and this many times as long. */
export function scaled({ startMs, endMs }: TimeSpan, aroundMs: number, factor: number) {
  const halfMs = ((endMs - startMs) * factor) / 2;
  return { startMs: aroundMs - halfMs, endMs: aroundMs + halfMs };
}

/** Later by a share of the length. */
export function moved({ startMs, endMs }: TimeSpan, share: number) {
  const byMs = (endMs - startMs) * share;
  return { startMs: startMs + byMs, endMs: endMs + byMs };
}
