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

describe('what changes how the server works', () => {
  const admin = new Guard({ host: '192.168.1.2', allowedOrigins: [], allowsAdmin: true });

  it.each(['localhost:8000', '127.0.0.1:8000', '[::1]:8000', 'tabserve.localhost'])(
    'may be asked from this machine, under %s',
    (host) => {
      expect(() => admin.checkAdmin(createRequest('127.0.0.1', { host }))).not.toThrow();
    },
  );

  it.each([
    ['another machine', '192.168.1.7', {}],
    ['a proxy that passes on the host', '127.0.0.1', { host: '192.168.1.2:8000' }],
    ['a page of another origin', '127.0.0.1', { origin: 'http://localhost:3000' }],
  ])('is refused to %s', (_, address, headers) => {
    expect(() => admin.checkAdmin(createRequest(address, headers))).toThrow('--allow-admin');
  });
});

/** Each name from a vendor's or a standard's own documentation, so that none leaves the table unnoticed. */
const NAMED_BY_PROXIES = (
  'Forwarded Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Forwarded-Port ' +
  'X-Forwarded-Server X-Forwarded Forwarded-For X-Original-Forwarded-For X-Original-Host X-Forwarded-Prefix ' +
  'X-Real-IP X-Client-IP X-Cluster-Client-IP Client-IP X-Remote-IP X-ProxyUser-IP ' +
  'CF-Connecting-IP CF-Connecting-IPv6 True-Client-IP Fastly-Client-IP Fly-Client-IP X-Appengine-User-IP ' +
  'X-Azure-ClientIP X-Envoy-External-Address DO-Connecting-IP CDN-Loop'
).split(' ');

it.each(NAMED_BY_PROXIES)('what changes how the server works is refused to a proxy that sends %s', (name) => {
  const admin = new Guard({ host: 'localhost', allowedOrigins: [], allowsAdmin: true });
  // Node gives names in lower case. An empty value names the proxy, too.
  for (const value of ['192.168.1.7', '']) {
    const request = createRequest('127.0.0.1', { [name.toLowerCase()]: value });
    expect(() => admin.checkAdmin(request)).toThrow(expect.objectContaining({ code: 'FOREIGN_MACHINE' }));
  }
});

it('knows its own name however it was written', () => {
  const named = new Guard({ host: 'MyBox', allowedOrigins: [] });
  expect(() => named.checkHost(createRequest('192.168.1.7', { host: 'mybox:8000' }))).not.toThrow();
  expect(() => named.checkHost(createRequest('192.168.1.7', { host: 'yourbox:8000' }))).toThrow('--host');
});
