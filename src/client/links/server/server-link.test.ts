import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { clientId } from '../../../batching/generation/test-support.ts';
import { connect, TabserveClient } from '../../client.ts';
import type { TabserveStats } from '../../../protocol/stats.ts';
import { ServerLink, type ServerLinkOptions } from './server-link.ts';
import { toServerUrl } from './server-http.ts';
import { MAX_PROMPT_LENGTH, MAX_TEXT_LENGTH } from '../../../protocol/wire.ts';

interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

type Answer = (asked: Asked) => Response | Promise<Response>;

const URL_OF_SERVER = 'https://gpu:8000';

let asked: Asked[];
/** By path. */
let answers: Record<string, Answer>;

const json = (value: unknown, init?: ResponseInit): Response => Response.json(value, init);
const listOf = (owner: string): Answer => {
  return () => json({ data: [{ id: 'gpt', owned_by: owner }, { id: 'other' }] });
};

/** A clock, and the pauses before the next attempts, each of which has 30 s. */
function createClock() {
  const clock = new FakeClock();
  const setTimer = vi.spyOn(clock, 'setTimer');
  return {
    clock,
    pauses: () => setTimer.mock.calls.map(([ms]) => ms).filter((ms) => ms >= 1000 && ms < 30_000),
  };
}

const vectors: Answer = ({ body: { input } }) =>
  json({
    data: [input]
      .flat()
      .map((_, index, { length }) => ({ index: length - 1 - index, embedding: [index, 0.5] })),
    usage: { prompt_tokens: 4, total_tokens: 4 },
  });

/** A streamed text whose pieces are sent by the test. */
function stream() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const say = (data: string): void =>
    void writer.write(new TextEncoder().encode(`data: ${data}\n\n`)).catch(() => {});
  return {
    answer: () => new Response(readable, { headers: { 'Content-Type': 'text/event-stream' } }),
    say,
    text: (text: string, finishReason: string | null = null) =>
      say(JSON.stringify({ choices: [{ index: 0, text, finish_reason: finishReason }] })),
    end: () => void writer.close().catch(() => {}),
    break: () => void writer.abort(new Error('socket hang up')).catch(() => {}),
  };
}

