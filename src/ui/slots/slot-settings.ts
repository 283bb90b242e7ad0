import { createStore } from 'zustand/vanilla';

import type { RequestId } from '../../worker/protocol/ids.ts';

interface SlotSettings {
  readonly windowMs: number;
  readonly tracedId: RequestId | undefined;
}

export const slotSettings = createStore<SlotSettings>(() => ({
  windowMs: 10_000,
  tracedId: undefined,
}));
