import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';

import { callerOf } from './caller.ts';

function ask(remoteAddress: string | undefined, headers: IncomingHttpHeaders = {}, user?: string) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that the caller is read from
  return callerOf({ socket: { remoteAddress }, headers } as IncomingMessage, user);
}

function withKey(key: string, user?: string) {
  return ask('192.0.2.7', { authorization: `Bearer ${key}` }, user);
}

describe('a caller', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.8.9.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ])('at %s is peer %s', (address, peer) => {
    expect(ask(address)).toEqual([peer, '', '']);
  });

  it('is told apart within its peer by its bearer token, and within that by its user', () => {
    expect(withKey('a')).toEqual(withKey('a'));
    expect(withKey('a')[1]).not.toBe(withKey('b')[1]);
    expect(withKey('a', 'ann').slice(0, 2)).toEqual(withKey('a', 'bob').slice(0, 2));
    expect(withKey('a', 'ann')[2]).not.toBe(withKey('a', 'bob')[2]);
  });

  it('keeps its key and its user to itself, and their length', () => {
    const [, key = '', user = ''] = ask('192.0.2.7', { authorization: 'Bearer secret' }, 'ann'.repeat(1000));
    expect(key).toMatch(/^[\da-f]{32}$/);
    expect(user).toMatch(/^[\da-f]{32}$/);
  });

  it('is not who a header says that it is', () => {
    expect(ask('192.0.2.7', { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' })).toEqual(
      ask('192.0.2.7'),
    );
  });
});
