import type { ClientId, RequestId } from '../batching/base/ids.ts';

export type { ClientId, RequestId } from '../batching/base/ids.ts';

/** Identifies one worker. A tab that takes over starts a worker with a new ID. Of a shared worker: see `AppNames.workerLock`. */
export type WorkerId = string & { readonly __brand: 'WorkerId' };

/** Identifies one temporary policy, from its request to its end. */
export type OverrideId = string & { readonly __brand: 'OverrideId' };

export const createRequestId = createId<RequestId>;
export const createClientId = createId<ClientId>;
export const createWorkerId = createId<WorkerId>;
export const createOverrideId = createId<OverrideId>;

/** For a client behind the bridge, which has no ID of its own. */
export function asClientId(name: string): ClientId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as ClientId;
}

/** For a shared worker: the browser's ID of the holder of the lock. */
export function asWorkerId(holder: string): WorkerId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return holder as WorkerId;
}

/** For a request whose ID is the same at every worker. */
export function asRequestId(name: string): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as RequestId;
}

/** 128 random bits in hex: `crypto.randomUUID` exists on secure origins only. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the kind of id
export function createId<Id extends string>(): Id {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return text as Id;
}
