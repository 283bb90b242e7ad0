import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { Guard } from './guard.ts';

const guard = new Guard({ host: 'localhost', allowedOrigins: [] });

/** A request from `remoteAddress` with these headers. */
function createRequest(remoteAddress: string | undefined, headers: IncomingMessage['headers'] = {}) {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
  return Object.assign(new IncomingMessage(socket), { headers: { host: 'localhost:8000', ...headers } });
}

describe('what is for the page alone', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('is given to %s', (address) => {
    expect(() => guard.checkOwnPage(createRequest(address))).not.toThrow();
  });

  it.each(['192.168.1.7', '10.0.0.1', 'fe80::1', '::ffff:192.168.1.7', '::', undefined])(
    'is refused to %s, whatever it says of itself',
    (address) => {
      const request = createRequest(address, {
        origin: 'http://localhost:8000',
        'sec-fetch-site': 'same-origin',
      });
      expect(() => guard.checkOwnPage(request)).toThrow(expect.objectContaining({ code: 'FOREIGN_MACHINE' }));
    },
  );
});

const from = (headers: IncomingMessage['headers']) => () =>
  guard.checkReferrer(createRequest('192.168.1.7', headers));

describe('what comes without an origin', () => {
  it('is refused where an image of another page asks for it', () => {
    expect(from({ referer: 'http://foe.example/' })).toThrow('other origins');
    expect(from({ referer: 'http://localhost:3000/' })).toThrow('other origins');
  });

  it('is answered where the page itself asks, or nobody says who does', () => {
    expect(from({ referer: 'http://localhost:8000/?backend=wasm' })).not.toThrow();
    expect(from({})).not.toThrow();
    expect(from({ referer: 'http://foe.example/', 'sec-fetch-site': 'none' })).not.toThrow();
  });
});

it('knows its own name however it was written', () => {
  const named = new Guard({ host: 'MyBox', allowedOrigins: [] });
  expect(() => named.checkHost(createRequest('192.168.1.7', { host: 'mybox:8000' }))).not.toThrow();
  expect(() => named.checkHost(createRequest('192.168.1.7', { host: 'yourbox:8000' }))).toThrow('--host');
});
