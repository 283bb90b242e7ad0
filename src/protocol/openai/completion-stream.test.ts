import { describe, expect, it } from 'vitest';
import { requestId } from '../../batching/generation/test-support.ts';
import { CompletionStream, type CompletionStreamOptions } from './completion-stream.ts';

const ID = requestId('r');
const MODEL = { id: 'gpt2', backend: 'server', precision: 'unknown' } as const;

function createStream(overrides: Partial<CompletionStreamOptions> = {}): CompletionStream {
  return new CompletionStream({
    url: 'http://gpu:8000',
    requestId: ID,
    model: MODEL,
    prompt: 'Once',
    isChat: false,
    n: 1,
    seed: 7,
    echo: false,
    numLogprobs: undefined,
    promptLogprobs: undefined,
    maxNewTokens: 16,
    tools: [],
    elapsedMs: 10,
    receivedAtMs: 100,
    ...overrides,
  });
}

const chunk = (text: string, more: object = {}) =>
  JSON.stringify({ id: 'cmpl-1', object: 'text_completion', choices: [{ index: 0, text, ...more }] });

/** A chunk of a chat's answer. */
const delta = (content: string | null | undefined, more: object = {}) =>
  JSON.stringify({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content }, ...more }],
  });

const createChat = (overrides = {}) => createStream({ isChat: true, prompt: '', ...overrides });

/** The updates of a chat's deltas. */
const pushed = (stream: CompletionStream, ...deltas: readonly object[]) =>
  deltas.flatMap(
    (part) => stream.push(JSON.stringify({ choices: [{ index: 0, delta: part }] }), 110).updates,
  );

const withUsage = (data: string, usage: object): string => JSON.stringify({ ...JSON.parse(data), usage });

