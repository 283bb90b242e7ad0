import { createStore } from 'zustand/vanilla';

import { MAX_WINDOW_SECONDS } from '../state/chart-history.ts';

interface WatchSettings {
  /** How much of the past the charts show. */
  readonly windowSeconds: number;
  /** Since when the charts stand still, so that they can be read, on this tab's clock; nothing is lost meanwhile. */
  readonly pausedAtSeconds: number | undefined;
  /** Where the pointer is on whichever chart, on this tab's clock; all charts show their values there. */
  readonly cursorSeconds: number | undefined;
  /** The moment that the keyboard has chosen, counted back from the newest values; 0 is none. The pointer goes before it. */
  readonly secondsAgo: number;
}

export const WINDOWS_SECONDS: readonly number[] = [15, 60, MAX_WINDOW_SECONDS];

/** What all charts have in common. */
export const watchSettings = createStore<WatchSettings>(() => ({
  windowSeconds: 60,
  pausedAtSeconds: undefined,
  cursorSeconds: undefined,
  secondsAgo: 0,
}));
