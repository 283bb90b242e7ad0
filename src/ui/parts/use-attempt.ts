import { useCallback, useState } from 'react';

import type { WireError } from '../../client/index.ts';
import { toWireError } from './to-wire-error.ts';

/** Runs an action that may be refused and keeps its refusal until an attempt succeeds; an attempt resolves with its success. */
export function useAttempt() {
  const [refusal, setRefusal] = useState<WireError>();
  const attempt = useCallback(async (action: () => Promise<void>): Promise<boolean> => {
    try {
      await action();
      setRefusal(undefined);
      return true;
    } catch (caught) {
      setRefusal(toWireError(caught));
      return false;
    }
  }, []);
  return { refusal, attempt, clearRefusal: () => setRefusal(undefined) };
}
