import type { RequestId, TabserveStatus } from '../../client/index.ts';
import type { RequestsEvent, RequestTables } from './request-tables.ts';
import { isActive } from './request-view.ts';

/** The last time that the tab which ran the model went away. */
export interface Handover {
  /** On this tab's clock. */
  readonly startedAtMs: number;
  /** This tab's requests at that time. */
  readonly requestIds: ReadonlySet<RequestId>;
  /** Those that couldn't go on where they were, and began again. */
  readonly numRestarted: number;
}

export function updateHandover(
  handover: Handover | undefined,
  statuses: { readonly before: TabserveStatus; readonly after: TabserveStatus },
  tables: Pick<RequestTables, 'requests'>,
  events: readonly RequestsEvent[],
  nowMs: number,
): Handover | undefined {
  if (statuses.after.isHandover && !statuses.before.isHandover) {
    const own = [...tables.requests.values()].filter(
      ({ clientId, status }) => clientId === undefined && isActive(status),
    );
    return { startedAtMs: nowMs, requestIds: new Set(own.map(({ id }) => id)), numRestarted: 0 };
  }
  const updates = events.flatMap((event) => (event.type === 'requests' ? event.updates : []));
  const numRestarted = updates.filter(
    ({ type, requestId }) => type === 'restarted' && handover?.requestIds.has(requestId),
  ).length;
  return handover && numRestarted > 0
    ? { ...handover, numRestarted: handover.numRestarted + numRestarted }
    : handover;
}
