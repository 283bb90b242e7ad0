import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from './wire.ts';
import { parseHostMessage } from './host-messages.ts';
import { hasShapeOf, mutate } from '../worker/test-support.ts';

const version = PROTOCOL_VERSION;
const FAULT = {
  version,
  type: 'fault',
  fault: { kind: 'device-lost', message: 'unplugged' },
  stalledIds: ['r'],
  numRunning: 3,
};
const PONG = { version, type: 'pong', patienceMs: 30_000.5 };
const MESSAGES = [
  { version, type: 'alive' },
  { version, type: 'on-rung', rung: 'wasm-threads' },
  { version, type: 'ready' },
  { version, type: 'busy' },
  { version, type: 'idle' },
  { version, type: 'progress' },
  { version, type: 'step', stalledIds: ['s'] },
  PONG,
  FAULT,
];

describe('parseHostMessage', () => {
  it.each(MESSAGES)('lets $type through as it is', (message) => {
    expect(parseHostMessage(message)).toEqual(message);
  });

  it.each([
    ['nothing', undefined],
    ['another version', { ...PONG, version: version + 1 }],
    ['what the worker says to all', { version, workerId: 'w', type: 'serving' }],
    ['a rung that does not exist', { version, type: 'on-rung', rung: 'webgl' }],
    ['a fault of no known kind', { ...FAULT, fault: { kind: 'boredom', message: '' } }],
    ['a fault without words', { ...FAULT, fault: { kind: 'device-lost' } }],
    ['endless patience', { ...PONG, patienceMs: Infinity }],
    ['half a sequence', { ...FAULT, numRunning: 0.5 }],
  ])('drops %s', (_, message) => {
    expect(parseHostMessage(message)).toBeUndefined();
  });

  it('lets nothing through that has not the shape of a message', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MESSAGES),
        fc.record({
          place: fc.nat(20),
          change: fc.constantFrom('replace', 'remove', 'add'),
          junk: fc.anything(),
        }),
        (message, mutation) => {
          const parsed = parseHostMessage(mutate(message, mutation));
          expect(parsed === undefined || hasShapeOf(parsed, MESSAGES)).toBe(true);
        },
      ),
    );
  });
});
