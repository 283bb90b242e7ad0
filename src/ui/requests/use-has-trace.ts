import { useEffect, useState } from 'react';

import type { RequestId } from '../../worker/protocol.ts';
import { useServe } from '../state/serve-context.ts';
import type { ServeView } from '../state/serve-store.ts';

/** Whether any batch of a request is known: it may end without one, and the message that tells of them comes after its tokens. */
export function useHasTrace(id: RequestId): boolean {
  const { store } = useServe();
  const [has, setHas] = useState(() => hasTrace(store.getState(), id));
  useEffect(() => {
    if (has) return undefined;
    const look = (view: ServeView): void => setHas(hasTrace(view, id));
    look(store.getState());
    return store.subscribe((view, previous) => {
      if (view.historyRevision !== previous.historyRevision) look(view);
    });
  }, [store, id, has]);
  return has;
}

function hasTrace({ history }: ServeView, id: RequestId): boolean {
  return history.slots.barsOf(id).length > 0;
}
