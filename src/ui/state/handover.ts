import { END_TYPES, TEXT_GENERATOR, type RequestId, type TabserveStatus } from '../../client/index.ts';
import { isActive, type RequestsEvent, type RequestTables } from './request-view.ts';

/** The last time that the tab which ran the model went away. */
export interface Handover {
  /** On this tab's clock. */
  readonly startedAtMs: number;
  /** This tab's requests at that time. */
  readonly requestIds: ReadonlySet<RequestId>;
  /** The tabs and the requests of all of them at that time. */
  readonly tabs: TabserveStatus['tabs'];
  readonly requests: RequestTables['requests'];
  /** Requests that couldn't be resumed, and began again. */
  readonly numRestarted: number;
}

type HandoverEvent =
  | RequestsEvent
  | { readonly type: 'status'; readonly status: TabserveStatus; readonly receivedAtMs: number }
  | { readonly type: 'stats' | 'batch' };

interface Before extends Pick<RequestTables, 'requests'> {
  readonly status: TabserveStatus;
  readonly handover: Handover | undefined;
}

/** The last handover after these events, which are in order: a hidden page gets many at once. */
export function updateHandover(before: Before, events: readonly HandoverEvent[]): Handover | undefined {
  let { handover } = before;
  let { isHandover, tabs } = before.status;
  const own = [...before.requests.values()].filter(({ sender }) => sender === undefined);
  const active = new Set(own.flatMap(({ id, status }) => (isActive(status) ? [id] : [])));
  for (const event of events) {
    if (event.type === 'status') {
      if (event.status.isHandover && !isHandover)
        handover = {
          startedAtMs: event.receivedAtMs,
          requestIds: new Set(active),
          numRestarted: 0,
          tabs,
          requests: before.requests,
        };
      ({ isHandover, tabs } = event.status);
    } else if (event.type === 'requests') {
      for (const update of event.updates) {
        const { type, requestId } = update;
        if (type === 'submitted' && update.deployment === TEXT_GENERATOR) active.add(requestId);
        else if (END_TYPES.has(type)) active.delete(requestId);
        else if (type === 'restarted' && handover?.requestIds.has(requestId))
          handover = { ...handover, numRestarted: handover.numRestarted + 1 };
      }
    }
  }
  return handover;
}
