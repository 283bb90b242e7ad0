import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { clientId } from '../../src/batching/generation/test-support.ts';
import { Serve } from '../../src/worker/client/client.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../src/worker/protocol/wire.ts';
import type { RequestId } from '../../src/worker/protocol/ids.ts';
import type { ServedModel } from '../../src/worker/protocol/models.ts';
import type { WorkerMessage } from '../../src/worker/protocol/worker-messages.ts';
import type { LinkListener, Outgoing } from '../../src/worker/client/links/link.ts';
import { createServedModel, createWorkerStatus, workerId } from '../../src/worker/test-support.ts';
import { Exchange } from '../http/exchange.ts';
import { createModel } from '../test-support.ts';
import { completionsRoute } from './completions.ts';

// The test plays the worker, whose models `A` and `B` serve in turn.

let server: Server;
let url: string;
let listener: LinkListener;
let posted: Outgoing[];

beforeEach(async () => {
  posted = [];
  const serve = new Serve(clientId('bridge'), (given) => {
    listener = given;
    return { isolationReason: '', post: (message) => void posted.push(message), close: () => undefined };
  });
  listener.onOpen();
  const { POST } = completionsRoute(serve).methods;
  server = createServer((request, response) => {
    const exchange = new Exchange(request, response, new URL('http://localhost/v1/completions'), '');
    void exchange.run(async (given) => POST?.(given));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});

function say(message: Unsigned<WorkerMessage>): void {
  listener.onMessage({ version: PROTOCOL_VERSION, workerId: workerId('W'), ...message });
}

const readyWith = (id: string) =>
  createWorkerStatus({
    state: 'ready',
    model: createModel(id),
    backend: { name: 'wasm', precision: 'fp32', adapter: '', isSoftwareAdapter: false, fallbackReason: '' },
  });

function serveModel(id: string): void {
  say({ type: 'status', status: readyWith(id) });
}

function ask(body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ prompt: 'Once', ...body }),
  });
}

const submittedIds = () =>
  posted.flatMap((message) => {
    if (message.type === 'submit-all') return message.requests.map(({ requestId }) => requestId);
    return message.type === 'submit' ? [message.requestId] : [];
  });

/** The ids of the requests that have reached the worker, when there are as many. */
async function submitted(count: number): Promise<readonly RequestId[]> {
  await vi.waitFor(() => expect(submittedIds()).toHaveLength(count));
  return submittedIds();
}

function sendToken(requestId: RequestId, text: string): void {
  const logprobs = [{ tokenId: 7, logprob: -1, top: [] }];
  say({ type: 'updates', updates: [{ type: 'chunk', requestId, index: 0, text, tokenIds: [7], logprobs }] });
}

/** The model starts the request. */
function start(requestId: RequestId, given: string | ServedModel = 'A'): void {
  const model = typeof given === 'string' ? createServedModel(given) : given;
  const update = { type: 'started', requestId, queueWaitMs: 0, model } as const;
  say({ type: 'updates', updates: [update] });
}

function restart(requestId: RequestId): void {
  const update = { type: 'restarted', requestId, model: createServedModel('B') } as const;
  say({ type: 'updates', updates: [update] });
}

function accept(requestId: RequestId): void {
  say({ type: 'updates', updates: [{ type: 'accepted', requestId }] });
}

function fail(requestId: RequestId, code: string): void {
  say({ type: 'updates', updates: [{ type: 'failed', requestId, error: { code, message: code } }] });
}

function echo(requestId: RequestId, text: string): void {
  say({ type: 'updates', updates: [{ type: 'echo', requestId, index: 0, text }] });
}

function chunk(requestId: RequestId, text: string): void {
  say({ type: 'updates', updates: [{ type: 'chunk', requestId, index: 0, text, tokenIds: [7] }] });
}

/** The model answers the request, which it has started. */
function finish(requestId: RequestId, model: string | ServedModel = 'A'): void {
  start(requestId, model);
  const choice = {
    text: 'Once!',
    generatedText: '!',
    tokenIds: [7],
    finishReason: 'length',
    seed: 1,
  } as const;
  const result = {
    ...choice,
    choices: [choice],
    usage: { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 1 },
    timings: { queueWaitMs: 0, ttftMs: 0, tpotMs: 0, e2eMs: 0 },
  };
  say({ type: 'updates', updates: [{ type: 'finished', requestId, result }] });
}