describe('the answer of a server', () => {
  it('becomes a start, chunks and a result, timed from the submission', () => {
    const stream = createStream();
    expect(stream.start(120).updates).toEqual([
      { type: 'started', requestId: ID, queueWaitMs: 30, model: MODEL },
    ]);
    expect(stream.push(chunk(' upon', { token_ids: [5] }), 150).updates).toEqual([
      { type: 'chunk', requestId: ID, index: 0, text: ' upon', tokenIds: [5], ttftMs: 60 },
    ]);
    const last = stream.push(chunk(' a', { token_ids: [6, 7], finish_reason: 'stop' }), 190);
    expect(last.updates).toEqual([
      { type: 'chunk', requestId: ID, index: 0, text: ' a', tokenIds: [6, 7], finishReason: 'stop' },
    ]);
    expect(last.measured, 'two tokens that came together').toEqual([
      { type: 'token', itlMs: 20 },
      { type: 'token', itlMs: 20 },
    ]);
    stream.push(JSON.stringify({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 9 } }), 191);
    expect(stream.push('[DONE]', 192).updates).toEqual([]);
    const [end] = stream.end(200).updates;
    expect(end).toMatchObject({
      type: 'finished',
      result: {
        text: 'Once upon a',
        generatedText: ' upon a',
        tokenIds: [5, 6, 7],
        finishReason: 'stop',
        seed: 7,
        usage: { numPromptTokens: 4, numOutputTokens: 9 },
        timings: { queueWaitMs: 30, ttftMs: 60, e2eMs: 110, tpotMs: 25 },
      },
    });
  });

  it('has no token ids where the server sends none, and counts its chunks where it counts nothing', () => {
    const stream = createStream();
    stream.start(100);
    for (const text of [' upon', '', ' a']) stream.push(chunk(text), 110);
    stream.push(chunk('', { finish_reason: 'content_filter' }), 120);
    const [end] = stream.end(130).updates;
    expect(end).toMatchObject({
      result: { tokenIds: [], finishReason: 'stop', usage: { numPromptTokens: 0, numOutputTokens: 2 } },
    });
  });

  it('tells choices apart, and echoes the prompt for each', () => {
    const stream = createStream({ n: 2, echo: true });
    expect(stream.start(100).updates.slice(1)).toEqual(
      [0, 1].map((index) => ({ type: 'echo', requestId: ID, index, text: 'Once' })),
    );
    stream.push(chunk(' B', { index: 1, finish_reason: 'length' }), 110);
    stream.push(chunk(' A', { finish_reason: 'stop' }), 120);
    const [end] = stream.end(130).updates;
    expect(end).toMatchObject({ result: { choices: [{ text: 'Once A' }, { text: 'Once B' }] } });
  });

  it('reads logprobs by id, as many of the likeliest as were asked for', () => {
    const stream = createStream({ numLogprobs: 1 });
    const logprobs = {
      tokens: ['token_id:5'],
      token_logprobs: [-2],
      top_logprobs: [{ 'token_id:5': -2, 'token_id:8': -0.5 }],
    };
    expect(stream.push(chunk(' a', { logprobs }), 110).updates[0]).toMatchObject({
      logprobs: [{ tokenId: 5, logprob: -2, top: [{ tokenId: 8, logprob: -0.5 }] }],
    });
    const withoutIds = { ...logprobs, tokens: [' a'] };
    expect(() => stream.push(chunk(' a', { logprobs: withoutIds }), 110)).toThrow('tokens without ids');
  });

  describe('to a request for the logprobs of its prompt', () => {
    const logprobs = {
      tokens: ['token_id:3', 'token_id:4', 'token_id:5'],
      token_logprobs: [null, -1, -2],
      top_logprobs: [
        null,
        { 'token_id:4': -1, 'token_id:9': -0.5 },
        { 'token_id:5': -2, 'token_id:8': -0.25 },
      ],
    };
    const promptLogprobs = [
      { tokenId: 3, logprob: null, top: [] },
      { tokenId: 4, logprob: -1, top: [{ tokenId: 9, logprob: -0.5 }] },
    ];

    it('tells them apart from the text that comes with them', () => {
      const stream = createStream({ promptLogprobs: 1, numLogprobs: 0, echo: true });
      expect(stream.start(100).updates).toHaveLength(1);
      const first = chunk('Once upon', { token_ids: [5], logprobs });
      const { updates } = stream.push(withUsage(first, { prompt_tokens: 2, completion_tokens: 1 }), 110);
      expect(updates).toEqual([
        { type: 'echo', requestId: ID, index: 0, text: 'Once', promptLogprobs },
        {
          type: 'chunk',
          requestId: ID,
          index: 0,
          text: ' upon',
          tokenIds: [5],
          logprobs: [{ tokenId: 5, logprob: -2, top: [] }],
          ttftMs: 20,
          numPromptTokens: 2,
        },
      ]);
      stream.push(chunk(' a', { finish_reason: 'length', token_ids: [6] }), 120);
      expect(stream.end(130).updates[0]).toMatchObject({
        result: { text: 'Once upon a', generatedText: ' upon a', tokenIds: [5, 6], promptLogprobs },
      });
    });

    it('has no token where none was asked for, though a vLLM samples one', () => {
      const stream = createStream({ promptLogprobs: 1, maxNewTokens: 0 });
      const ofPrompt = {
        tokens: logprobs.tokens.slice(0, 2),
        token_logprobs: logprobs.token_logprobs.slice(0, 2),
        top_logprobs: logprobs.top_logprobs.slice(0, 2),
      };
      const only = chunk('Once', { token_ids: [5], logprobs: ofPrompt, finish_reason: 'length' });
      expect(stream.push(only, 110).updates).toEqual([
        { type: 'echo', requestId: ID, index: 0, text: '', promptLogprobs },
        { type: 'chunk', requestId: ID, index: 0, text: '', tokenIds: [], finishReason: 'length' },
      ]);
      stream.push(JSON.stringify({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 1 } }), 120);
      expect(stream.end(130).updates[0]).toMatchObject({
        result: { text: 'Once', generatedText: '', usage: { numPromptTokens: 2, numOutputTokens: 0 } },
      });
    });

    it.each([
      ['the echo of another prompt', 'Twice upon', logprobs],
      ['no logprobs', 'Once upon', null],
      ['logprobs of which nobody knows where the prompt ends', 'Once upon', logprobs],
    ])('fails for %s', (_, text, given) => {
      const stream = createStream({ promptLogprobs: 1 });
      expect(() => stream.push(chunk(text, { logprobs: given }), 110)).toThrow(
        expect.objectContaining({ code: 'SERVER_BAD_ANSWER' }),
      );
    });
  });

  describe('to a chat', () => {
    it('comes in deltas, and the result says how much of the prompt was cached', () => {
      const stream = createChat();
      stream.start(100);
      expect(
        stream.push(delta(undefined, { delta: { role: 'assistant', content: '' } }), 110).measured,
      ).toEqual([]);
      expect(stream.push(delta('Hi', { token_ids: [5] }), 120).updates).toEqual([
        { type: 'chunk', requestId: ID, index: 0, text: 'Hi', tokenIds: [5], ttftMs: 30 },
      ]);
      stream.push(delta(null, { finish_reason: 'stop' }), 130);
      const usage = { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 6 } };
      stream.push(JSON.stringify({ choices: [], usage }), 140);
      expect(stream.end(150).updates[0]).toMatchObject({
        result: {
          text: 'Hi',
          generatedText: 'Hi',
          tokenIds: [5],
          finishReason: 'stop',
          usage: { numPromptTokens: 9, numCachedTokens: 6, numOutputTokens: 2 },
        },
      });
    });

    it('has logprobs by id', () => {
      const entry = {
        token: 'token_id:5',
        logprob: -2,
        top_logprobs: [{ token: 'token_id:8', logprob: -0.5 }],
      };
      const stream = createChat({ numLogprobs: 1 });
      expect(stream.push(delta('a', { logprobs: { content: [entry] } }), 110).updates[0]).toMatchObject({
        logprobs: [{ tokenId: 5, logprob: -2, top: [{ tokenId: 8, logprob: -0.5 }] }],
      });
      expect(stream.push(delta('', { logprobs: { content: null } }), 120).updates[0]).toMatchObject({
        logprobs: [],
      });
    });

    it('fails for a completion that is no chat', () => {
      expect(() => createChat().push(chunk('a'), 110)).toThrow(
        expect.objectContaining({ code: 'SERVER_BAD_ANSWER' }),
      );
    });
  });

  it.each([
    ['what is no JSON', '<html>', 'SERVER_BAD_ANSWER'],
    ['another shape', '{"choices":"none"}', 'SERVER_BAD_ANSWER'],
    ['a choice that nobody asked for', chunk('', { index: 3 }), 'SERVER_BAD_ANSWER'],
    ['an error', '{"error":{"message":"dead","code":500}}', 'SERVER_UNAVAILABLE'],
    ['an error of the caller', '{"error":{"message":"too long","code":400}}', 'SERVER_REFUSED'],
  ])('fails for %s', (_, data, code) => {
    expect(() => createStream().push(data, 110)).toThrow(expect.objectContaining({ code }));
  });

  it('fails for a text without a reason for its end, and as a cut where the answer breaks off', () => {
    const stream = createStream();
    stream.push(chunk(' upon'), 110);
    expect(() => stream.end(120)).toThrow(expect.objectContaining({ code: 'SERVER_UNREACHABLE' }));
    stream.push('[DONE]', 120);
    expect(() => stream.end(120)).toThrow(expect.objectContaining({ code: 'SERVER_BAD_ANSWER' }));
  });
});

