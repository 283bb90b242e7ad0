import { createId, type ClientId } from './ids.ts';

// One worker per site: every tab of an origin uses these names. None holds the protocol's version, so that tabs of
// two versions meet, and never have two leaders.

/** All tabs and the worker talk here; what concerns one tab alone goes over that tab's own channel. */
export const SHARED_CHANNEL = 'tabserve';

/** Held by the tab that leads, for as long as it does. */
export const LEADER_LOCK = 'tabserve:leader';

/** Held by the worker that serves: a new one starts only when the old one is really gone. */
export const WORKER_LOCK = 'tabserve:worker';

/** Of a lock that one worker holds to its end: who made it queues for it, and knows when it is gone. */
export function createLifeName(): string {
  return `tabserve:worker:${createId()}`;
}

/** Of the channel to one tab, and of the lock that this tab holds for life. */
export function clientName(clientId: ClientId): string {
  return `tabserve:client:${clientId}`;
}
