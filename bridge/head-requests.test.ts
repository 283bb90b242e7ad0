import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';

import { answerWith, mountBridge } from './testing/test-support.ts';

/** Sends a text to the bridge's port. Resolves with the answer once the connection ends. */
function exchangeBytes(port: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    let received = '';
    socket.on('data', (data) => (received += String(data)));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function ask(url: string, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // An id of its own, so that the two answers differ in nothing else.
    const sent = httpRequest(url, { method, headers: { 'X-Request-Id': 'one' } }, (response) => {
      let body = '';
      response.on('data', (data) => (body += String(data)));
      response.on('end', () => {
        const { date: _date, ...headers } = response.headers;
        resolve({ status: response.statusCode, headers, body });
      });
    });
    sent.on('error', reject).end();
  });
}

it.each(['/?text=Once', '/adder?number=3', '/healthz', '/health', '/-/routes', '/version', '/bridge/token'])(
  'HEAD %s has the headers of GET, and no body',
  async (path) => {
    const { bridge, url } = await mountBridge();
    answerWith(bridge, () =>
      Object.assign(Promise.resolve(4), { result: () => Promise.resolve({ text: 'é' }) }),
    );
    // Until the grace period has passed, the health changes.
    await expect.poll(() => bridge.serve.status().error?.code).toBe('NO_TAB');
    const [got, headed] = [await ask(url + path, 'GET'), await ask(url + path, 'HEAD')];
    expect(Number(got.headers['content-length'])).toBe(Buffer.byteLength(got.body));
    expect([headed.status, headed.headers, headed.body]).toEqual([got.status, got.headers, '']);
  },
);

it('names HEAD where it names GET as what is allowed', async () => {
  const { url } = await mountBridge();
  const allowed = async (path: string) => (await ask(url + path, 'PUT')).headers.allow;
  expect(await allowed('/adder')).toBe('GET, POST, HEAD');
  expect(await allowed('/house-price')).toBe('POST');
});

it.each([
  ['a route', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n'],
  ['a file', 'GET /index.html HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n'],
])('two Host headers are a 400 for %s', async (_, head) => {
  const { port } = await mountBridge();
  const answer = await exchangeBytes(port, `${head}Connection: close\r\n\r\n`);
  expect(answer).toContain('HTTP/1.1 400 Bad Request');
  expect(answer).toContain('The request has two Host headers: send one.');
});
