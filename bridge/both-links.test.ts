import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  connect,
  type ClientUpdate,
  type GenerationOptions,
  type TabserveClient,
} from '../src/client/index.ts';
import { ScriptedBackend } from '../src/worker/testing/scripted-backend.ts';
import { EMBEDDED } from '../src/worker/test-support.ts';
import { startOpenAiServer, type OpenAiServer } from './testing/openai-server.ts';
import { startBridge, startWorker, stubWebSocket } from './testing/test-support.ts';

// One client over its links: to a worker, to a Tabserve that has this worker, and to a server that behaves as vLLM. The worker's model
// counts up through the alphabet, that of the last server through the numbers.

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

type LinkName = 'a worker' | 'another Tabserve' | 'a server like vLLM';

let serve: Record<LinkName, TabserveClient>;
let likeVllm: OpenAiServer;

async function connectTo(server: string): Promise<TabserveClient> {
  const client = await connect({ server });
  onTestFinished(() => client.close());
  await client.ready();
  return client;
}

beforeEach(async () => {
  model.gate = Promise.resolve();
  const { bridge, url } = await startBridge();
  stubWebSocket(url);
  await startWorker(url, 'A').worker.start(EMBEDDED, 'wasm');
  await bridge.serve.ready();
  likeVllm = await startOpenAiServer();
  serve = {
    'a worker': bridge.serve,
    'another Tabserve': await connectTo(url),
    'a server like vLLM': await connectTo(`${likeVllm.url}/v1/`),
  };
});

afterEach(() => likeVllm.close());

const LETTERS = ['c', 'd', 'e', 'f'];
const NUMBERS = [' 7', ' 8', ' 9', ' 10'];
const LINKS: readonly (readonly [LinkName, readonly string[]])[] = [
  ['a worker', LETTERS],
  ['another Tabserve', LETTERS],
  ['a server like vLLM', NUMBERS],
];
const SERVERS: readonly LinkName[] = ['another Tabserve', 'a server like vLLM'];
const OPTIONS: GenerationOptions = { maxNewTokens: 4, seed: 7 };

/** Holds the texts of all links until the returned function is called. */
function hold(): () => void {
  const gate = Promise.withResolvers<void>();
  model.gate = gate.promise;
  const release = likeVllm.hold(0);
  return () => {
    gate.resolve();
    release();
  };
}

