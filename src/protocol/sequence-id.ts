import type { RequestId } from './ids.ts';

const SEPARATOR = '#';

/** The ID of a choice in the engine. The first choice has the ID of its request. */
export function sequenceIdOf(requestId: RequestId, index: number): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return index === 0 ? requestId : (`${requestId}${SEPARATOR}${index}` as RequestId);
}

/** The inverse of `sequenceIdOf`. */
export function parseSequenceId(sequenceId: RequestId): { requestId: RequestId; index: number } {
  const end = sequenceId.lastIndexOf(SEPARATOR);
  if (end < 0) return { requestId: sequenceId, index: 0 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return { requestId: sequenceId.slice(0, end) as RequestId, index: Number(sequenceId.slice(end + 1)) };
}
