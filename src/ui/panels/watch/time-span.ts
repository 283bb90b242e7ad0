import { watchSettings, type PausedAxis, type Zoom } from './watch-settings.ts';
import { isOver, latestRun, type Run } from '../../state/run.ts';
import type { RecordedView } from '../../state/serve-store.ts';

/** The span of the time axes, in ms on this tab's clock. All charts and the slots share it. */
export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
  /** Drawing stops here: at the end, or where a replay is. */
  readonly untilMs: number;
  /** The start of the run, where the labels count from 0. */
  readonly originMs: number;
  /** Whether the end is now and moves. */
  readonly isLive: boolean;
}

/** The shortest axis of a run that lasts: it is longer than that before its first step is reported. */
const MIN_SPAN_MS = 250;
/** The axis before the first run. */
const EMPTY_SPAN: TimeSpan = { startMs: 0, endMs: 10_000, untilMs: 0, originMs: 0, isLive: false };

type Shown = Pick<RecordedView, 'history' | 'runs' | 'requests'>;

/** The axis that a pause keeps from now on. After a run, time stands still at its end already. */
export function pausedAxisOf(view: Shown, nowMs: number = performance.now()): PausedAxis {
  const run = latestRun(view.runs);
  return { run, endMs: run ? endOf(run, view, nowMs) : 0 };
}

/** The part of the axis that the reader has chosen, or all of it. */
export function timeSpanOf(view: Shown, nowMs: number = performance.now()): TimeSpan {
  const span = wholeSpanOf(view, nowMs);
  const zoom = zoomOf(span);
  return zoom ? { ...span, ...zoom, untilMs: Math.min(span.untilMs, zoom.endMs) } : span;
}

/** The part of this axis that is shown. A zoom into an earlier run is over. */
export function zoomOf({ originMs }: Pick<TimeSpan, 'originMs'>): Zoom | undefined {
  const { zoom } = watchSettings.getState();
  return zoom?.originMs === originMs ? zoom : undefined;
}

/** The axis begins with the run and grows with it up to the chosen length; from there on it moves. At rest it has the whole run. */
export function wholeSpanOf(view: Shown, nowMs: number = performance.now()): TimeSpan {
  const { replay, paused, windowSeconds } = watchSettings.getState();
  const run = replay?.run ?? (paused ? paused.run : latestRun(view.runs));
  if (!run) return EMPTY_SPAN;
  const originMs = run.startedAtMs;
  const isLive = !replay && !paused && lasts(run, view);
  const lastMs = replay ? (run.endedAtMs ?? originMs) : (paused?.endMs ?? endOf(run, view, nowMs));
  const endMs = Math.max(lastMs, originMs + (isLive ? MIN_SPAN_MS : 1));
  const isWindow = isLive || (paused !== undefined && !replay);
  const startMs = isWindow ? Math.max(originMs, endMs - windowSeconds * 1000) : originMs;
  return { startMs, endMs, untilMs: replay?.atMs ?? lastMs, originMs, isLive };
}

/** A run whose last step isn't reported yet is over, too: its axis waits there. */
function lasts(run: Run, view: Shown): boolean {
  return run.endedAtMs === undefined && !isOver(run, view);
}

function endOf(run: Run, view: Shown, nowMs: number): number {
  if (lasts(run, view)) return nowMs;
  return run.endedAtMs ?? Math.max(run.startedAtMs, view.history.slots.steps.at(-1)?.endedAtMs ?? 0);
}

/** The moment whose values all charts and the slots show, in ms on this tab's clock; undefined for the newest. */
export function chosenMs({ untilMs }: Pick<TimeSpan, 'untilMs'>): number | undefined {
  const { cursorSeconds, secondsAgo } = watchSettings.getState();
  if (cursorSeconds !== undefined) return cursorSeconds * 1000;
  return secondsAgo === 0 ? undefined : untilMs - secondsAgo * 1000;
}