const codeOf = (answer: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(answer).then(
    () => 'none',
    (error: Error & { code: string }) => error.code,
  );

describe.each(LINKS)('a client of %s', (name, pieces) => {
  it('streams pieces that make up the result, with every event in its order', async () => {
    const types: ClientUpdate['type'][] = [];
    serve[name].subscribe('requests', (updates) => types.push(...updates.map(({ type }) => type)));
    const response = serve[name].generate('ab', OPTIONS);
    const texts: string[] = [];
    for await (const { text } of response) texts.push(text);
    expect(texts.filter((text) => text !== '')).toEqual(pieces);
    const result = await response;
    expect(result).toMatchObject({
      text: `ab${pieces.join('')}`,
      generatedText: pieces.join(''),
      finishReason: 'length',
      seed: 7,
      usage: { numOutputTokens: 4 },
    });
    expect(result.timings.e2eMs).toBeGreaterThanOrEqual(result.timings.ttftMs);
    expect(response.model?.id).toBe(serve[name].status().model?.id);
    expect(types.filter((type) => type !== 'chunk')).toEqual([
      'submitted',
      'accepted',
      'started',
      'finished',
    ]);
  });

  it('gets several continuations', async () => {
    const { choices } = await serve[name].generate('ab', { ...OPTIONS, n: 2 });
    expect(choices).toHaveLength(2);
    expect(choices[0]?.generatedText).toBe(pieces.join(''));
  });

  it('is told what is wrong with a request, by the same code', async () => {
    const wrong = [
      serve[name].generate(''),
      serve[name].generate('ab', { maxNewTokens: -1 }),
      // @ts-expect-error -- an option of another API
      serve[name].generate('ab', { maxTokens: 1 }),
      serve[name].chat([{ role: 'user', content: 'Hi' }], { echo: true }),
    ];
    expect(await Promise.all(wrong.map(codeOf))).toEqual([
      'EMPTY_PROMPT',
      'INVALID_OPTION',
      'UNKNOWN_OPTION',
      'INVALID_OPTION',
    ]);
  });

  it('has all inputs of one call accepted, or none', async () => {
    const started = vi.fn<() => void>();
    serve[name].subscribe('requests', (updates) => {
      if (updates.some(({ type }) => type === 'accepted')) started();
    });
    const responses = serve[name].getHandle('text-generator').remoteAll(['ab', ''], OPTIONS);
    expect(await Promise.all(responses.map(codeOf))).toEqual(['EMPTY_PROMPT', 'EMPTY_PROMPT']);
    await expect(responses[0]?.result()).rejects.toThrow('inputs[1]');
    expect(started).not.toHaveBeenCalled();
  });

  it('cancels a request, and times one out', async () => {
    const release = hold();
    const cancelled = serve[name].generate('ab', OPTIONS);
    const late = serve[name].generate('ab', { ...OPTIONS, timeoutMs: 1 });
    await cancelled.accepted();
    cancelled.cancel();
    expect(await Promise.all([codeOf(cancelled), codeOf(late)])).toEqual([
      'REQUEST_CANCELLED',
      'REQUEST_TIMEOUT',
    ]);
    release();
  });

  it('counts what it was asked for', async () => {
    await serve[name].generate('ab', OPTIONS);
    expect(await serve[name].metrics()).toContain('vllm:generation_tokens_total 4');
  });

  it('refuses everything once it is closed', async () => {
    const release = hold();
    const open = serve[name].generate('ab', OPTIONS);
    serve[name].close();
    expect(await Promise.all([open, serve[name].generate('ab')].map(codeOf))).toEqual(['CLOSED', 'CLOSED']);
    release();
  });
});

const WORDS = Array.from({ length: 70 }, () => ({ word: 'ab' }));

const askAll = async (client: TabserveClient) => [
  (await client.generate('ab', { responseFormat: { type: 'choice', choices: ['xyz', 'cd'] } })).generatedText,
  (await client.tokenize('abc')).tokenIds,
  (await client.detokenize([0, 1])).text,
  await codeOf(client.chat([{ role: 'user', content: 'Hi' }])),
  await codeOf(client.getHandle('embedder').remote('a')),
  await codeOf(client.generate('a'.repeat(400))),
];

it('a shape, tokens and errors of the model are the same at another Tabserve as at its worker', async () => {
  const atWorker = await askAll(serve['a worker']);
  expect(atWorker.slice(1)).toEqual([[0, 1, 2], 'ab', 'NO_CHAT_TEMPLATE', 'NO_ENCODER', 'PROMPT_TOO_LONG']);
  expect(await askAll(serve['another Tabserve'])).toEqual(atWorker);
});

it.each(SERVERS)('what %s does not do is refused by name, before it is asked', async (name) => {
  const numCalls = likeVllm.calls.length;
  const refused = [
    serve[name].configure('text-generator', { maxBatchSize: 2 }),
    serve[name].loadModel('owner/model'),
    serve[name].storedModels(),
    serve[name].check(),
  ];
  expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => 'NOT_AT_SERVER'));
  // Another Tabserve knows its deployments.
  expect(await codeOf(serve[name].getHandle('adder').remote(3))).toBe(
    name === 'a server like vLLM' ? 'NOT_AT_SERVER' : 'UNKNOWN_DEPLOYMENT',
  );
  expect(likeVllm.calls).toHaveLength(numCalls);
});

it.each(SERVERS)(
  'the rows of a job at %s are prompts with a seed each, and rows that are wrong stop no other',
  async (name) => {
    const rows = ['ab', 'cd', ''].map((word) => ({ word }));
    const job = await serve[name].jobs.create({
      rows,
      template: '{{word}}',
      chat: false,
      seed: 5,
      options: { maxNewTokens: 4, temperature: 1 },
    });
    const results: string[] = [];
    for await (const { result } of job.results()) results.push(result.error?.code ?? result.text ?? '');
    const prompts = rows.map(({ word }, index) =>
      serve[name].generate(word, { maxNewTokens: 4, temperature: 1, seed: 5 + index }).result(),
    );
    const texts = (await Promise.allSettled(prompts)).map((each) =>
      each.status === 'fulfilled' ? each.value.generatedText : each.reason.code,
    );
    expect(results).toEqual(texts);
    expect(texts.at(-1)).toBe('EMPTY_PROMPT');
    expect(job.info).toMatchObject({ state: 'finished', counts: { total: 3, finished: 2, failed: 1 } });
    expect((await new Response(job.export('csv')).text()).split('\r\n').slice(0, 2)).toEqual([
      'word,result,error',
      `ab,${texts[0]},`,
    ]);
    await job.delete();
    expect(await serve[name].jobs.list()).toEqual([]);
    expect(await codeOf(serve[name].jobs.get(job.id))).toBe('JOB_NOT_FOUND');
  },
);

