import { latestRun } from '../../state/run.ts';
import { stepsBetween } from '../../state/run-summary.ts';
import type { RecordedView, ServeStore, ServeView } from '../../state/serve-store.ts';
import { watchSettings, type Replay } from '../watch/watch-settings.ts';
import { replayableRun, type Shown } from './replayable-run.ts';

/** The share of real time, unless said otherwise. */
const SPEED = 0.1;
/** Between two pictures of a replay that plays. */
const MIN_INTERVAL_MS = 50;
/** The browser draws no frames of a hidden page: that time is left out. */
const MAX_INTERVAL_MS = 200;

export function startReplay(view: Shown, isPlaying: boolean): void {
  const run = replayableRun(view);
  if (!run) return;
  // The message about the last step may come after the text.
  const endedAtMs = Math.max(run.endedAtMs ?? 0, view.history.slots.lastEndedAtMs);
  watchSettings.setState({
    replay: { run: { ...run, endedAtMs }, atMs: run.startedAtMs, isPlaying },
    paused: undefined,
    secondsAgo: 0,
  });
}

export function closeReplay(): void {
  watchSettings.setState({ replay: undefined });
}

/** When each forward pass of the run ended. */
export function stepEndsOf(
  { startedAtMs, endedAtMs = Infinity }: Replay['run'],
  { history }: Pick<RecordedView, 'history'>,
): readonly number[] {
  return stepsBetween(history.slots.steps, startedAtMs, endedAtMs).map((step) => step.endedAtMs);
}

/** How many forward passes have ended by then. */
export function positionOf(stepEnds: readonly number[], atMs: number): number {
  return stepEnds.findLastIndex((endMs) => endMs <= atMs) + 1;
}

/** The moment after this many forward passes. */
export function withPosition(replay: Replay, stepEnds: readonly number[], position: number): Replay {
  const last = Math.min(position, stepEnds.length) - 1;
  return { ...replay, atMs: stepEnds[last] ?? replay.run.startedAtMs, isPlaying: false };
}

/** The moment after this much of the viewer's time. It ends with the run. */
export function played(replay: Replay, elapsedMs: number, speed = SPEED): Replay {
  const { endedAtMs = replay.atMs } = replay.run;
  const atMs = Math.min(endedAtMs, replay.atMs + Math.min(elapsedMs, MAX_INTERVAL_MS) * speed);
  return { ...replay, atMs, isPlaying: atMs < endedAtMs };
}

/** Plays or pauses; at the end, it begins again. */
export function toggled(replay: Replay): Replay {
  const isOver = replay.atMs >= (replay.run.endedAtMs ?? Infinity);
  return { ...replay, isPlaying: !replay.isPlaying, atMs: isOver ? replay.run.startedAtMs : replay.atMs };
}

export function changeReplay(change: (replay: Replay) => Replay): void {
  watchSettings.setState(({ replay }) => ({ replay: replay && change(replay) }));
}

/** Moves the replay at the rate of the display, though not faster than it can be drawn; returns the release. */
export function playFrames(speed?: number): () => void {
  let movedAtMs = performance.now();
  const move = (nowMs: number): void => {
    frame = requestAnimationFrame(move);
    const elapsedMs = nowMs - movedAtMs;
    if (elapsedMs < MIN_INTERVAL_MS) return;
    movedAtMs = nowMs;
    changeReplay((replay) => played(replay, elapsedMs, speed));
  };
  let frame = requestAnimationFrame(move);
  return () => cancelAnimationFrame(frame);
}

/** Closes the replay when a new run begins; returns the release. */
export function closeOnNewRun(store: ServeStore): () => void {
  closeIfSucceeded(store.getState());
  return store.subscribe(closeIfSucceeded);
}

function closeIfSucceeded({ runs }: Pick<ServeView, 'runs'>): void {
  const { replay } = watchSettings.getState();
  if (replay && isSucceeded(replay, latestRun(runs))) closeReplay();
}

/** Whether a run began after the one that is shown again. */
export function isSucceeded({ run }: Pick<Replay, 'run'>, latest: Replay['run'] | undefined): boolean {
  if (!latest) return false;
  return latest.endedAtMs === undefined || latest.startedAtMs > (run.endedAtMs ?? Infinity);
}
