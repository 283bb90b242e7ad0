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
import { upstreamRoutes } from './upstream-routes.ts';

const CONNECTION = '/upstream/connections/connection-1';
const STREAM = { 'Content-Type': 'text/event-stream' };

let answer: RequestListener;
let seen: IncomingMessage[];
let upstreamUrl: string;
/** The bridge of each test, at its address. */
let mounted: Bridge;
let bridge: string;

async function startBridge(url: string, apiKey?: string): Promise<void> {
  ({ bridge: mounted, url: bridge } = await mountBridge({ upstream: { url, apiKey } }));
}

beforeEach(async () => {
  seen = [];
  ({ url: upstreamUrl } = await listen((request, response) => {
    seen.push(request);
    answer(request, response);
  }));
  await startBridge(upstreamUrl, 'key');
});

/** Reads a connection; `until` resolves with all that has come when it holds that. */
async function openConnection(path = CONNECTION) {
  const abort = new AbortController();
  const response = await fetch(bridge + path, { signal: abort.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      const next = await reader?.read();
      if (!next?.value) throw new Error(`The connection ended with ${text}`);
      text += next.value;
    }
    return text;
  };
  return { response, until, close: () => abort.abort() };
}

const begin = (requestId: string, path = '/v1/completions') =>
  fetch(`${bridge}${CONNECTION}/${requestId}?path=${path}`, { method: 'POST', body: '{}' });

