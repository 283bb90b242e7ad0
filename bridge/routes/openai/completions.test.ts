import { beforeEach, describe, expect, it, vi } from 'vitest';

import { completionsRoute } from './generation-routes.ts';
import { eventsOf, PlayedRoute } from '../../testing/played-tab.ts';

let played: PlayedRoute;

beforeEach(async () => {
  played = new PlayedRoute({ prompt: 'Once' });
  await played.listen('/v1/completions', completionsRoute);
  played.welcome();
});

it.each([
  [{}, 1],
  [{ n: null }, 1],
  [{ n: 3 }, 3],
])(
  'asks for one continuation, or as many as it says, whatever the model has by default: %j',
  async (body, n) => {
    const answer = played.ask(body);
    const { requestId: id, options } = await played.submission();
    expect(options).toMatchObject({ n });
    played.finish(id);
    expect((await answer).status).toBe(200);
  },
);

describe('a completion that is asked for while the model is about to be replaced', () => {
  it('names the model that has answered', async () => {
    const answer = played.ask({});
    const { requestId: id } = await played.submission();
    played.serveModel('B');
    played.finish(id, 'B');
    expect(await (await answer).json()).toMatchObject({ model: 'B' });
  });

  it('is refused where that is another one than it asks for', async () => {
    const answer = played.ask({ model: 'A' });
    const { requestId: id } = await played.submission();
    played.serveModel('B');
    played.finish(id, 'B');
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([
      404,
      { error: { code: 'model_not_found' } },
    ]);
  });

  it('names the model that has answered, though the next one serves right after', async () => {
    const answer = played.ask({ model: 'A' });
    const { requestId: id } = await played.submission();
    played.finish(id);
    played.serveModel('B');
    expect(await (await answer).json()).toMatchObject({ model: 'A' });
  });

  it('is refused where its prompts are answered by different ones', async () => {
    const answer = played.ask({ prompt: ['Once', 'Twice'] });
    const [first, second] = await played.submitted(2);
    if (first) played.finish(first);
    played.serveModel('B');
    if (second) played.finish(second, 'B');
    const refused = await answer;
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'MODEL_REPLACED' } },
    ]);
  });

  it('has the tokens of the model that wrote them, or none', async () => {
    const answer = played.ask({ stream: true, logprobs: 0 });
    const { requestId: id } = await played.submission();
    played.start(id);
    const logprobs = [{ tokenId: 7, logprob: -1, top: [] }];
    played.update({ type: 'chunk', requestId: id, index: 0, text: '!', tokenIds: [7], logprobs });
    await vi.waitFor(() => expect(played.posted.at(-1)).toMatchObject({ type: 'token-texts' }));
    played.serveModel('B');
    await played.answerTexts(() => '?');
    const refused = await (await answer).text();
    expect(refused).toMatch(/^data: \{"error":.*"MODEL_REPLACED"/);
    expect(refused).not.toContain('"choices"');
  });
});

describe('a stream that another model begins anew', () => {
  it('goes on where nothing was sent yet, and names the new model', async () => {
    const answer = played.ask({ stream: true, echo: true });
    const { requestId: id } = await played.submission();
    played.start(id);
    played.update({ type: 'echo', requestId: id, index: 0, text: 'Once' });
    played.restart(id);
    played.serveModel('B');
    played.start(id, 'B');
    played.update({ type: 'echo', requestId: id, index: 0, text: 'Once' });
    played.chunk(id, '!');
    played.finish(id, 'B');
    expect(await eventsOf(answer)).toMatchObject([
      { model: 'B', choices: [{ text: 'Once' }] },
      { model: 'B', choices: [{ text: '!' }] },
    ]);
  });

  it('ends with an error where something was', async () => {
    const answer = played.ask({ stream: true });
    const { requestId: id } = await played.submission();
    played.start(id);
    played.chunk(id, '!');
    const response = await answer;
    played.restart(id);
    expect(await response.text()).toContain('MODEL_REPLACED');
  });
});

