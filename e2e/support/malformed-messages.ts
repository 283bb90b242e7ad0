import { PROTOCOL_VERSION } from '../../src/protocol/wire.ts';
import { seededRandom } from './seeded-random.ts';

const version = PROTOCOL_VERSION;
const clientId = '00000000-0000-4000-8000-000000000000';
const workerId = '11111111-0000-4000-8000-000000000000';
const requestId = '22222222-0000-4000-8000-000000000000';
const error = { code: 'NO', message: 'no' };

/** Required fields of each message. It is malformed if one is missing or has another type. */
const VALID: readonly Readonly<Record<string, unknown>>[] = [
  { version, clientId, type: 'hello' },
  { version, clientId, type: 'submit', requestId, deployment: 'adder', input: 1, options: {}, elapsedMs: 0 },
  {
    version,
    clientId,
    type: 'submit',
    requestId,
    deployment: 'text-generator',
    input: 'Hi',
    options: {},
    elapsedMs: 0,
  },
  { version, clientId, type: 'cancel', requestId },
  { version, clientId, type: 'configure', callId: 1, deployment: 'adder', knobs: { maxBatchSize: 1 } },
  {
    version,
    clientId,
    type: 'set-override',
    callId: 1,
    overrideId: 'o',
    deployment: 'text-generator',
    knobs: { policy: 'off' },
  },
  { version, clientId, type: 'release-override', callId: 1, overrideId: 'o' },
  { version, clientId, type: 'metrics', callId: 1 },
  { version, workerId, type: 'serving' },
  { version, workerId, type: 'status', status: {} },
  { version, workerId, type: 'updates', updates: [{ type: 'failed', requestId, error }] },
  { version, workerId, type: 'stats', stats: {} },
  { version, workerId, type: 'call-refused', callId: 1, error },
];

/** Fields that the parser doesn't check. They are checked later. */
const UNCHECKED = new Set(['input', 'options', 'knobs']);

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

/** Messages that the parser must refuse: broken in one field, or no message at all. */
export function malformedMessages(seed: number, count: number): unknown[] {
  const random = seededRandom(seed);
  const pick = <Value>(values: readonly Value[]): Value | undefined =>
    values[Math.floor(random() * values.length)];
  return Array.from({ length: count }, () => {
    if (random() < 0.1) return pick(JUNK);
    const message = { ...pick(VALID) };
    const field = pick(Object.keys(message).filter((key) => !UNCHECKED.has(key))) ?? 'type';
    if (random() < 0.3) delete message[field];
    else message[field] = brokenValue(field, pick(JUNK));
    return message;
  });
}

/** An id and a name may be any text that is not too long; a count any whole number. */
function brokenValue(field: string, junk: unknown): unknown {
  const isValid = field === 'deployment' && junk === '';
  return isValid ? 7 : junk;
}