describe('what an upstream answers through the bridge', () => {
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
      host: new URL(upstreamUrl).host,
    });
    expect(headers).not.toHaveProperty('cookie');
    expect(headers).not.toHaveProperty('x-forwarded-for');
  });

  it('takes the key of the caller where the bridge has none', async () => {
    answer = (_, response) => response.end();
    await startBridge(upstreamUrl);
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
    const { url } = await mountBridge({ upstream: { url: upstreamUrl }, log: (entry) => log.push(entry) });
    answer = (_, response) => {
      response.writeHead(200, STREAM).write('data: 1\n\n', () => response.destroy());
    };
    const response = await fetch(`${url}/v1/completions`, { method: 'POST', body: '{}' });
    expect(await response.text()).toMatch(/^data: 1\n\ndata: \{"error":.*"UPSTREAM_UNREACHABLE"\}\}\n\n$/);
    await vi.waitFor(() => expect(log).toMatchObject([{ status: 200, error: 'UPSTREAM_UNREACHABLE' }]));
  });

  it('is no redirect: the key is for this server alone', async () => {
    answer = (_, response) => response.writeHead(307, { Location: `${upstreamUrl}/elsewhere` }).end();
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
        code: 'UPSTREAM_UNREACHABLE',
        type: 'server_error',
        message: expect.stringMatching(new RegExp(`^${refusing} .*ECONNREFUSED.*--upstream`)),
      },
    });
  });

  it.each([
    ['/v1/models', 200, '<!doctype html>', 'answers /v1/models with something that is not a list of models'],
    ['/v1/models', 200, '{"models": []}', 'something that is not a list of models'],
    ['/v1/models/gpt2', 200, '{}', 'something that is not a model'],
    ['/v1/models', 404, '<h1>Not Found</h1>', 'answers /v1/models with HTTP status 404'],
    ['/v1/completions', 404, '{"detail":"Not Found"}', 'answers /v1/completions with HTTP status 404'],
    ['/v1/completions', 405, '', 'answers /v1/completions with HTTP status 405'],
    ['/v1/completions', 200, '{"generated_text": "a"}', 'something that is not a completion'],
    ['/v1/chat/completions', 200, '{"choices": [{"text": "a"}]}', 'something that is not a chat completion'],
    ['/tokenize', 200, '{"input_ids": [1]}', 'something that is not a list of tokens'],
    ['/detokenize', 200, '{"text": "a"}', 'something that is not a prompt'],
  ])('of %s with status %d and %s is a 502 that names --upstream', async (path, status, body, reason) => {
    answer = (_, response) => response.writeHead(status).end(body);
    const method = path.startsWith('/v1/models') ? 'GET' : 'POST';
    const response = await fetch(bridge + path, method === 'GET' ? {} : { method, body: '{}' });
    expect(response.status).toBe(502);
    const remedy = 'check that --upstream names an OpenAI-compatible server.';
    expect(await response.json()).toMatchObject({
      error: {
        code: 'UPSTREAM_BAD_ANSWER',
        message: expect.stringMatching(new RegExp(`^${upstreamUrl} .*${reason}: ${remedy}$`)),
      },
    });
  });

  it.each([
    ['/v1/completions', 200, '{"choices": [{"text": "a", "index": 0}], "id": "x"}'],
    ['/v1/completions', 404, '{"error": {"message": "no such model"}}'],
    ['/v1/completions', 404, '{"object": "error", "message": "no such model"}'],
    ['/tokenize', 200, '{"count": 1, "max_model_len": 8, "tokens": [5]}'],
    ['/v1/embeddings', 200, '{"any": "thing"}'],
  ])('of %s with status %d and %s comes as it is', async (path, status, body) => {
    answer = (_, response) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
    const response = await fetch(bridge + path, { method: 'POST', body: '{}' });
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it('says which path it lacks, where not every server has that path', async () => {
    answer = (_, response) => response.writeHead(404).end('{"detail":"Not Found"}');
    const response = await fetch(`${bridge}/tokenize`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining(`${upstreamUrl} serves nothing at /tokenize`) },
    });
  });

  it('answers HEAD with the length of its list of models', async () => {
    answer = (_, response) => response.end('{"data": []}');
    const response = await fetch(`${bridge}/v1/models`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '12']);
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
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
    ['PUT', CONNECTION, 405],
    ['HEAD', CONNECTION, 405],
    ['GET', `${CONNECTION}/r`, 405],
    ['GET', '/upstream/connections/a.b', 404],
    ['POST', '/upstream/connections/nobody/r', 404],
  ])('is not asked for %s %s', async (method, path, status) => {
    answer = (_, response) => response.end();
    // As it stands: fetch would resolve the dots.
    const got = await new Promise((resolve) => {
      httpRequest(bridge, { method, path }, ({ statusCode }) => resolve(statusCode)).end();
    });
    expect([got, seen.length]).toEqual([status, 0]);
  });

  it('is work: the bridge bounds how much of it there is at a time', () => {
    const asked = upstreamRoutes({ url: upstreamUrl }).filter(({ methods }) => methods.POST);
    expect(asked.filter(({ isWork }) => isWork).map(({ path }) => path)).toEqual([
      '/v1/completions',
      '/v1/chat/completions',
      '/v1/embeddings',
      '/tokenize',
      '/detokenize',
    ]);
    expect(asked.filter(({ isWork }) => !isWork).map(({ path }) => path)).toEqual([
      '/upstream/connections/*',
    ]);
  });

  it('is not asked with a body of more than 8 MiB', async () => {
    const body = new Uint8Array(9 * 2 ** 20);
    const response = await fetch(`${bridge}/v1/completions`, { method: 'POST', body });
    expect([response.status, seen.length]).toEqual([413, 0]);
  });

  it('is not asked with a body that grows to more than that', async () => {
    const status = await new Promise((resolve) => {
      const growing = httpRequest(`${bridge}${CONNECTION}/r`, { method: 'POST' }, ({ statusCode }) =>
        resolve(statusCode),
      );
      // It is cut off in the middle of its body.
      growing.on('error', () => undefined);
      for (let piece = 0; piece < 9; piece += 1) growing.write(Buffer.alloc(2 ** 20));
    });
    expect([status, seen.length]).toEqual([413, 0]);
  });
});

/** The events that a connection sends for the upstream's answer. */
const eventsOf = (id: string) =>
  `event: head\nid: ${id}\ndata: \n\nevent: data\nid: ${id}\ndata: {"${id}":\ndata: "é"}\n\n` +
  `event: data\nid: ${id}\ndata: [DONE]\n\nevent: end\nid: ${id}\ndata: \n\n`;