describe('a stream', () => {
  it('has its status when it is accepted, before its first token', async () => {
    const answer = played.ask({ stream: true });
    const { requestId: id } = await played.submission();
    played.update({ type: 'accepted', requestId: id });
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    played.fail(id, 'MODEL_RUN_FAILED');
    expect(await response.text()).toMatch(/^data: \{"error":\{"message":"MODEL_RUN_FAILED"[^\n]*\n\n$/);
  });

  it.each([
    ['BACK_PRESSURE', 429],
    ['INVALID_OPTION', 400],
  ])('that is refused with %s has status %i', async (code, status) => {
    const answer = played.ask({ stream: true });
    const { requestId: id } = await played.submission();
    played.fail(id, code);
    expect((await answer).status).toBe(status);
  });

  it('of several prompts is submitted as one turn of who asks', async () => {
    const answer = played.ask({ stream: true, prompt: ['Once', 'Twice'], user: 'ann' });
    const ids = await played.submitted(2);
    expect(played.posted.at(-1)).toMatchObject({
      type: 'submit-all',
      caller: ['loopback', '', expect.stringMatching(/^[\da-f]{32}$/)],
    });
    for (const id of ids) played.fail(id, 'BACK_PRESSURE');
    await answer;
  });
});

describe('a priority', () => {
  it.each([-1, 5, 'high'])('of %j is refused unless the operator allows it', async (priority) => {
    const refused = await played.ask({ priority });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { param: 'priority', message: expect.stringContaining('--allow-priority') } },
    ]);
  });

  it('of 0 is none', async () => {
    const answer = played.ask({ priority: 0 });
    const { requestId: id } = await played.submission();
    played.finish(id);
    expect((await answer).status).toBe(200);
  });
});

const used = (completion: number) => ({
  prompt_tokens: 3,
  completion_tokens: completion,
  total_tokens: 3 + completion,
});

describe('a stream that tells what it has used so far', () => {
  it('does so in each chunk, for its choice: the end token counts, the echo does not', async () => {
    const answer = played.ask({
      stream: true,
      echo: true,
      n: 2,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    });
    const { requestId } = await played.submission();
    played.start(requestId);
    const part = { type: 'chunk', requestId } as const;
    played.update(
      { type: 'echo', requestId, index: 0, text: 'Once' },
      { type: 'echo', requestId, index: 1, text: 'Once' },
      { ...part, index: 0, text: ' a', tokenIds: [7], numPromptTokens: 3 },
      { ...part, index: 1, text: ' b', tokenIds: [8] },
      { ...part, index: 0, text: ' c', tokenIds: [9, 10], finishReason: 'length' },
      { ...part, index: 1, text: '', tokenIds: [], finishReason: 'stop' },
    );
    played.finish(requestId);
    const usages = (await eventsOf(answer)).slice(0, -1).map((event) => Object(event).usage);
    expect(usages).toEqual([0, 0, 1, 1, 3, 2].map(used));
  });
});

it('tells how many tokens of the prompts were taken over from other requests', async () => {
  const answer = played.ask({ prompt: ['Once', 'Twice'] });
  const usage = { numPromptTokens: 9, numCachedTokens: 4, numOutputTokens: 2 };
  for (const id of await played.submitted(2)) played.finish(id, 'A', { usage });
  expect(await (await answer).json()).toMatchObject({
    usage: { prompt_tokens: 18, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 8 } },
  });
});

/** The fingerprint of an answer by this model. */
async function fingerprintWith(id: string, precision: 'fp16' | 'fp32'): Promise<string> {
  const numBefore = played.submittedIds.length;
  const answer = played.ask({});
  const requestId = (await played.submitted(numBefore + 1)).at(-1);
  if (requestId) played.finish(requestId, { id, backend: 'wasm', precision });
  const { system_fingerprint: fingerprint } = Object(await (await answer).json());
  return String(fingerprint);
}

