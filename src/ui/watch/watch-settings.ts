import { createStore } from 'zustand/vanilla';

import { MAX_WINDOW_SECONDS } from '../state/chart-history.ts';

interface WatchSettings {
  /** How much of the past the charts show. */
  readonly windowSeconds: number;
  /** The charts stand still, so that they can be read; nothing is lost meanwhile. */
  readonly isPaused: boolean;
  /** Where the pointer is on whichever chart, on this tab's clock; all charts show their values there. */
  readonly cursorSeconds: number | undefined;
}

export const WINDOWS_SECONDS: readonly number[] = [15, 60, MAX_WINDOW_SECONDS];

/** What all charts have in common. */
export const watchSettings = createStore<WatchSettings>(() => ({
  windowSeconds: 60,
  isPaused: false,
  cursorSeconds: undefined,
}));