describe('a connection', () => {
  it('brings the answers of several requests, each event with its request', async () => {
    answer = (request, response) => {
      const id = String(request.headers['x-request-id']);
      // Cut where no event ends, and inside a character.
      const bytes = Buffer.from(`data: {"${id}":\ndata: "é"}\n\n: comment\n\ndata: [DONE]\n\n`);
      const cut = bytes.indexOf(0xc3) + 1;
      response.writeHead(200, STREAM).write(bytes.subarray(0, cut));
      response.end(bytes.subarray(cut));
    };
    const connection = await openConnection();
    expect(connection.response.headers.get('content-type')).toBe('text/event-stream');
    for (const id of ['a', 'b']) expect((await begin(id)).status).toBe(202);
    await connection.until('event: end\nid: a\n');
    const text = await connection.until('event: end\nid: b\n');
    for (const id of ['a', 'b']) {
      const own = text
        .split('\n\n')
        .filter((event) => event.includes(`id: ${id}\n`))
        .map((event) => `${event}\n\n`);
      expect(own.join('')).toBe(eventsOf(id));
    }
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/completions', 'Bearer key'],
      ['/v1/completions', 'Bearer key'],
    ]);
    connection.close();
  });

  it.each<readonly [string, RequestListener, number, string]>([
    [
      'a refusal',
      (_, response) => response.writeHead(429, { 'Retry-After': '7' }).end('full'),
      429,
      '"retryAfter":"7"',
    ],
    ['a success that is no stream', (_, response) => response.end('{}'), 502, 'UPSTREAM_BAD_ANSWER'],
    [
      'an answer that is cut off',
      (_, response) => {
        response.writeHead(200, STREAM).write('data: 1\n\n', () => response.destroy());
      },
      502,
      'UPSTREAM_UNREACHABLE',
    ],
    [
      'an event without an end',
      (_, response) => response.writeHead(200, STREAM).end(`data: ${'x'.repeat(3 * 2 ** 20)}`),
      502,
      'max',
    ],
  ])('tells %s', async (_, badAnswer, status, detail) => {
    answer = badAnswer;
    const connection = await openConnection();
    await begin('a');
    const text = await connection.until(`"status":${status}`);
    expect(text).toContain('event: refusal\nid: a\n');
    expect(text).toContain(detail);
    connection.close();
  });

  it('ends a request that is cancelled, and all of them with itself', async () => {
    const left: string[] = [];
    const gone = new EventTarget();
    answer = (request, response) => {
      response.writeHead(200, STREAM).write('data: 1\n\n');
      response.once('close', () => {
        left.push(String(request.headers['x-request-id']));
        gone.dispatchEvent(new Event('left'));
      });
    };
    const whenLeft = () =>
      new Promise((resolve) => {
        gone.addEventListener('left', resolve, { once: true });
      });
    const connection = await openConnection();
    for (const id of ['a', 'b']) await begin(id);
    await connection.until('id: b\ndata: 1');
    const first = whenLeft();
    expect((await fetch(`${bridge}${CONNECTION}/a`, { method: 'DELETE' })).status).toBe(204);
    await first;
    expect(left).toEqual(['a']);
    const second = whenLeft();
    connection.close();
    await second;
    expect(left).toEqual(['a', 'b']);
    expect((await begin('c')).status).toBe(404);
  });

  it('asks for a chat where the worker does, and for nothing else', async () => {
    answer = (_, response) => response.writeHead(200, STREAM).end('data: 1\n\n');
    const connection = await openConnection();
    for (const path of ['/v1/files', '']) expect((await begin('a', path)).status).toBe(400);
    await begin('b', '/v1/chat/completions');
    await connection.until('event: end\nid: b\n');
    expect(seen.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
    connection.close();
  });

  it('belongs to whoever opened it', async () => {
    const connection = await openConnection();
    expect((await fetch(bridge + CONNECTION)).status).toBe(503);
    connection.close();
  });
});

it('a stop ends the upstream’s stream behind its last whole event, with an error event', async () => {
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
