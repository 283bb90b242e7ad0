import type { RequestId } from '../../worker/protocol/protocol.ts';
import type { ChartHistory } from '../state/chart-history.ts';
import { useServeView } from '../state/serve-context.ts';
import type { ServeView } from '../state/serve-store.ts';

interface Traced {
  readonly revision: number;
  readonly ids: ReadonlySet<RequestId>;
}

const lastTraced = new WeakMap<ChartHistory, Traced>();

/** Whether any batch of a request is known: it may end without one, and the message that tells of them comes after its tokens. */
export function useHasTrace(id: RequestId): boolean {
  return useServeView((view) => tracedIds(view).has(id));
}

/** Found once for all rows, with each news of the history. */
function tracedIds({ history, historyRevision: revision }: ServeView): ReadonlySet<RequestId> {
  const last = lastTraced.get(history);
  if (last?.revision === revision) return last.ids;
  const ids = new Set(Array.from(history.slots.bars, ({ requestId }) => requestId));
  lastTraced.set(history, { revision, ids });
  return ids;
}
