import type { TabserveStatus } from '../protocol/status.ts';
import { fromWireError } from '../protocol/wire-errors.ts';
import { ClosedError } from '../batching/base/errors.ts';

type Subscribe = (listener: (status: TabserveStatus) => void) => () => void;

/** Resolves when the model can run. Rejects with the reason why it can't. */
export function whenReady(subscribe: Subscribe): Promise<TabserveStatus> {
  return new Promise((resolve, reject) => {
    const unsubscribe = subscribe((status) => {
      if (status.state === 'loading' || status.state === 'warming-up') return;
      queueMicrotask(() => unsubscribe());
      if (status.state === 'ready') resolve(status);
      else reject(status.error ? fromWireError(status.error) : ClosedError.ofClient());
    });
  });
}
