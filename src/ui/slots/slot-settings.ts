import { createStore } from 'zustand/vanilla';

import type { RequestId } from '../../worker/protocol/protocol.ts';

interface SlotSettings {
  readonly windowMs: number;
  /** Whose trace is shown. */
  readonly tracedId: RequestId | undefined;
  /** Its bars. */
  readonly selectedKeys: ReadonlySet<string>;
}

export const SLOT_WINDOWS_MS: readonly number[] = [2000, 10_000, 60_000];

export const slotSettings = createStore<SlotSettings>(() => ({
  windowMs: 10_000,
  tracedId: undefined,
  selectedKeys: new Set(),
}));