it('a job waits for a server that is overloaded, and goes on; once its client is closed, it asks no more', async () => {
  const client = serve['a server like vLLM'];
  const create = () => client.jobs.create({ rows: WORDS, template: '{{word}}', chat: false });
  likeVllm.fault = () => ({ status: 503 });
  const job = await create();
  await vi.waitFor(() =>
    expect(job.info).toMatchObject({ state: 'paused', error: { code: 'SERVER_UNAVAILABLE' } }),
  );
  likeVllm.fault = () => undefined;
  await job.resume();
  expect((await job.done()).counts).toEqual({ total: 70, finished: 70, failed: 0 });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  likeVllm.fault = () => ({ status: 503 });
  const second = await create();
  await vi.waitFor(() => expect(second.info.state).toBe('paused'));
  const { length } = likeVllm.calls;
  const done = codeOf(second.done());
  client.close();
  expect(await Promise.all([done, codeOf(client.jobs.list())])).toEqual(['CLOSED', 'CLOSED']);
  // It would have tried again by now.
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  likeVllm.fault = () => undefined;
  await (await connectTo(likeVllm.url)).generate('ab', OPTIONS);
  expect(likeVllm.calls).toHaveLength(length + 1);
});

it('a job at a server that stops and goes on at once loses no row, and says at once how it stands', async () => {
  const client = serve['a server like vLLM'];
  const release = hold();
  const options = { maxNewTokens: 4 };
  const job = await client.jobs.create({ rows: WORDS, template: '{{word}}', chat: false, options });
  await vi.waitFor(() => expect(likeVllm.calls).toHaveLength(64));
  await job.pause();
  expect(job.info.state).toBe('paused');
  await job.cancel();
  expect(job.info.state).toBe('cancelled');
  expect(await codeOf(job.rerun(2))).toBe('INVALID_OPTION');
  await job.resume();
  expect(job.info.state).toBe('running');
  release();
  expect((await job.done()).counts).toEqual({ total: 70, finished: 70, failed: 0 });
  await job.rename('Words');
  await job.rerun(2);
  expect(job.info).toMatchObject({ name: 'Words', state: 'running', counts: { finished: 69 } });
  const results = [];
  for await (const { index } of job.results()) results.push(index);
  expect(results).toEqual(WORDS.map((_, index) => index));
  expect((await job.done()).counts.finished).toBe(70);
});

it('a job that no row of could run in is refused', async () => {
  const client = serve['another Tabserve'];
  const options = { logprobs: true };
  const refused = client.jobs.create({ rows: WORDS, template: '{{word}}', chat: false, options });
  expect(await codeOf(refused)).toBe('NOT_AT_SERVER');
  expect(await client.jobs.list()).toEqual([]);
});

it('what is wrong in a call about a job is told as by a worker', async () => {
  const { jobs } = serve['a server like vLLM'];
  const job = await jobs.create({ rows: [{ word: 'ab' }], template: '{{word}}', chat: false });
  await job.done();
  const wrong = [
    job.rows({ only: Object('some') }),
    job.rename(Object(3)),
    job.rerun(1),
    jobs.create({ rows: [{ word: 'ab' }], template: '{{name}}' }),
    jobs.get('other'),
  ];
  expect(await Promise.all(wrong.map(codeOf))).toEqual([
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'JOB_COLUMN_MISSING',
    'JOB_NOT_FOUND',
  ]);
});

it('a path that a server lacks is named', async () => {
  const client = serve['a server like vLLM'];
  const asked = [client.getHandle('embedder').remote('a'), client.tokenize('a')];
  expect(await Promise.all(asked.map(codeOf))).toEqual(['SERVER_LACKS_PATH', 'SERVER_LACKS_PATH']);
});
