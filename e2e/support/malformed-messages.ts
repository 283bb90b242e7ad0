import { PROTOCOL_VERSION } from '../../src/protocol/wire.ts';

const idOf = (digit: number): string => `${digit}0000000-0000-4000-8000-000000000000`;
const fromTab = { version: PROTOCOL_VERSION, clientId: idOf(0) };
const fromWorker = { version: PROTOCOL_VERSION, workerId: idOf(1) };
const [requestId, callId] = [idOf(2), 1];
const error = { code: 'NO', message: 'no' };

/** Required fields of messages. A message is malformed if one is missing or has another type; the parser's unit tests have them all. */
const VALID: readonly Readonly<Record<string, unknown>>[] = [
  { ...fromTab, type: 'hello' },
  { ...fromTab, type: 'submit', requestId, deployment: 'adder', input: 1, options: {}, elapsedMs: 0 },
  { ...fromTab, type: 'cancel', requestId },
  { ...fromTab, type: 'configure', callId, deployment: 'adder', knobs: { maxBatchSize: 1 } },
  { ...fromTab, type: 'release-override', callId, overrideId: 'o' },
  { ...fromWorker, type: 'serving' },
  { ...fromWorker, type: 'status', status: {} },
  { ...fromWorker, type: 'updates', updates: [{ type: 'failed', requestId, error }] },
  { ...fromWorker, type: 'call-refused', callId, error },
];

/** Fields that the parser doesn't check. They are checked later. */
const UNCHECKED = ['input', 'options', 'knobs'];

const JUNK: readonly unknown[] = [
  null,
  undefined,
  true,
  -1,
  0.5,
  Number.NaN,
  Infinity,
  '',
  'x'.repeat(10_000),
  [],
  [[]],
  {},
  { type: 'submit' },
  2n ** 64n,
  new Date(0),
  new Map([['type', 'hello']]),
];

/** Messages that the parser must refuse: no message at all, or one that is broken in one field. */
export function malformedMessages(): readonly unknown[] {
  const broken = VALID.flatMap((message) => {
    const fields = Object.keys(message).filter((field) => !UNCHECKED.includes(field));
    // A deployment may have any name that is not too long.
    return fields.flatMap((field) =>
      JUNK.map((junk) => ({ ...message, [field]: field === 'deployment' && junk === '' ? 7 : junk })),
    );
  });
  return [...JUNK, ...broken];
}
