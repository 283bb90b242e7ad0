import {
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeClock } from '../../src/batching/testing/fake-clock.ts';
import type { Bridge } from '../bridge.ts';
import type { LogEntry } from '../http/access-log.ts';
import { listen, mountBridge, refusingUrl } from '../testing/test-support.ts';
import { forwardRoutes } from './forward.ts';

const STREAM = { 'Content-Type': 'text/event-stream' };

let answer: RequestListener;
let seen: IncomingMessage[] = [];
let targetUrl: string;
/** The bridge of each test, at its address. */
let mounted: Bridge;
let bridge: string;

/** The bridge's own client has asked for the model by then. */
async function startBridge(url: string, apiKey?: string): Promise<void> {
  ({ bridge: mounted, url: bridge } = await mountBridge({ forwardTo: { url, apiKey } }));
  await mounted.serve.ready().catch(() => {});
  seen = [];
}

beforeEach(async () => {
  answer = (_, response) => response.writeHead(404).end();
  ({ url: targetUrl } = await listen((request, response) => {
    seen.push(request);
    answer(request, response);
  }));
  await startBridge(targetUrl, 'key');
});

describe('what a target answers through the bridge', () => {
  it('comes as it is, with what the caller may say and the key of the bridge', async () => {
    answer = (_, response) =>
      response
        .writeHead(418, { 'Retry-After': '3', 'Set-Cookie': 'a=b', 'Content-Type': 'text/x-tea' })
        .end('short and stout');
    const response = await fetch(`${bridge}/v1/models?limit=2`, {
      headers: { cookie: 'c=d', authorization: 'Bearer mine', 'x-request-id': 'r', 'x-forwarded-for': 'me' },
    });
    expect([response.status, await response.text()]).toEqual([418, 'short and stout']);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(response.headers.get('content-type')).toBe('text/x-tea');
    expect(response.headers.has('set-cookie')).toBe(false);
    const [{ url, headers } = {}] = seen;
    expect(url).toBe('/v1/models?limit=2');
    expect(headers).toMatchObject({
      'x-request-id': 'r',
      authorization: 'Bearer key',
      host: new URL(targetUrl).host,
    });
    expect(headers).not.toHaveProperty('cookie');
    expect(headers).not.toHaveProperty('x-forwarded-for');
  });

  it('takes the key of the caller where the bridge has none', async () => {
    answer = (_, response) => response.end();
    await startBridge(targetUrl);
    await fetch(`${bridge}/v1/models`, { headers: { authorization: 'Bearer mine' } });
    expect(seen[0]?.headers.authorization).toBe('Bearer mine');
  });

  it('comes piece by piece, and ends there when the caller leaves', async () => {
    const left = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.writeHead(200, STREAM).write('data: 1\n\n');
      response.once('close', () => left.resolve());
    };
    const abort = new AbortController();
    const response = await fetch(`${bridge}/v1/completions`, {
      method: 'POST',
      body: '{}',
      signal: abort.signal,
    });
    const first = await response.body?.pipeThrough(new TextDecoderStream()).getReader().read();
    expect(first?.value).toBe('data: 1\n\n');
    abort.abort();
    await left.promise;
  });

  it('waits for a caller that reads slowly, for as long as it reads', async () => {
    const pieces = Array.from({ length: 64 }, (_, index) => String.fromCharCode(32 + index).repeat(2 ** 16));
    answer = (_, response) => response.writeHead(200, STREAM).end(pieces.join(''));
    const response = await fetch(`${bridge}/v1/completions`, { method: 'POST', body: '{}' });
    await new Promise((resolve) => void setImmediate(resolve));
    expect(await response.text()).toBe(pieces.join(''));
  });

  it('is cut where the caller reads nothing, and nobody else waits for it', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const { port } = await listen((request, response) => {
      begun.resolve(response);
      mounted.handle(request, response, () => undefined);
    });
    answer = (_, response) => {
      response.writeHead(200, STREAM);
      const more = (): void => void (response.destroyed || response.write('x'.repeat(2 ** 16), more));
      more();
    };
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
    const response = await begun.promise;
    await vi.waitFor(() => expect(response.socket?.timeout).toBe(30_000));
    response.socket?.emit('timeout');
    await vi.waitFor(() => expect(response.destroyed).toBe(true));
    socket.destroy();
  });

  it('is told in the log as what has failed where it breaks off, not as a caller that left', async () => {
    const log: LogEntry[] = [];
    const { url } = await mountBridge({ forwardTo: { url: targetUrl }, log: (entry) => log.push(entry) });
    answer = (_, response) => {
      response.writeHead(200, STREAM).write('data: 1\n\n', () => response.destroy());
    };
    const response = await fetch(`${url}/v1/completions`, { method: 'POST', body: '{}' });
    expect(await response.text()).toMatch(/^data: 1\n\ndata: \{"error":.*"SERVER_UNREACHABLE"\}\}\n\n$/);
    await vi.waitFor(() => expect(log).toMatchObject([{ status: 200, error: 'SERVER_UNREACHABLE' }]));
  });

  it('is no redirect: the key is for this server alone', async () => {
    answer = (_, response) => response.writeHead(307, { Location: `${targetUrl}/elsewhere` }).end();
    const response = await fetch(`${bridge}/v1/models`, { redirect: 'manual' });
    expect([response.status, response.headers.has('location')]).toEqual([502, false]);
    expect(seen).toHaveLength(1);
  });

  it('is a 502 in OpenAI’s shape where it cannot be reached', async () => {
    const refusing = await refusingUrl();
    await startBridge(refusing);
    const response = await fetch(`${bridge}/v1/models`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      error: {
        code: 'SERVER_UNREACHABLE',
        type: 'server_error',
        message: expect.stringMatching(new RegExp(`${refusing},.*ECONNREFUSED.*Check its address`)),
      },
    });
  });

  it.each([
    ['/v1/completions', 200, '{"choices": [{"text": "a", "index": 0}], "id": "x"}'],
    ['/v1/completions', 404, '{"error": {"message": "no such model"}}'],
    ['/v1/completions', 404, '{"object": "error", "message": "no such model"}'],
    ['/tokenize', 200, '{"count": 1, "max_model_len": 8, "tokens": [5]}'],
    ['/v1/embeddings', 200, '{"any": "thing"}'],
    ['/v1/chat/completions', 404, '{"detail":"Not Found"}'],
  ])('of %s with status %d and %s comes as it is', async (path, status, body) => {
    answer = (_, response) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
    const response = await fetch(bridge + path, { method: 'POST', body: '{}' });
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it('is what makes the bridge healthy', async () => {
    answer = (_, response) => response.end('{"data": [{"id": "gpt2"}]}');
    expect(await (await fetch(`${bridge}/-/healthz`)).text()).toBe('success');
    expect((await fetch(`${bridge}/health`)).status).toBe(200);
    await startBridge(await refusingUrl());
    const outage = await fetch(`${bridge}/-/healthz`);
    expect([outage.status, await outage.text()]).toEqual([503, expect.stringContaining('ECONNREFUSED')]);
    expect((await fetch(`${bridge}/health`)).status).toBe(503);
  });

  it.each([
    ['PUT', '/v1/models', 405],
    ['GET', '/v1/models/..%2f..%2fadmin', 404],
    ['POST', '/v1/load_lora_adapter', 404],
    ['POST', '/v1/files', 404],
    ['GET', '/v1/files', 418],
    ['GET', '/v1/responses/resp_1', 418],
    ['GET', '/v1/completions', 405],
    ['GET', '/v1/../admin', 418],
    ['GET', '/v2/models', 418],
    ['OPTIONS', '*', 400],
  ])('is not asked for %s %s', async (method, path, status) => {
    answer = (_, response) => response.end();
    // As it stands: fetch would resolve the dots.
    const got = await new Promise((resolve) => {
      httpRequest(bridge, { method, path }, ({ statusCode }) => resolve(statusCode)).end();
    });
    expect([got, seen.length]).toEqual([status, 0]);
  });

  it('is work: the bridge bounds how much of it there is at a time', () => {
    const asked = forwardRoutes({ url: targetUrl }).filter(({ methods }) => methods.POST);
    expect(asked.filter(({ isWork }) => isWork).map(({ path }) => path)).toEqual([
      '/v1/completions',
      '/v1/chat/completions',
      '/v1/embeddings',
      '/tokenize',
      '/detokenize',
    ]);
    expect(asked.filter(({ isWork }) => !isWork)).toEqual([]);
  });

  it('is not asked with a body of more than 8 MiB', async () => {
    const body = new Uint8Array(9 * 2 ** 20);
    const response = await fetch(`${bridge}/v1/completions`, { method: 'POST', body });
    expect([response.status, seen.length]).toEqual([413, 0]);
  });

  it('is not asked with a body that grows to more than that', async () => {
    const status = await new Promise((resolve) => {
      const growing = httpRequest(`${bridge}/v1/completions`, { method: 'POST' }, ({ statusCode }) =>
        resolve(statusCode),
      );
      // It is cut off in the middle of its body.
      growing.on('error', () => undefined);
      for (let piece = 0; piece < 9; piece += 1) growing.write(Buffer.alloc(2 ** 20));
    });
    expect([status, seen.length]).toEqual([413, 0]);
  });
});

it('a stop ends the target’s stream behind its last whole event, with an error event', async () => {
  answer = (_, response) => {
    response.writeHead(200, STREAM);
    response.write('data: {"a":1}\n\ndata: {"b"');
  };
  const streamed = await fetch(`${bridge}/v1/completions`, { method: 'POST', body: '{}' });
  const reader = streamed.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('data: {"a":1}\n\n');
  const clock = new FakeClock();
  const drained = mounted.drain(5, clock);
  clock.advance(5);
  expect((await reader?.read())?.value).toMatch(/^data: \{"error":.*"SERVER_STOPPING"\}\}\n\n$/);
  expect((await reader?.read())?.done).toBe(true);
  await drained;
});