beforeEach(() => {
  asked = [];
  answers = { '/v1/models': listOf('openai') };
  vi.stubGlobal('fetch', async (address: string, init: RequestInit) => {
    const path = address.slice(URL_OF_SERVER.length);
    const request = {
      path,
      body: typeof init.body === 'string' ? JSON.parse(init.body) : {},
      headers: new Headers(init.headers),
      signal: init.signal ?? new AbortController().signal,
    };
    asked.push(request);
    return answers[path]?.(request) ?? new Response('', { status: 404 });
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

function open(options: Partial<ServerLinkOptions> = {}): TabserveClient {
  const client = new TabserveClient(
    clientId('tab'),
    (listener) => new ServerLink({ url: URL_OF_SERVER, ...options }, listener),
  );
  // Else it asks for its model again, in the tests of other files.
  onTestFinished(() => client.close());
  return client;
}

const codeOf = (answer: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(answer).then(
    () => 'none',
    (error: Error & { code: string }) => error.code,
  );

/** Why a client with these options can't ask its server. */
async function refusalOf(options: object): Promise<{ readonly message: string }> {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const client = await connect({ server: URL_OF_SERVER, ...options });
  onTestFinished(() => client.close());
  return client.ready().then(
    () => ({ message: 'none' }),
    (error: Error) => error,
  );
}

it.each([
  ['http://gpu:8000', 'http://gpu:8000'],
  ['https://gpu/v1/', 'https://gpu'],
  ['https://gpu/api/v1', 'https://gpu/api'],
])('the address %s is %s', (given, url) => {
  expect(toServerUrl(given)).toBe(url);
});

it.each(['gpu:8000', '', 3, 'ftp://gpu', 'https://gpu?key=1', 'https://me:secret@gpu'])(
  'the address %j is refused, without repeating a password',
  (given) => {
    const refuse = (): unknown => toServerUrl(given);
    expect(refuse).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', param: 'server' }));
    expect(refuse).not.toThrow('secret');
  },
);

describe('connect refuses options of a server', () => {
  it.each([null, 5, {}, '', 'a\nb', 'a→b', 'a b'])(
    'a key that no header holds, without showing it: %j',
    async (apiKey) => {
      const error = await refusalOf({ apiKey });
      expect(error).toMatchObject({ code: 'INVALID_OPTION', param: 'apiKey' });
      expect(error.message).toMatch(
        /, got `(?:a value of type (?:object|number)|other characters|)` \(string\)$/,
      );
      expect(asked).toEqual([]);
    },
  );

  it.each(['localhost:8000', '', 5, 'https://me:secret@gpu'])('the address %j', async (server) => {
    expect(await refusalOf({ server })).toMatchObject({ code: 'INVALID_OPTION', param: 'server' });
    expect(asked).toEqual([]);
  });

  it.each(['model', 'embedder', 'reranker'])('a %s that is no text', async (name) => {
    for (const value of [null, 5, Symbol('x'), ['a']])
      expect(await refusalOf({ [name]: value })).toMatchObject({ code: 'INVALID_OPTION', param: name });
    expect(asked).toEqual([]);
  });

  it.each(['modle', 'worker', 'backend', 'name', 'dtype', 'hub', 'canLead'])(
    'the name `%s`, which a server lacks',
    async (name) => {
      const error = await refusalOf({ [name]: 'x' });
      expect(error).toMatchObject({ code: 'UNKNOWN_OPTION', param: name });
      expect(asked).toEqual([]);
    },
  );

  it('and takes those that are undefined', async () => {
    expect(await refusalOf({ apiKey: undefined, model: undefined, worker: undefined })).toEqual({
      message: 'none',
    });
  });
});

describe('the model', () => {
  it('is the first that the server names, or the named one, asked for with the key', async () => {
    const { model, backend, numTabs } = await open({ apiKey: 'key' }).ready();
    expect([model?.id, backend?.name, backend?.adapter, numTabs]).toEqual([
      'gpt',
      'server',
      URL_OF_SERVER,
      1,
    ]);
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer key');
    expect((await open({ model: 'other' }).ready()).model?.id).toBe('other');
    expect(await codeOf(open({ model: 'third' }).ready())).toBe('SERVER_REFUSED');
  });

  it('is asked for again after pauses that double, and requests fail until it is there', async () => {
    const { clock, pauses } = createClock();
    answers['/v1/models'] = () => Promise.reject(new TypeError('fetch failed'));
    const client = open({ clock });
    expect(await codeOf(client.generate('ab'))).toBe('SERVER_UNREACHABLE');
    for (const pause of [1000, 2000, 4000, 8000, 15_000]) {
      await vi.waitFor(() => expect(pauses().at(-1)).toBe(pause));
      clock.advance(pause);
    }
    await vi.waitFor(() => expect(pauses()).toHaveLength(6));
    answers['/v1/models'] = listOf('vllm');
    const ready = new Promise<void>((resolve) => {
      client.subscribe('status', ({ state, error }) => state === 'ready' && !error && resolve());
    });
    clock.advance(15_000);
    await ready;
    expect(asked).toHaveLength(7);
  });

  it.each([
    ['a page of a proxy', () => new Response('<html>'), 'SERVER_BAD_ANSWER'],
    ['a refusal of the key', () => new Response('', { status: 401 }), 'SERVER_ACCESS_DENIED'],
    ['a list without it', () => json({ data: [] }), 'SERVER_REFUSED'],
  ])('is asked for again after %s', async (_, answer, code) => {
    const { clock, pauses } = createClock();
    answers['/v1/models'] = answer;
    const client = open({ clock });
    expect(await codeOf(client.ready())).toBe(code);
    answers['/v1/models'] = listOf('vllm');
    await vi.waitFor(() => expect(pauses()).toEqual([1000]));
    clock.advance(1000);
    await vi.waitFor(() => expect(client.status().state).toBe('ready'));
  });

  it('is given up on after 30 s without an answer, and not at all asked for after the end', async () => {
    const { clock, pauses } = createClock();
    answers['/v1/models'] = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const client = open({ clock });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    clock.advance(30_000);
    await expect(client.ready()).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining('no answer in 30 s'),
    });
    clock.advance(1000);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(pauses()).toEqual([1000]);
  });
});

describe('a text', () => {
  it('has its pieces as they come, and is counted', async () => {
    const { answer, text, end } = stream();
    answers['/v1/completions'] = answer;
    const client = open();
    const stats = new Promise<TabserveStats>((resolve) => {
      client.subscribe('stats', (value) => value.totals.finished > 0 && resolve(value));
    });
    const response = client.generate('Once', { seed: 3 });
    const pieces = response[Symbol.asyncIterator]();
    text(' upon');
    expect((await pieces.next()).value).toMatchObject({ text: ' upon' });
    text(' a', 'length');
    end();
    expect(await response).toMatchObject({ text: 'Once upon a', finishReason: 'length', seed: 3 });
    expect((await stats).totals).toMatchObject({ submitted: 1, finished: 1, outputTokens: 2 });
  });

  it.each([
    ['an event that is none', ({ say }: ReturnType<typeof stream>) => say('?'), 'SERVER_BAD_ANSWER'],
    ['an end in the middle', ({ end }: ReturnType<typeof stream>) => end(), 'SERVER_UNREACHABLE'],
    ['a cut', (given: ReturnType<typeof stream>) => given.break(), 'SERVER_UNREACHABLE'],
    [
      'an error among the events',
      ({ say }: ReturnType<typeof stream>) => say('{"error":{"message":"dead","code":500}}'),
      'SERVER_UNAVAILABLE',
    ],
  ])('fails for %s', async (_, fail, code) => {
    const given = stream();
    answers['/v1/completions'] = given.answer;
    const response = open().generate('Once');
    given.text(' upon');
    fail(given);
    expect(await codeOf(response)).toBe(code);
  });

  it('fails where the answer is no stream, or a refusal', async () => {
    const client = open();
    answers['/v1/completions'] = () => json({ choices: [] });
    expect(await codeOf(client.generate('Once'))).toBe('SERVER_BAD_ANSWER');
    answers['/v1/completions'] = () => new Response('full', { status: 429, headers: { 'Retry-After': '7' } });
    await expect(client.generate('Once').result()).rejects.toMatchObject({
      code: 'BACK_PRESSURE',
      retryAfterMs: 7000,
    });
  });

  it('ends at the server when it is cancelled', async () => {
    const { answer, text } = stream();
    answers['/v1/completions'] = answer;
    const response = open().generate('Once');
    text(' upon');
    for await (const piece of response) if (piece.text) break;
    expect(await codeOf(response)).toBe('REQUEST_CANCELLED');
    expect(asked.at(-1)?.signal.aborted).toBe(true);
  });

  it('is of a server that alone knows who calls it', async () => {
    await expect(open().workerLog()).rejects.toMatchObject({
      code: 'NOT_AT_SERVER',
      message: expect.stringContaining(`is known to ${URL_OF_SERVER}: look at its own log`),
    });
  });

  it('is not asked for log probabilities that the server cannot name by IDs', async () => {
    const client = open();
    expect(await codeOf(client.generate('Once', { logprobs: 1 }))).toBe('NOT_AT_SERVER');
    expect(await codeOf(client.generate('Once', { promptLogprobs: 1 }))).toBe('NOT_AT_SERVER');
    expect(asked.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  it('waits in a page where four others run at a server without TLS', async () => {
    vi.stubGlobal('document', { baseURI: 'http://localhost/' });
    vi.stubGlobal('fetch', (address: string, init: RequestInit) => {
      const isList = address.endsWith('/v1/models');
      if (isList) return Promise.resolve(json({ data: [{ id: 'gpt' }] }));
      asked.push({
        path: address,
        body: {},
        headers: new Headers(),
        signal: init.signal ?? AbortSignal.abort(),
      });
      return Promise.resolve(streams[asked.length - 1]?.answer());
    });
    const streams = Array.from({ length: 6 }, stream);
    const client = open({ url: 'http://gpu:8000' });
    await client.ready();
    const responses = client.getHandle('text-generator').remoteAll(['1', '2', '3', '4', '5', '6']);
    await vi.waitFor(() => expect(asked).toHaveLength(4));
    responses[4]?.cancel();
    streams[0]?.text('!', 'stop');
    streams[0]?.end();
    await responses[0];
    await vi.waitFor(() => expect(asked).toHaveLength(5));
    for (const each of streams.slice(1)) {
      each.text('?', 'stop');
      each.end();
    }
    expect((await responses[5])?.generatedText).toBe('?');
  });
});

describe('an encoder', () => {
  it('has the vectors of texts in their order, and the tokens of one', async () => {
    answers['/v1/embeddings'] = vectors;
    const client = open({ embedder: 'bge' });
    const embedder = client.getHandle('embedder');
    const list = await embedder.remote(['a', 'b'], { dimensions: 2 });
    expect(list.map(({ embedding }) => [...embedding])).toEqual([
      [1, 0.5],
      [0, 0.5],
    ]);
    expect(list.map(({ numTokens }) => numTokens)).toEqual([0, 0]);
    expect((await embedder.remote('a')).numTokens).toBe(4);
    expect(client.status().encoders).toMatchObject([{ deployment: 'embedder', id: 'bge' }]);
    expect(asked.at(-2)?.body).toEqual({
      model: 'bge',
      input: ['a', 'b'],
      encoding_format: 'float',
      dimensions: 2,
    });
  });

  it('ranks documents, best first', async () => {
    answers['/v1/rerank'] = () =>
      json({
        results: [
          { index: 1, relevance_score: 0.2 },
          { index: 0, relevance_score: 0.9 },
        ],
      });
    const ranking = open()
      .getHandle('reranker')
      .remote({ query: 'q', documents: ['a', 'b'] }, { topN: 2 });
    expect(await ranking).toEqual({
      results: [
        { index: 0, score: 0.9 },
        { index: 1, score: 0.2 },
      ],
      numTokens: 0,
    });
    expect(asked.at(-1)?.body).toEqual({ model: 'gpt', query: 'q', documents: ['a', 'b'], top_n: 2 });
  });

  it('says which pairs another Tabserve has cut', async () => {
    answers['/v1/models'] = listOf('tabserve');
    answers['/v1/rerank'] = () => json({ results: [{ index: 0, relevance_score: 0.9, is_truncated: true }] });
    const ranking = open()
      .getHandle('reranker')
      .remote({ query: 'q', documents: ['a'] }, { truncate: true });
    expect((await ranking).results).toEqual([{ index: 0, score: 0.9, isTruncated: true }]);
  });

  it('is not asked for what the server would not do, or not tell', async () => {
    const embedder = open().getHandle('embedder');
    const refused = [{ truncate: true }, { normalize: false }, { prompt: 'query' }];
    expect(await Promise.all(refused.map((options) => codeOf(embedder.remote('a', options))))).toEqual(
      refused.map(() => 'NOT_AT_SERVER'),
    );
    expect(await codeOf(embedder.remote('a', { dimensions: 0 }))).toBe('INVALID_OPTION');
    expect(asked.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  it('says all options to another Tabserve, which knows its own model', async () => {
    answers['/v1/models'] = listOf('tabserve');
    answers['/v1/embeddings'] = vectors;
    await open().getHandle('embedder').remote('a', { prompt: 'query', normalize: false });
    expect(asked.at(-1)?.body).toEqual({
      input: 'a',
      encoding_format: 'float',
      prompt: 'query',
      normalize: false,
    });
  });

  it.each([
    ['/v1/embeddings', () => open().getHandle('embedder').remote(['a', 'b'])],
    [
      '/v1/rerank',
      () =>
        open()
          .getHandle('reranker')
          .remote({ query: 'q', documents: ['a'] }),
    ],
  ])('fails where %s answers something else', async (path, ask) => {
    for (const wrong of [
      { data: [{ index: 0, embedding: [1] }] },
      { results: [{ index: 7, relevance_score: 1 }] },
    ]) {
      answers[path] = () => json(wrong);
      expect(await codeOf(ask())).toBe('SERVER_BAD_ANSWER');
    }
    answers[path] = () => new Response('<html>');
    expect(await codeOf(ask())).toBe('SERVER_BAD_ANSWER');
  });
});

describe('a call about tokens is refused by the name of what is wrong, and nothing is sent', () => {
  const MESSAGES = [{ role: 'user', content: 'Hi' }] as const;
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each([
    ['tokenize', 'text', [undefined, 5, null, '\uD800'].map((text) => [text])],
    [
      'tokenize',
      'addSpecialTokens',
      ['no', 1n, null, cycle].map((value) => ['a', { addSpecialTokens: value }]),
    ],
    ['tokenizeChat', 'tools', [null, 5, 'x', {}, [1n], cycle, [cycle]].map((tools) => [MESSAGES, { tools }])],
    [
      'tokenizeChat',
      'chatTemplateArguments',
      [5, [], null, { a: 1n }, cycle].map((value) => [MESSAGES, { chatTemplateArguments: value }]),
    ],
    [
      'tokenizeChat',
      'addGenerationPrompt',
      ['no', 1n].map((value) => [MESSAGES, { addGenerationPrompt: value }]),
    ],
    [
      'detokenize',
      'tokenIds',
      [null, undefined, 5, 'x', ['x'], [5, null], [1n], [-1], [0.5], cycle].map((ids) => [ids]),
    ],
  ] as const)('%s: `%s`', async (method, param, calls) => {
    const client = open();
    await client.ready();
    const numRequests = asked.length;
    for (const given of calls) {
      const answer: Promise<unknown> = Reflect.apply(client[method], client, given);
      await expect(answer).rejects.toMatchObject({ code: 'INVALID_OPTION', param });
    }
    expect(asked).toHaveLength(numRequests);
  });
});

it('tokens are asked for in vLLM’s words', async () => {
  answers['/tokenize'] = () => json({ count: 1, max_model_len: 9, tokens: [5], token_strs: ['Hi'] });
  answers['/detokenize'] = () => json({ prompt: 'Hi' });
  const client = open();
  const tokens = { modelId: 'gpt', contextLength: 9, tokenIds: [5], spellings: ['Hi'] };
  expect(await client.tokenize('Hi', { addSpecialTokens: false })).toEqual(tokens);
  expect(asked.at(-1)?.body).toEqual({
    model: 'gpt',
    prompt: 'Hi',
    add_special_tokens: false,
    return_token_strs: true,
  });
  const tools = [{ name: 'weather', parameters: { type: 'object' } }];
  expect(await client.tokenizeChat([{ role: 'user', content: 'Hi' }], { tools })).toEqual(tokens);
  expect(asked.at(-1)?.body).toMatchObject({
    messages: [{ role: 'user', content: 'Hi' }],
    add_generation_prompt: true,
    tools: [{ type: 'function', function: tools[0] }],
  });
  await client.tokenizeChat([{ role: 'assistant', content: 'It is' }], { continueFinalMessage: true });
  expect(asked.at(-1)?.body).toMatchObject({ add_generation_prompt: false, continue_final_message: true });
  expect(await client.detokenize([5])).toEqual({ modelId: 'gpt', text: 'Hi' });
  const tooLong = 'a'.repeat(MAX_TEXT_LENGTH + 1);
  const chatTooLong = [{ role: 'user', content: 'a'.repeat(MAX_PROMPT_LENGTH + 1) }] as const;
  const numRequests = asked.length;
  const refused = [
    client.tokenize(tooLong),
    client.tokenizeChat(chatTooLong),
    // @ts-expect-error A script without types.
    client.tokenize(undefined),
    // @ts-expect-error A script without types.
    client.tokenizeChat(undefined),
  ];
  expect(new Set(await Promise.all(refused.map(codeOf)))).toEqual(new Set(['INVALID_OPTION']));
  expect(asked, 'nothing is sent').toHaveLength(numRequests);

  answers['/tokenize'] = answers['/detokenize'] = () => json({});
  expect(await Promise.all([client.tokenize('Hi'), client.detokenize([5])].map(codeOf))).toEqual([
    'SERVER_BAD_ANSWER',
    'SERVER_BAD_ANSWER',
  ]);
});

it.each([
  ['configure', 'text-generator', {}],
  ['overridePolicy'],
  ['overrideKnobs', 'adder'],
  ['loadModel', 'a/b'],
  ['planModel', 'a/b'],
  ['ejectModel'],
  ['restoreModel'],
  ['storedModels'],
  ['suggestedModels'],
  ['ggufFiles', 'a/b'],
  ['searchModels', 'a'],
  ['deleteModel', 'a/b'],
  ['workerLog'],
  ['tokenTexts', [5]],
  ['check'],
] as const)('%s() is refused by name, with what to do, and asks nothing', async (method, ...given) => {
  const client = open();
  await client.ready();
  const answer: Promise<unknown> = Reflect.apply(client[method], client, given);
  await expect(answer).rejects.toMatchObject({
    code: 'NOT_AT_SERVER',
    message: expect.stringMatching(new RegExp(`${URL_OF_SERVER}: .*connect\\(`)),
  });
  expect(asked).toHaveLength(1);
});

describe('a deployment', () => {
  it('of another Tabserve has its answer over HTTP', async () => {
    answers['/v1/models'] = listOf('tabserve');
    answers['/deployments/adder%2F2'] = ({ body: { input } }) => json(Number(input) + 1);
    const handle = open().getHandle<number, number>('adder/2');
    expect(await handle.remote(3)).toBe(4);
    expect(await Promise.all(handle.remoteAll([4, 5]))).toEqual([5, 6]);
    expect(asked.slice(1).map(({ body }) => body['input'])).toEqual([3, 4, 5]);
  });

  it('has the errors of that Tabserve', async () => {
    answers['/v1/models'] = listOf('tabserve');
    const error = { code: 'UNKNOWN_DEPLOYMENT', message: 'There is no deployment `shout`.' };
    answers['/deployments/shout'] = () => json({ error }, { status: 404 });
    await expect(
      open()
        .getHandle('shout' as string)
        .remote(1),
    ).rejects.toMatchObject(error);
    answers['/deployments/shout'] = () => new Response('<html>');
    expect(
      await codeOf(
        open()
          .getHandle('shout' as string)
          .remote(1),
      ),
    ).toBe('SERVER_BAD_ANSWER');
  });

  it.each([
    ['input', undefined],
    ['input', Number.NaN],
    ['input.list[1]', { list: [1, 2n] }],
    ['input.at', { at: new Date(0) }],
    ['input[0]', [new Float32Array(1)]],
    ['input.map', { map: new Map() }],
  ])('is not asked with what JSON would change: %s', async (place, input) => {
    answers['/v1/models'] = listOf('tabserve');
    const answer = open().getHandle<unknown, unknown>('any').remote(input);
    await expect(answer).rejects.toThrow(`Expected \`${place}\` to be JSON`);
    expect(asked).toHaveLength(1);
  });

  it('is not called at any other server', async () => {
    expect(await codeOf(open().getHandle('adder').remote(1))).toBe('NOT_AT_SERVER');
  });
});
