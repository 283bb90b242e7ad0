import type { ServeStatus } from '../../client/index.ts';
import type { ServeStore } from '../state/serve-store.ts';

const KEY = 'tabserve-start-ms';

/** How long the page's last start took on this backend, ms; undefined before the first one, and without storage. */
export function lastStartMs({ backend }: Pick<ServeStatus, 'backend'>): number | undefined {
  try {
    const times: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const value = isRecord(times) ? times[backend?.name ?? ''] : undefined;
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Notes the time from the page's start until the model is ready, once; a follower waits for no load of its own. */
export function noteStartTime(store: ServeStore): void {
  const unsubscribe = store.subscribe(({ status }) => {
    if (status.state !== 'ready') return;
    unsubscribe();
    if (status.role !== 'leader' || !status.backend) return;
    try {
      const times: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
      const others = isRecord(times) ? times : {};
      localStorage.setItem(KEY, JSON.stringify({ ...others, [status.backend.name]: performance.now() }));
    } catch {
      // Without storage, the page can't say how long it took.
    }
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
