import type { ClientId, OverrideId, RequestId, WorkerId } from './protocol.ts';

// The only places where text becomes an id.

export function createRequestId(): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return createId() as RequestId;
}

export function createClientId(): ClientId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return createId() as ClientId;
}

/** For a client that another one speaks for. */
export function asClientId(name: string): ClientId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as ClientId;
}

export function createWorkerId(): WorkerId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return createId() as WorkerId;
}

export function createOverrideId(): OverrideId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return createId() as OverrideId;
}

/** 128 random bits as text: `crypto.randomUUID` is there on secure origins alone. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