describe('a completion that is asked for while the model is about to be replaced', () => {
  beforeEach(() => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  });

  it('names the model that has answered', async () => {
    const answer = ask({});
    const [id] = await submitted(1);
    serveModel('B');
    if (id) finish(id, 'B');
    expect(await (await answer).json()).toMatchObject({ model: 'B' });
  });

  it('is refused where that is another one than it asks for', async () => {
    const answer = ask({ model: 'A' });
    const [id] = await submitted(1);
    serveModel('B');
    if (id) finish(id, 'B');
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([
      404,
      { error: { code: 'model_not_found' } },
    ]);
  });

  it('names the model that has answered, though the next one serves right after', async () => {
    const answer = ask({ model: 'A' });
    const [id] = await submitted(1);
    if (id) finish(id);
    serveModel('B');
    expect(await (await answer).json()).toMatchObject({ model: 'A' });
  });

  it('is refused where its prompts are answered by different ones', async () => {
    const answer = ask({ prompt: ['Once', 'Twice'] });
    const [first, second] = await submitted(2);
    if (first) finish(first);
    serveModel('B');
    if (second) finish(second, 'B');
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'MODEL_REPLACED' } },
    ]);
  });

  it('has the tokens of the model that wrote them, or none', async () => {
    const answer = ask({ stream: true, logprobs: 0 });
    const [id] = await submitted(1);
    if (!id) return;
    start(id);
    sendToken(id, '!');
    await vi.waitFor(() => expect(posted.at(-1)).toMatchObject({ type: 'token-texts' }));
    serveModel('B');
    const call = posted.at(-1);
    if (call?.type === 'token-texts') say({ type: 'call-answered', callId: call.callId, result: ['?'] });
    const refused = await (await answer).text();
    expect(refused).toMatch(/^data: \{"error":.*"MODEL_REPLACED"/);
    expect(refused).not.toContain('"choices"');
  });
});

describe('a stream that another model begins anew', () => {
  beforeEach(() => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  });

  it('goes on where nothing was sent yet, and names the new model', async () => {
    const answer = ask({ stream: true, echo: true });
    const [id] = await submitted(1);
    if (!id) return;
    start(id);
    echo(id, 'Once');
    restart(id);
    serveModel('B');
    start(id, 'B');
    echo(id, 'Once');
    chunk(id, '!');
    finish(id, 'B');
    const text = await (await answer).text();
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]): unknown => JSON.parse(data ?? ''));
    expect(events).toMatchObject([
      { model: 'B', choices: [{ text: 'Once' }] },
      { model: 'B', choices: [{ text: '!' }] },
    ]);
  });

  it('ends with an error where something was', async () => {
    const answer = ask({ stream: true });
    const [id] = await submitted(1);
    if (!id) return;
    start(id);
    chunk(id, '!');
    const response = await answer;
    restart(id);
    expect(await response.text()).toContain('MODEL_REPLACED');
  });
});

describe('a stream', () => {
  beforeEach(() => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  });

  it('has its status when it is accepted, before its first token', async () => {
    const answer = ask({ stream: true });
    const [id] = await submitted(1);
    if (!id) return;
    accept(id);
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    fail(id, 'MODEL_RUN_FAILED');
    expect(await response.text()).toMatch(/^data: \{"error":\{"message":"MODEL_RUN_FAILED"[^\n]*\n\n$/);
  });

  it.each([
    ['BACK_PRESSURE', 429],
    ['INVALID_OPTION', 400],
  ])('that is refused with %s has status %i', async (code, status) => {
    const answer = ask({ stream: true });
    const [id] = await submitted(1);
    if (id) fail(id, code);
    expect((await answer).status).toBe(status);
  });

  it('of several prompts is submitted as one turn of who asks', async () => {
    const answer = ask({ stream: true, prompt: ['Once', 'Twice'], user: 'ann' });
    const ids = await submitted(2);
    expect(posted.at(-1)).toMatchObject({
      type: 'submit-all',
      caller: ['loopback', '', expect.stringMatching(/^[\da-f]{32}$/)],
    });
    for (const id of ids) fail(id, 'BACK_PRESSURE');
    await answer;
  });
});

describe('a priority', () => {
  it.each([-1, 5, 'high'])('of %j is refused unless the operator allows it', async (priority) => {
    const refused = await ask({ priority });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { param: 'priority', message: expect.stringContaining('--allow-priority') } },
    ]);
  });

  it('of 0 is none', async () => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
    const answer = ask({ priority: 0 });
    const [id] = await submitted(1);
    if (id) finish(id);
    expect((await answer).status).toBe(200);
  });
});

