import type { ClientUpdate } from '../src/client/index.ts';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import OpenAI, { APIError } from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeClock } from '../src/batching/testing/fake-clock.ts';

import { ScriptedBackend } from '../src/worker/testing/scripted-backend.ts';
import type { Bridge, BridgeOptions } from './bridge.ts';
import type { RunningServer } from './server.ts';
import { EMBEDDED } from '../src/worker/test-support.ts';
import { startBridge, startWorker, stubWebSocket } from './testing/test-support.ts';

// Tests HTTP, bridge and worker together. Their model counts up through the alphabet, once `gate` is open.

const { model } = vi.hoisted(() => ({ model: { gate: Promise.resolve() } }));

class GatedBackend extends ScriptedBackend {
  override async forward(input: Parameters<ScriptedBackend['forward']>[0]) {
    await model.gate;
    return super.forward(input);
  }
}

vi.mock('../src/worker/serving/models/load-model.ts', async () => {
  const { createScriptedModel } = await import('../src/worker/test-support.ts');
  return { loadModel: () => Promise.resolve(createScriptedModel(new GatedBackend())) };
});
vi.mock('../src/worker/runtime/warm-up.ts', () => ({ warmUp: () => Promise.resolve() }));

let server: RunningServer;
let bridge: Bridge;
let open: () => void;
let updates: ClientUpdate[];

beforeEach(async () => {
  const gate = Promise.withResolvers<void>();
  model.gate = gate.promise;
  open = gate.resolve;
  updates = [];
  await start();
});

async function start(options: Partial<BridgeOptions> = {}): Promise<void> {
  ({ bridge, server } = await startBridge(options));
  bridge.serve.subscribe('requests', (batch) => updates.push(...batch));
  stubWebSocket(server.url);
  await startWorker(server.url, 'A').worker.start(EMBEDDED, 'wasm');
  await bridge.serve.ready();
}

afterEach(() => open());

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the body is complete: neither reset nor cut off. */
  readonly isWhole: boolean;
}

/** Posts a body, and says when the headers of the answer are there. */
function ask(body: object) {
  const begun = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<Answer>();
  const sent = httpRequest(`${server.url}/v1/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
  });
  sent.on('error', ended.reject);
  sent.on('response', (response) => {
    const { statusCode: status = 0, headers } = response;
    begun.resolve(status);
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    response.on('error', () => undefined);
    response.on('close', () => ended.resolve({ status, headers, text, isWhole: response.complete }));
  });
  sent.end(JSON.stringify({ prompt: 'ab', max_tokens: 4, ...body }));
  return { begun: begun.promise, ended: ended.promise };
}

/** In the order of their start. */
const startedIds = () => updates.flatMap(({ type, requestId }) => (type === 'started' ? [requestId] : []));

function prompts(count: number): readonly string[] {
  return Array.from({ length: count }, () => 'ab');
}

describe('one large request', () => {
  it('that an idle server could never admit is told so, and nothing of it starts', async () => {
    const { status, headers, text } = await ask({ prompt: prompts(64), n: 16 }).ended;
    expect(status).toBe(400);
    expect(headers['retry-after']).toBeUndefined();
    expect(JSON.parse(text)).toMatchObject({
      error: {
        message: expect.stringMatching(/1024 sequences can never be admitted.*1000.*maxQueuedRequests/),
      },
    });
    expect(updates.map(({ type }) => type)).not.toContain('accepted');
  });

  it('that does not fit now is refused altogether, with a time to come again', async () => {
    const large = ask({ prompt: prompts(62), n: 16, stream: true });
    expect(await large.begun).toBe(200);
    const { status, headers } = await ask({ prompt: prompts(2), n: 16 }).ended;
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(updates.filter(({ type }) => type === 'accepted')).toHaveLength(62);
  });

  it('of 62 × 16 lets a plain one of the same peer start within two admissions', async () => {
    const large = ask({ prompt: prompts(62), n: 16, stream: true });
    await large.begun;
    const plain = ask({ stream: true });
    await plain.begun;
    const numBefore = startedIds().length;
    const plainId = updates.findLast(({ type }) => type === 'accepted')?.requestId;
    open();
    await plain.ended;
    expect(startedIds().slice(numBefore, numBefore + 2)).toContain(plainId);
  });
});

const askAll = async (url: string) =>
  Promise.all([
    fetch(`${url}/?text=ab&priority=5`),
    fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ prompt: 'ab', priority: 5 }),
    }),
    fetch(`${url}/deployments/text-generator`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ input: 'ab', options: { priority: 5 } }),
    }),
  ]);

describe('a priority from outside', () => {
  it('is refused by every endpoint, which names the option that allows it', async () => {
    for (const answer of await askAll(server.url)) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: { param: 'priority', message: expect.stringContaining('--allow-priority') },
      });
    }
    open();
    expect((await fetch(`${server.url}/?text=ab&priority=0`)).status).toBe(200);
  });

  it('is taken where the operator allows it', async () => {
    await server.close();
    vi.unstubAllGlobals();
    await start({ allowsPriority: true });
    open();
    expect((await askAll(server.url)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('a server that stops', () => {
  it('refuses new work and lets what runs end', async () => {
    const [stream, plain] = [ask({ stream: true }), ask({})];
    await stream.begun;
    await vi.waitFor(() => expect(updates.filter(({ type }) => type === 'accepted')).toHaveLength(2));
    const drained = bridge.drain(60_000, new FakeClock());
    const refused = await ask({}).ended;
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '60', connection: 'close' } });
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'SERVER_STOPPING' } });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
    open();
    await drained;
    expect((await stream.ended).text).toMatch(/data: \[DONE\]\n\n$/);
    expect(await plain.ended).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  it('ends each of 16 streams with an error event when the time is up, and any other request with 503', async () => {
    const streams = Array.from({ length: 16 }, () => ask({ stream: true }));
    const plain = ask({});
    for (const { begun } of streams) expect(await begun).toBe(200);
    await vi.waitFor(() => expect(updates.filter(({ type }) => type === 'accepted')).toHaveLength(17));
    const clock = new FakeClock();
    const drained = bridge.drain(5000, clock);
    clock.advance(4999);
    clock.advance(1);
    await drained;
    await server.close();
    for (const { ended } of streams) {
      const { text, isWhole } = await ended;
      expect(text).toMatch(/^data: \{"error":\{[^\n]*"code":"SERVER_STOPPING"\}\}\n\n$/);
      expect(isWhole).toBe(true);
    }
    const answer = await plain.ended;
    expect(answer).toMatchObject({ status: 503, isWhole: true, headers: { 'retry-after': '5' } });
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'SERVER_STOPPING' } });
    await vi.waitFor(() => expect(bridge.serve.status().state).toBe('closed'));
  });

  it('ends at once without a time to drain', async () => {
    const stream = ask({ stream: true });
    await stream.begun;
    const clock = new FakeClock();
    const drained = bridge.drain(0, clock);
    clock.advance(0);
    await drained;
    expect((await stream.ended).text).toContain('SERVER_STOPPING');
  });
});

async function readAll(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) continue;
}

it('the openai client reads past comments, and throws what an error event says', async () => {
  const client = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 });
  const chunks = await client.completions.create({ model: 'scripted', prompt: 'ab', stream: true });
  const clock = new FakeClock();
  const drained = bridge.drain(0, clock);
  clock.advance(0);
  const reading = readAll(chunks);
  await expect(reading).rejects.toBeInstanceOf(APIError);
  await expect(reading).rejects.toMatchObject({ code: 'SERVER_STOPPING' });
  await drained;
});
