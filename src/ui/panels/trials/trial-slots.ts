import type { RequestId } from '../../../client/index.ts';
import { pause } from '../../browser/pause.ts';
import { closeRun, type ServeStore } from '../../state/serve-store.ts';
import type { SlotBar } from '../../state/slot-history.ts';

/** The bars of a trial, for a timeline. */
export interface TrialSlots {
  /** On this tab's clock. */
  readonly startedAtMs: number;
  /** In the order of submission: the same place in each trial has the same color and number. */
  readonly requestIds: readonly RequestId[];
  /** Copies, because the history forgets old bars. */
  readonly bars: readonly SlotBar[];
}

/** Follows the requests of a trial. */
export interface TrialRecorder {
  /** Call it before the first submission: each trial is a run of its own. */
  readonly begin: () => void;
  /** Call it right after each submission: a request of a load test gets no cell. */
  readonly add: (requestId: RequestId) => void;
  /** The bars of requests that have all ended. */
  readonly barsOf: (requestIds: readonly RequestId[], signal: AbortSignal) => Promise<readonly SlotBar[]>;
}

/** The last steps of a trial come at most this long after its texts, ms. */
const MAX_REPORT_MS = 1000;

export function createTrialRecorder(store: ServeStore): TrialRecorder {
  const bars = (): readonly SlotBar[] => store.history.slots.bars;
  return {
    begin: () => closeRun(store),
    add: (requestId) => void store.experiments.set(requestId, 'trial'),
    barsOf: async (requestIds, signal) => {
      const wanted = new Set(requestIds);
      const lastId = requestIds.at(-1);
      const isReported = (): boolean => {
        const own = bars().filter(({ requestId }) => wanted.has(requestId));
        const isLastKnown = own.some(({ requestId }) => requestId === lastId);
        return isLastKnown && own.every(({ endedAtMs }) => endedAtMs !== undefined);
      };
      if (wanted.size > 0) await whenTrue(store, isReported, signal);
      return bars()
        .filter(({ requestId }) => wanted.has(requestId))
        .map((bar) => ({ ...bar }));
    },
  };
}

/** Resolves also after a while, or when it is stopped. */
async function whenTrue(store: ServeStore, isTrue: () => boolean, signal: AbortSignal): Promise<void> {
  if (isTrue()) return;
  const found = new AbortController();
  const unsubscribe = store.subscribe(() => isTrue() && found.abort());
  await pause(MAX_REPORT_MS, AbortSignal.any([signal, found.signal]));
  unsubscribe();
}