/** The chunks of a stream. */
async function eventsOf(answer: Promise<Response>): Promise<unknown[]> {
  const text = await (await answer).text();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]): unknown => JSON.parse(data ?? ''));
}

const used = (completion: number) => ({
  prompt_tokens: 3,
  completion_tokens: completion,
  total_tokens: 3 + completion,
});

describe('a stream that tells what it has used so far', () => {
  beforeEach(() => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  });

  it('does so in each chunk, for its choice: the end token counts, the echo does not', async () => {
    const answer = ask({
      stream: true,
      echo: true,
      n: 2,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    });
    const [requestId] = await submitted(1);
    if (!requestId) return;
    start(requestId);
    const part = { type: 'chunk', requestId } as const;
    say({
      type: 'updates',
      updates: [
        { type: 'echo', requestId, index: 0, text: 'Once' },
        { type: 'echo', requestId, index: 1, text: 'Once' },
        { ...part, index: 0, text: ' a', tokenIds: [7], numPromptTokens: 3 },
        { ...part, index: 1, text: ' b', tokenIds: [8] },
        { ...part, index: 0, text: ' c', tokenIds: [9, 10], finishReason: 'length' },
        { ...part, index: 1, text: '', tokenIds: [], finishReason: 'stop' },
      ],
    });
    finish(requestId);
    const usages = (await eventsOf(answer)).slice(0, -1).map((event) => Object(event).usage);
    expect(usages).toEqual([0, 0, 1, 1, 3, 2].map(used));
  });
});

/** Of an answer by this model. */
async function fingerprintWith(id: string, precision: 'fp16' | 'fp32'): Promise<string> {
  const numBefore = submittedIds().length;
  const answer = ask({});
  const requestId = (await submitted(numBefore + 1)).at(-1);
  if (requestId) finish(requestId, { id, backend: 'wasm', precision });
  const { system_fingerprint: fingerprint } = Object(await (await answer).json());
  return String(fingerprint);
}

describe('a fingerprint', () => {
  it('is the same for the same model, dtype and backend, and another for any other', async () => {
    say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
    const first = await fingerprintWith('A', 'fp32');
    expect(first).toMatch(/^fp_[0-9a-f]{12}$/);
    expect(await fingerprintWith('A', 'fp32')).toBe(first);
    expect(await fingerprintWith('A', 'fp16')).not.toBe(first);
    expect(await fingerprintWith('B', 'fp32')).not.toBe(first);
  });
});

it('sends an echo with the logprobs of the prompt as soon as they are there', async () => {
  say({ type: 'welcome', status: readyWith('A'), activity: [], batches: [] });
  const answer = ask({ stream: true, echo: true, logprobs: 1, max_tokens: 0 });
  const [requestId] = await submitted(1);
  if (!requestId) return;
  start(requestId);
  const promptLogprobs = [
    { tokenId: 1, logprob: null, top: [] },
    { tokenId: 2, logprob: -3, top: [{ tokenId: 4, logprob: -0.5 }] },
  ];
  say({ type: 'updates', updates: [{ type: 'echo', requestId, index: 0, text: 'Once', promptLogprobs }] });
  await vi.waitFor(() => expect(posted.at(-1)).toMatchObject({ type: 'token-texts', tokenIds: [1, 2, 4] }));
  const call = posted.at(-1);
  if (call?.type === 'token-texts')
    say({ type: 'call-answered', callId: call.callId, result: ['On', 'ce', 'ly'] });
  const end = { type: 'chunk', requestId, index: 0, text: '', tokenIds: [], finishReason: 'length' } as const;
  say({ type: 'updates', updates: [end] });
  finish(requestId);
  expect(await eventsOf(answer)).toMatchObject([
    {
      choices: [
        {
          text: 'Once',
          logprobs: {
            tokens: ['On', 'ce'],
            token_logprobs: [null, -3],
            top_logprobs: [null, { ly: -0.5, ce: -3 }],
            text_offset: [0, 2],
          },
        },
      ],
    },
    { choices: [{ text: '', finish_reason: 'length' }] },
  ]);
});
