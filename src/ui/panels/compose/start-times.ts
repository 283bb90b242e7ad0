import type { TabserveStatus } from '../../../client/index.ts';
import { readNumber, writeNumber } from '../../browser/stored-text.ts';
import type { ServeStore } from '../../state/serve-store.ts';

const KEY = 'tabserve-start-ms';

/** How long the page's last start took on this backend, ms; undefined before the first one, and without storage. */
export function lastStartMs({ backend }: Pick<TabserveStatus, 'backend'>): number | undefined {
  return readNumber(KEY, backend?.name ?? '');
}

/** Notes the time from the page's start until the model is ready, once; a follower waits for no load of its own. */
export function noteStartTime(store: ServeStore): void {
  const unsubscribe = store.subscribe(({ status }) => {
    if (status.state !== 'ready') return;
    unsubscribe();
    if (status.role === 'leader' && status.backend) writeNumber(KEY, status.backend.name, performance.now());
  });
}
