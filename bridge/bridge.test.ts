import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { BRIDGE_SUBPROTOCOL } from '../src/protocol/bridge-names.ts';
import type { BridgeOptions } from './bridge.ts';
import type { LogEntry } from './http/access-log.ts';
import { startServer } from './server.ts';
import { ask, startBridge, startWorker, stubWebSocket } from './testing/test-support.ts';

// The bridge between HTTP and a worker, both in Node; what a browser adds is shown end to end.

let log: readonly LogEntry[];

function start(options: Partial<BridgeOptions> = {}) {
  const entries: LogEntry[] = [];
  log = entries;
  return startBridge({ log: (entry) => entries.push(entry), ...options });
}

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000 });

describe('a request over the bridge', () => {
  it('is answered by the worker that has opened the socket, which knows unlimited knobs as such', async () => {
    const { bridge, url } = await start();
    stubWebSocket(url);
    const { release } = startWorker(url, 'A');
    release();
    expect(await (await ask(url, { a: [1, null] })).json()).toEqual({ by: 'A', input: { a: [1, null] } });
    expect(bridge.serve.status().policy.kvCacheMemoryBytes).toBe(Infinity);
  });

  it('is asked again of the same worker when the socket was cut, and answered once', async () => {
    const { url } = await start();
    const sockets = stubWebSocket(url);
    const { received, release } = startWorker(url, 'A');
    const answer = ask(url, 1);
    await until(() => expect(received).toEqual([1]));
    sockets[0]?.close();
    await until(() => expect(sockets[1]?.readyState).toBe(WebSocket.OPEN));
    release();
    expect(await (await answer).json()).toEqual({ by: 'A', input: 1 });
    expect(log.filter(({ path }) => path === '/deployments/gated').map(({ status }) => status)).toEqual([
      200,
    ]);
  });

  it('goes to the worker that stands by when the first is gone', async () => {
    const { url } = await start();
    const sockets = stubWebSocket(url);
    const first = startWorker(url, 'A');
    await until(() => expect(sockets[0]?.readyState).toBe(WebSocket.OPEN));
    const second = startWorker(url, 'B');
    await until(() => expect(sockets[1]?.readyState).toBe(WebSocket.OPEN));
    const answer = ask(url, 1);
    await until(() => expect(first.received).toEqual([1]));
    expect(second.received).toEqual([]);
    sockets[0]?.close();
    second.release();
    expect(await (await answer).json()).toEqual({ by: 'B', input: 1 });
  });

  it('waits for a tab for as long as it may, and fails when none has come', async () => {
    const { url } = await start({ graceMs: 200 });
    const waited = await ask(url, 1);
    expect(waited.status).toBe(503);
    expect(await waited.json()).toMatchObject({
      error: { code: 'NO_TAB', type: 'service_unavailable_error' },
    });
    stubWebSocket(url);
    startWorker(url, 'A').release();
    await until(async () => expect((await ask(url, 1)).status).toBe(200));
  });

  it('is cancelled when its client leaves, or its time is up', async () => {
    const { url } = await start();
    stubWebSocket(url);
    const { received } = startWorker(url, 'A');
    const controller = new AbortController();
    const left = ask(url, 1, { signal: controller.signal });
    await until(() => expect(received).toEqual([1]));
    const late = await ask(url, 2, {
      headers: { 'Content-Type': 'application/json', 'X-Request-Timeout-Seconds': '0.05' },
    });
    expect(late.status).toBe(408);
    controller.abort();
    await expect(left).rejects.toThrow('aborted');
    await until(() =>
      expect(log.map(({ status }) => status).filter((status) => status >= 400)).toEqual([408, 499]),
    );
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('serve_requests_cancelled_total{deployment="gated"} 2\n');
  });

  it('ends with its time, also where the worker does not answer what cannot be cancelled', async () => {
    const { url } = await start();
    stubWebSocket(url);
    const token = await (await fetch(`${url}/bridge/token`)).text();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/bridge/socket`, [BRIDGE_SUBPROTOCOL, token]);
    await until(() => expect(socket.readyState).toBe(WebSocket.OPEN));
    const late = await fetch(`${url}/metrics`, { headers: { 'X-Request-Timeout-Seconds': '0.05' } });
    expect(late.status).toBe(408);
    expect(await late.json()).toMatchObject({ error: { code: 'REQUEST_TIMEOUT' } });
  });

  it('is refused when there are too many, and not held', async () => {
    const { url } = await start({ graceMs: 60_000 });
    const controller = new AbortController();
    const waiting = Array.from({ length: 384 }, () => ask(url, 1, { signal: controller.signal }));
    await until(async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('serve_num_ongoing_http_requests 385\n');
    });
    const refused = await ask(url, 1);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    controller.abort();
    await Promise.allSettled(waiting);
  });

  it('leaves nothing of its body in the log, also where that is what is wrong with it', async () => {
    const { url } = await start();
    const headers = { 'Content-Type': 'application/json' };
    const refused = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers,
      body: 'a secret prompt',
    });
    expect(refused.status).toBe(400);
    await until(() => expect(log).toMatchObject([{ status: 400, error: 'INVALID_JSON' }]));
    expect(JSON.stringify(log)).not.toContain('secret');
  });

  it('carries the id that its client gave it, or one of its own', async () => {
    const { url } = await start();
    const idOf = async (headers: Readonly<Record<string, string>>): Promise<string | null> =>
      (await fetch(`${url}/healthz`, { headers })).headers.get('x-request-id');
    expect(await idOf({ 'X-Request-Id': 'trace-1.a:b_c' })).toBe('trace-1.a:b_c');
    expect(await idOf({ 'X-Request-Id': 'no spaces' })).toMatch(/^[\da-f-]{36}$/);
    expect(await idOf({})).toMatch(/^[\da-f-]{36}$/);
  });
});

/** With a Host of one's own, which `fetch` does not allow. */
function rawStatus(
  port: number,
  path: string,
  headers: OutgoingHttpHeaders,
  method = 'GET',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve(101);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('who may ask', () => {
  it.each<readonly [string, OutgoingHttpHeaders, number]>([
    ['its own name', { Host: 'localhost:1' }, 200],
    ['an address', { Host: '127.0.0.1' }, 200],
    ['an address of the sixth version', { Host: '[::1]:8000' }, 200],
    ['a name below localhost', { Host: 'a.localhost' }, 200],
    ['a name that may be pointed anywhere', { Host: 'rebound.example' }, 403],
    ['its own page', { Host: 'localhost', Origin: 'http://localhost' }, 200],
    ['a page of another port', { Host: 'localhost:8000', Origin: 'http://localhost:3000' }, 403],
    ['a page without an origin', { Host: 'localhost', Origin: 'null' }, 403],
    ['a page that is allowed', { Host: 'localhost', Origin: 'https://friend.example' }, 200],
    ['an image of another site', { Host: 'localhost', 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['an image of another port', { Host: 'localhost', 'Sec-Fetch-Site': 'same-site' }, 403],
    ['the address bar', { Host: 'localhost', 'Sec-Fetch-Site': 'none' }, 200],
  ])('is told by the request: %s', async (_, headers, status) => {
    const { port } = await start({ allowedOrigins: ['https://friend.example'], graceMs: 0 });
    const path = '/metrics';
    expect(await rawStatus(port, path, headers)).toBe(status);
  });

  it('is asked first by a browser, for a page that is allowed', async () => {
    const { url } = await start({ allowedOrigins: ['https://friend.example'] });
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${url}/v1/completions`, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'content-type, x-stainless-os',
        },
      });
    const allowed = await preflight('https://friend.example');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://friend.example');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type, x-stainless-os');
    const refused = await preflight('https://foe.example');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('may follow a link to the page, and to nothing else', async () => {
    const { port } = await start();
    const link = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    };
    expect(await rawStatus(port, '/', link)).toBe(200);
    expect(await rawStatus(port, '/?text=Once', link)).toBe(403);
  });

  it('gets neither the token nor the socket with an origin that is allowed for the rest', async () => {
    const origin = 'https://friend.example';
    const { url, port } = await start({ allowedOrigins: [origin] });
    expect(await rawStatus(port, '/bridge/token', { Origin: origin })).toBe(403);
    const token = await (await fetch(`${url}/bridge/token`)).text();
    const upgrade = (headers: OutgoingHttpHeaders): Promise<number> =>
      rawStatus(port, '/bridge/socket', {
        Host: 'localhost',
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Protocol': `${BRIDGE_SUBPROTOCOL}, ${token}`,
        ...headers,
      });
    const own = { Origin: 'http://localhost' };
    expect(await upgrade(own)).toBe(101);
    expect(await upgrade({})).toBe(403);
    expect(await upgrade({ Origin: origin })).toBe(403);
    expect(
      await upgrade({ ...own, 'Sec-WebSocket-Protocol': `${BRIDGE_SUBPROTOCOL}, ${'0'.repeat(64)}` }),
    ).toBe(403);
    expect(await upgrade({ ...own, 'Sec-WebSocket-Protocol': `tabserve.v0, ${token}` })).toBe(403);
  });
});

describe('the page', () => {
  it('carries the hub of the server, and the bridge loads models from there', async () => {
    const { bridge, url } = await start({ hub: ['https://mirror.example', 'https://files.example'] });
    expect(await (await fetch(url)).text()).toContain(
      '<meta name="tabserve-hub" content="https://mirror.example" />',
    );
    stubWebSocket(url);
    const { loads, release } = startWorker(url, 'A');
    release();
    await until(() => expect(bridge.serve.status().deployments).not.toEqual([]));
    const loaded = bridge.serve.loadModel('owner/model').catch(() => undefined);
    await until(() => expect(loads).toMatchObject([{ source: { hub: 'https://mirror.example' } }]));
    await bridge.close();
    await loaded;
  });

  it('carries the mark of the bridge where there is one, and none elsewhere', async () => {
    const { url, root } = await start();
    const page = await fetch(url);
    expect(await page.text()).toContain('<meta name="tabserve-bridge" content="/bridge/" />');
    const again = await fetch(url, { headers: { 'If-None-Match': page.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    const plain = await startServer({ host: 'localhost', port: 0, root });
    onTestFinished(() => plain.close());
    expect(await (await fetch(plain.url)).text()).not.toContain('tabserve-bridge');
  });
});