describe('a fingerprint', () => {
  it('is the same for the same model, dtype and backend, and another for any other', async () => {
    const first = await fingerprintWith('A', 'fp32');
    expect(first).toMatch(/^fp_[0-9a-f]{12}$/);
    expect(await fingerprintWith('A', 'fp32')).toBe(first);
    expect(await fingerprintWith('A', 'fp16')).not.toBe(first);
    expect(await fingerprintWith('B', 'fp32')).not.toBe(first);
  });
});

const TEXTS: ReadonlyMap<number, string> = new Map([
  [1, 'On'],
  [2, 'ce'],
  [4, 'ly'],
]);

it('sends an echo with the logprobs of the prompt as soon as they are there', async () => {
  const answer = played.ask({ stream: true, echo: true, logprobs: 1, max_tokens: 0 });
  const { requestId } = await played.submission();
  played.start(requestId);
  const promptLogprobs = [
    { tokenId: 1, logprob: null, top: [] },
    { tokenId: 2, logprob: -3, top: [{ tokenId: 4, logprob: -0.5 }] },
  ];
  played.update({ type: 'echo', requestId, index: 0, text: 'Once', promptLogprobs });
  await vi.waitFor(() =>
    expect(played.posted.at(-1)).toMatchObject({ type: 'token-texts', tokenIds: [1, 2, 4] }),
  );
  await played.answerTexts((tokenId) => TEXTS.get(tokenId) ?? '');
  const end = { type: 'chunk', requestId, index: 0, text: '', tokenIds: [], finishReason: 'length' } as const;
  played.update(end);
  played.finish(requestId);
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

/** The bytes of each token: two emojis of two tokens each, and what stands around them. */
const BYTES = [
  Buffer.from('a'),
  Buffer.of(0xf0, 0x9f, 0x98),
  Buffer.of(0x80),
  Buffer.of(0x81),
  Buffer.from(' b'),
];

describe.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])('behind split characters, with stream %j and echo %j,', (stream, echo) => {
  it('tokens have the places that the text has', async () => {
    played.knowTokens((tokenId) => BYTES[tokenId] ?? Buffer.of());
    const answer = played.ask({ stream, echo, logprobs: 0 });
    const { requestId } = await played.submission();
    const own = [1, 2, 1, 3, 4];
    const logprobs = own.map((tokenId) => ({ tokenId, logprob: -1, top: [] }));
    const promptLogprobs = [0, 1, 2].map((tokenId) => ({ tokenId, logprob: null, top: [] }));
    const text = '\u{1F600}\u{1F601} b';
    played.start(requestId);
    if (echo) played.update({ type: 'echo', requestId, index: 0, text: 'a\u{1F600}', promptLogprobs });
    for (const [at, tokenId] of own.entries()) {
      const part = ['', '\u{1F600}', '', '\u{1F601}', ' b'][at] ?? '';
      const chunk = { type: 'chunk', requestId, index: 0, text: part, tokenIds: [tokenId] } as const;
      played.update({ ...chunk, logprobs: logprobs.slice(at, at + 1) });
    }
    const choice = {
      text: `a\u{1F600}${text}`,
      generatedText: text,
      tokenIds: own,
      logprobs,
      promptLogprobs,
      finishReason: 'stop',
      seed: 1,
    } as const;
    played.finish(requestId, 'A', { ...choice, choices: [choice] });
    const answers = stream ? await eventsOf(answer) : [await (await answer).json()];
    const places = answers.flatMap((each) => Object(each).choices[0].logprobs?.text_offset ?? []);
    const start = echo ? 2 : 0;
    const expected = [0, 0, 1, 1, 2].map((place) => start + place);
    expect(places).toEqual(echo ? [0, 1, 1, ...expected] : expected);
  });
});
