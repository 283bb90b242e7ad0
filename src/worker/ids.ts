import type { ClientId, RequestId, WorkerId } from './protocol.ts';

// The only places where text becomes an id.

export function createRequestId(): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return crypto.randomUUID() as RequestId;
}

export function createClientId(): ClientId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return crypto.randomUUID() as ClientId;
}

export function createWorkerId(): WorkerId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return crypto.randomUUID() as WorkerId;
}
