import { createId, type ClientId } from './ids.ts';

// Every tab of an origin uses these names. They don't contain the protocol's version: tabs of two versions share one leader.

/** Channel of all tabs and the worker. Messages to a single tab go over that tab's own channel. */
export const SHARED_CHANNEL = 'tabserve';

/** Held by the tab that leads. */
export const LEADER_LOCK = 'tabserve:leader';

/** Held by the worker that serves: a new one serves only when the old one is gone. */
export const WORKER_LOCK = 'tabserve:worker';

/** Names a lock that one worker holds to its end. The tab that made the worker queues for it. */
export function createLifeName(): string {
  return `tabserve:worker:${createId()}`;
}

/** Names the channel to one tab, and the lock that this tab holds for life. */
export function clientName(clientId: ClientId): string {
  return `tabserve:client:${clientId}`;
}
