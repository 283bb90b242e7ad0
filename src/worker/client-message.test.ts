import { describe, expect, it } from 'vitest';
import { parseClientMessage } from './client-message.ts';
import { PROTOCOL_VERSION } from './protocol.ts';

const version = PROTOCOL_VERSION;

describe('parseClientMessage', () => {
  it.each([
    { version, type: 'init', modelUrl: 'http://localhost/', backend: 'auto' },
    { version, type: 'submit', requestId: 'r', clientId: 'c', deployment: 'd', input: 3, options: null },
    { version, type: 'cancel', requestId: 'r' },
    { version, type: 'configure', callId: 1, deployment: 'd', knobs: 'none' },
    { version, type: 'metrics', callId: 1 },
  ])('lets a $type message through, whatever its payload', (message) => {
    expect(parseClientMessage(message)).toBe(message);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'submit'],
    ['another version', { version: version + 1, type: 'cancel', requestId: 'r' }],
    ['no version', { type: 'cancel', requestId: 'r' }],
    ['an unknown type', { version, type: 'evaluate' }],
    ['a type that is a property of every object', { version, type: 'constructor' }],
    ['a submission without a deployment', { version, type: 'submit', requestId: 'r', clientId: 'c' }],
    ['knobs for no deployment', { version, type: 'configure', callId: 1 }],
    ['an id of another type', { version, type: 'cancel', requestId: 3 }],
    ['an unknown backend', { version, type: 'init', modelUrl: '/', backend: 'cuda' }],
  ])('drops %s', (_, data) => {
    expect(parseClientMessage(data)).toBeUndefined();
  });
});
