import { createStore } from 'zustand/vanilla';

import type { RequestId } from '../../../client/index.ts';
import type { Run } from '../../state/run.ts';

/** The last run, shown again slowly or step by step. */
export interface Replay {
  readonly run: Run;
  /** How far it is, on this tab's clock. */
  readonly atMs: number;
  readonly isPlaying: boolean;
  /** Plays by itself: it has no controls. */
  readonly isUnattended?: boolean;
}

/** The axis at the time of a pause. A newer run doesn't replace it. */
export interface PausedAxis {
  /** Undefined before the first one. */
  readonly run: Run | undefined;
  /** On this tab's clock. */
  readonly endMs: number;
}

/** A part of a run's time axis, on this tab's clock. */
export interface Zoom {
  /** The start of the run. */
  readonly originMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

export interface WatchSettings {
  /** The longest time that the axes show. */
  readonly windowSeconds: number;
  /** The axis on which the charts stand still. Recording goes on. */
  readonly paused: PausedAxis | undefined;
  /** The moment under the pointer, on this tab's clock. All charts and the slots show it. */
  readonly cursorSeconds: number | undefined;
  /** The moment chosen by the keyboard, counted back from the newest values; 0 is none. The pointer takes precedence. */
  readonly secondsAgo: number;
  readonly replay: Replay | undefined;
  /** The part of the axis that all charts and the slots show; all of it where undefined. */
  readonly zoom: Zoom | undefined;
  readonly tracedId: RequestId | undefined;
  /** The requests under the pointer or the focus, highlighted in charts, slots and texts. */
  readonly highlightedIds: ReadonlySet<RequestId>;
}

const NONE: ReadonlySet<RequestId> = new Set();

/** The choices of `windowSeconds`. */
export const WINDOW_SECONDS = [10, 60, 300] as const;

export const watchSettings = createStore<WatchSettings>(() => ({
  windowSeconds: 10,
  paused: undefined,
  cursorSeconds: undefined,
  secondsAgo: 0,
  replay: undefined,
  zoom: undefined,
  tracedId: undefined,
  highlightedIds: NONE,
}));

export function highlightRequests(ids: Iterable<RequestId> = NONE): void {
  const highlightedIds = new Set(ids);
  const known = watchSettings.getState().highlightedIds;
  if (highlightedIds.size === known.size && [...highlightedIds].every((id) => known.has(id))) return;
  watchSettings.setState({ highlightedIds });
}
