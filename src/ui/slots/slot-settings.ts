import { createStore } from 'zustand/vanilla';

import type { RequestId } from '../../worker/protocol/protocol.ts';

interface SlotSettings {
  readonly windowMs: number;
  /** The request whose trace is shown. */
  readonly tracedId: RequestId | undefined;
  /** The bars of that request. */
  readonly selectedKeys: ReadonlySet<string>;
}

export const slotSettings = createStore<SlotSettings>(() => ({
  windowMs: 10_000,
  tracedId: undefined,
  selectedKeys: new Set(),
}));
