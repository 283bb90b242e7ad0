import { createStore } from 'zustand/vanilla';

import type { RequestId } from '../../worker/protocol/ids.ts';

interface WatchSettings {
  readonly windowSeconds: number;
  /** Since when the charts stand still, on this tab's clock. Recording goes on. */
  readonly pausedAtSeconds: number | undefined;
  /** The moment under the pointer on any chart, on this tab's clock. All charts show their values there. */
  readonly cursorSeconds: number | undefined;
  /** The moment chosen by the keyboard, counted back from the newest values; 0 is none. The pointer takes precedence. */
  readonly secondsAgo: number;
  /** The window of the slots. */
  readonly slotWindowMs: number;
  readonly tracedId: RequestId | undefined;
}

export const watchSettings = createStore<WatchSettings>(() => ({
  windowSeconds: 60,
  pausedAtSeconds: undefined,
  cursorSeconds: undefined,
  secondsAgo: 0,
  slotWindowMs: 10_000,
  tracedId: undefined,
}));