describe('the parts of an answer', () => {
  it('are its thinking and its content, in either name', () => {
    for (const name of ['reasoning_content', 'reasoning']) {
      const stream = createChat();
      expect(
        pushed(stream, { role: 'assistant', content: '' }, { [name]: 'Hm' }, { content: 'Yes' }),
      ).toMatchObject([
        { text: '' },
        { text: '', parts: [{ type: 'reasoning', text: 'Hm' }], ttftMs: 20 },
        { text: 'Yes', parts: [{ type: 'content', text: 'Yes' }] },
      ]);
      stream.push(delta('', { finish_reason: 'stop' }), 120);
      expect(stream.end(130).updates[0]).toMatchObject({
        result: { text: 'Yes', answer: { reasoning: 'Hm', content: 'Yes', toolCalls: [] } },
      });
    }
  });

  it('are calls of tools, each with its pieces', () => {
    const stream = createChat({ tools: [{ name: 'weather' }] });
    const updates = pushed(
      stream,
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'weather', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"city"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'time', arguments: '{}' } }] },
    );
    expect(updates.flatMap((update) => (update.type === 'chunk' ? (update.parts ?? []) : []))).toEqual([
      { type: 'tool-call', index: 0, id: 'a', name: 'weather' },
      { type: 'tool-arguments', index: 0, text: '{"city"' },
      { type: 'tool-arguments', index: 0, text: ':1}' },
      { type: 'tool-call', index: 1, id: 'b', name: 'time' },
      { type: 'tool-arguments', index: 1, text: '{}' },
    ]);
    stream.push(delta(null, { finish_reason: 'tool_calls' }), 120);
    expect(stream.end(130).updates[0]).toMatchObject({
      result: {
        finishReason: 'stop',
        answer: {
          toolCalls: [
            { id: 'a', name: 'weather', arguments: '{"city":1}' },
            { id: 'b', name: 'time', arguments: '{}' },
          ],
        },
      },
    });
  });
});
