import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';

import { isHostOf, isSameOrigin } from './same-origin.ts';

function requestWith(headers: Readonly<Record<string, string>>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

const host = 'localhost:8000';

it.each([
  [{ host }, true],
  [{ host, origin: 'http://localhost:8000', 'sec-fetch-site': 'same-origin' }, true],
  [{ host, 'sec-fetch-site': 'none' }, true],
  [{ host, origin: 'http://evil.example' }, false],
  [{ host, origin: 'http://localhost:9000' }, false],
  [{ host, origin: 'null' }, false],
  [{ host, 'sec-fetch-site': 'cross-site' }, false],
  [{ host, 'sec-fetch-site': 'same-site' }, false],
])('%j is of the page itself, or of no page: %s', (headers, expected) => {
  expect(isSameOrigin(requestWith(headers))).toBe(expected);
});

it.each([
  ['localhost:8000', true],
  ['127.0.0.1', true],
  ['192.168.0.7:8000', true],
  ['[::1]:8000', true],
  ['gpu.lan:80', true],
  ['evil.example:8000', false],
])('the host %s is this machine: %s', (name, expected) => {
  expect(isHostOf(requestWith({ host: name }), 'gpu.lan')).toBe(expected);
});
