import { describe, expect, it, vi } from 'vitest';
import { requestTimedOut } from '../../protocol/errors/deployment-messages.ts';
import { createClientId, createRequestId } from '../../protocol/ids.ts';
import type { GenerationChoice, GenerationOptions } from '../../protocol/generation.ts';
import type { RequestUpdate, ResumedChoice, Resumption } from '../../protocol/requests.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { ByteTextStream } from '../models/tokenizer/text-stream.ts';
import { Choice } from './choice.ts';
import { createGenerator, resultIn, textsIn, submitAll } from './test-support.ts';

describe('ModelGenerator', () => {
  it('tells a request’s life in order, with the text of each token', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab');
    await idle;
    expect(updates.map((update) => [update.type, 'text' in update ? update.text : ''])).toEqual([
      ['started', ''],
      ['chunk', 'c'],
      ['chunk', 'd'],
      ['chunk', 'e'],
      ['finished', ''],
    ]);
  });

  it('gives a result that starts with the prompt and says what it cost', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4, seed: 5 });
    await idle;
    expect(updates.at(-1)).toMatchObject({
      result: {
        text: 'abcdef',
        generatedText: 'cdef',
        tokenIds: [2, 3, 4, 5],
        finishReason: 'length',
        seed: 5,
        usage: { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 4 },
      },
    });
  });

  it('continues tokens as it does their text', async () => {
    const { submit, updates, idle } = createGenerator();
    submit([0, 1], { echo: true, maxNewTokens: 2 });
    await idle;
    expect(updates[1]).toMatchObject({ type: 'echo', text: 'ab' });
    expect(textsIn(updates)).toEqual(['c', 'd']);
    expect(resultIn(updates)).toMatchObject({ text: 'abcd', usage: { numPromptTokens: 2 } });
  });

  it('stops at the end token, which is no part of the text', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('7', { maxNewTokens: 9 });
    await idle;
    expect(updates.at(-1)).toMatchObject({
      result: { text: '789', finishReason: 'stop', tokenIds: [60, 61, 62] },
    });
  });

  it('ends before a stop string, which no chunk shows, though its tokens were sampled', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 9, stop: ['x', 'ef'] });
    await idle;
    expect(textsIn(updates)).toEqual(['c', 'd', '', '']);
    expect(resultIn(updates)).toMatchObject({
      text: 'abcd',
      generatedText: 'cd',
      tokenIds: [2, 3, 4, 5],
      finishReason: 'stop',
      usage: { numOutputTokens: 4 },
    });
  });

  it('ends with stop where its last token completes a stop string', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 2, stop: 'd' });
    await idle;
    expect(resultIn(updates)).toMatchObject({ text: 'abc', finishReason: 'stop' });
  });

  it('shows with its last chunk what was held back for a stop string that did not come', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 3, stop: 'efg' });
    await idle;
    expect(textsIn(updates)).toEqual(['c', 'd', 'e']);
    expect(resultIn(updates)).toMatchObject({ text: 'abcde', finishReason: 'length' });
  });

  it('stops for what a broken character becomes', async () => {
    const { submit, updates, idle } = createGenerator(new Map([[3, Uint8Array.of(0xc3)]]));
    submit('ab', { maxNewTokens: 2, stop: '\u{FFFD}' });
    await idle;
    expect(resultIn(updates)).toMatchObject({ text: 'abc', finishReason: 'stop' });
  });

  it('does not look for stop strings in the prompt, nor across its end', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { stop: ['ab', 'bc'] });
    await idle;
    expect(resultIn(updates)).toMatchObject({ text: 'abcde', finishReason: 'length' });
  });

  it('begins the stream with the prompt where its echo is asked for', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { echo: true, maxNewTokens: 1, logprobs: 0 });
    await idle;
    expect(updates.map((update) => [update.type, 'text' in update ? update.text : ''])).toEqual([
      ['started', ''],
      ['echo', 'ab'],
      ['chunk', 'c'],
      ['finished', ''],
    ]);
    expect(resultIn(updates)).toMatchObject({ text: 'abc', generatedText: 'c', logprobs: [{ tokenId: 2 }] });
  });

  it('gives logprobs with each chunk and in the result, where they are asked for', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 2, logprobs: 1 });
    await idle;
    // One logit is 1, the other 63 are 0.
    const logprob = expect.closeTo(1 - Math.log(Math.E + 63), 6);
    const expected = [2, 3].map((tokenId) => ({ tokenId, logprob, top: [{ tokenId, logprob }] }));
    const chunks = updates.filter(({ type }) => type === 'chunk');
    expect(chunks).toMatchObject(expected.map((entry) => ({ logprobs: [entry] })));
    expect(updates.at(-1)).toMatchObject({ result: { logprobs: expected } });
  });

  it('says nothing of logprobs where nobody asked', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab');
    await idle;
    expect(updates.filter((update) => 'logprobs' in update)).toEqual([]);
    expect(updates.at(-1)).not.toHaveProperty('result.logprobs');
  });

  it('cancels a waiting request without disturbing the others', async () => {
    const { generator, submit, updates, idle } = createGenerator();
    const [kept, cancelled] = [submit('a'), submit('b')];
    generator.cancel(cancelled);
    generator.cancel(cancelled);
    await idle;
    const ends = updates.filter(({ type }) => type === 'finished' || type === 'failed');
    expect(ends.map(({ requestId, type }) => [requestId, type])).toEqual([
      [cancelled, 'failed'],
      [kept, 'finished'],
    ]);
  });

  it('fails a request with the error that it is told, and does nothing where it has ended', async () => {
    const { generator, submit, updates, idle } = createGenerator();
    const [kept, failed] = [submit('a'), submit('b')];
    generator.fail(failed, requestTimedOut(5));
    generator.fail(failed, requestTimedOut(6));
    await idle;
    expect(updates.filter(({ type }) => type === 'finished' || type === 'failed')).toMatchObject([
      { requestId: failed, error: { code: 'REQUEST_TIMEOUT', message: expect.stringContaining('5 ms') } },
      { requestId: kept },
    ]);
  });

  it('tells all that one step brought in one go', async () => {
    const { submit, batches, idle } = createGenerator();
    submit('a', { maxNewTokens: 2 });
    submit('b', { maxNewTokens: 2 });
    await idle;
    expect(batches.at(-1)?.map(({ type }) => type)).toEqual(['chunk', 'finished', 'chunk', 'finished']);
  });

  it('takes new knobs and keeps the old ones where the new are bad', () => {
    const { generator } = createGenerator();
    expect(generator.configure({ maxBatchSize: 2 }).maxBatchSize).toBe(2);
    expect(() => generator.configure({ maxBatchSize: 0 })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
    expect(generator.configure({}).maxBatchSize).toBe(2);
  });
});

describe('a request for several continuations', () => {
  const SAMPLED = { temperature: 1, seed: 7, maxNewTokens: 6, logprobs: 0 };

  it('has as many choices, each of which its own seed yields alone, and the first at the top', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { ...SAMPLED, n: 3 });
    await idle;
    const { choices, usage, ...result } = resultIn(updates);
    expect(choices).toHaveLength(3);
    expect(result).toMatchObject({ ...choices[0], seed: 7 });
    expect(new Set(choices.map(({ text }) => text)).size).toBe(3);
    const numTokens = choices.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    const numEnds = choices.filter(({ finishReason }) => finishReason === 'stop').length;
    expect(usage).toEqual({ numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: numTokens + numEnds });
    for (const choice of choices) {
      const alone = createGenerator();
      alone.submit('ab', { ...SAMPLED, seed: choice.seed });
      await alone.idle;
      expect(resultIn(alone.updates).choices).toEqual([choice]);
    }
  });

  it('is one life: one start, chunks of each continuation up to its end, one result', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { n: 2, maxNewTokens: 2, echo: true });
    await idle;
    expect(updates.map(describeUpdate)).toEqual([
      'started',
      'echo 0 ab',
      'echo 1 ab',
      'chunk 0 c',
      'chunk 0 d length',
      'chunk 1 c',
      'chunk 1 d length',
      'finished',
    ]);
    expect(updates.filter((update) => 'ttftMs' in update)).toHaveLength(1);
    const [first] = updates;
    const { timings } = resultIn(updates);
    expect(first).toMatchObject({ queueWaitMs: timings.queueWaitMs });
    expect(timings.e2eMs).toBeGreaterThan(timings.ttftMs);
  });

  it('costs the prompt once and as many sequences as there are continuations', () => {
    const { generator } = createGenerator();
    const submission = { input: 'ab', options: { n: 3 }, elapsedMs: 0 };
    const cost = submitAll(generator, [
      { requestId: createRequestId(), clientId: createClientId(), ...submission },
    ]);
    expect(cost).toEqual([{ numPromptTokens: 2, numSequences: 3 }]);
    expect(generator.gauges.numWaiting).toBe(3);
  });

  it('waits altogether or is refused altogether', () => {
    const { generator, submit } = createGenerator();
    generator.configure({ maxQueuedRequests: 3 });
    submit('ab');
    expect(() => submit('ab', { n: 3 })).toThrow(expect.objectContaining({ code: 'BACK_PRESSURE' }));
    expect(generator.gauges.numWaiting).toBe(1);
    submit('ab', { n: 2 });
    expect(generator.gauges.numWaiting).toBe(3);
  });

  it('stops each continuation at its own stop string', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { ...SAMPLED, n: 2 });
    await idle;
    const [first, second] = resultIn(updates).choices;
    const stop = second?.generatedText.charAt(2) ?? '';
    expect(first?.generatedText).not.toContain(stop);
    const stopping = createGenerator();
    stopping.submit('ab', { ...SAMPLED, n: 2, stop });
    await stopping.idle;
    expect(resultIn(stopping.updates).choices).toMatchObject([
      { generatedText: first?.generatedText },
      { generatedText: second?.generatedText.slice(0, 2), finishReason: 'stop' },
    ]);
  });

  it('is cancelled with all its continuations, those that wait and those that run', async () => {
    const { generator, submit, updates, idle } = createGenerator();
    generator.configure({ maxBatchSize: 2 });
    const cancelled = submit('ab', { n: 3, maxNewTokens: 50 });
    await vi.waitFor(() => expect(generator.gauges.numRunning).toBe(2));
    generator.cancel(cancelled);
    expect([generator.gauges.numRunning, generator.gauges.numWaiting]).toEqual([0, 0]);
    await idle;
    expect(updates.filter(({ type }) => type === 'failed')).toMatchObject([
      { requestId: cancelled, error: { code: 'REQUEST_CANCELLED' } },
    ]);
  });

  it('fails as a whole, at once, where one of its continuations fails', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { ...SAMPLED, n: 3 });
    await idle;
    const [, second] = resultIn(updates).choices;
    const failing = createGenerator();
    failing.backend.poison = second?.tokenIds[0];
    failing.submit('ab', { ...SAMPLED, n: 3 });
    await failing.idle;
    expect(failing.updates.at(-1)).toMatchObject({ type: 'failed', error: { code: 'MODEL_RUN_FAILED' } });
    expect(failing.updates.filter(({ type }) => type === 'failed' || type === 'finished')).toHaveLength(1);
    expect([failing.generator.gauges.numRunning, failing.generator.gauges.numWaiting]).toEqual([0, 0]);
  });

  it('goes on at another worker, each continuation where it was, those that have ended as they are', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { ...SAMPLED, n: 3 });
    await idle;
    const whole = resultIn(updates);
    const [first, second, third] = whole.choices;
    const next = createGenerator();
    next.submit(
      'ab',
      { ...SAMPLED, n: 3 },
      {
        choices: [resumed(first, 6), resumed(second, 2)],
        queueWaitMs: 5,
        ttftMs: 30,
      },
    );
    await next.idle;
    expect(resultIn(next.updates)).toMatchObject({
      choices: whole.choices,
      usage: whole.usage,
      timings: { queueWaitMs: 5, ttftMs: 30 },
    });
    expect(textOf(next.updates, 0)).toBe('');
    expect(textOf(next.updates, 1)).toBe(second?.generatedText.slice(2));
    expect(textOf(next.updates, 2)).toBe(third?.generatedText);
  });

  it('counts the end token of a continuation that ended at a lost worker', async () => {
    const { submit, updates, idle } = createGenerator();
    const ended = { tokenIds: [60, 61, 62], finishReason: 'stop' } as const;
    submit('7', { n: 2, maxNewTokens: 9 }, { choices: [ended] });
    await idle;
    const { choices, usage } = resultIn(updates);
    expect(choices.map(({ text }) => text)).toEqual(['789', '789']);
    expect(usage).toEqual({ numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 8 });
  });
});

describe('a request whose text is read at its end', () => {
  it.each<readonly [string, GenerationOptions, number]>([
    ['without a stop string', { maxNewTokens: 6 }, 0],
    ['with several continuations', { maxNewTokens: 6, n: 2 }, 0],
    // A stop string is looked for in the text of each token.
    ['with one', { maxNewTokens: 6, stop: ['fg'] }, 5],
  ])('has the result of any other, of one chunk, and decodes late: %s', async (_, options, numDecoded) => {
    const [read, other] = [createGenerator(), createGenerator()];
    other.submit('ab', { ...options, seed: 3 });
    await other.idle;
    const decode = vi.spyOn(ByteTextStream.prototype, 'push');
    let numBefore = 0;
    vi.spyOn(Choice.prototype, 'end').mockImplementationOnce(function count(this: Choice, ...given) {
      numBefore = decode.mock.calls.length;
      return this.end(...given);
    });
    const requestId = createRequestId();
    const turn = { requestId, clientId: createClientId(), updates: 'end' } as const;
    submitAll(read.generator, [{ ...turn, input: 'ab', options: { ...options, seed: 3 }, elapsedMs: 0 }]);
    await read.idle;
    const { timings: _timings, ...result } = resultIn(read.updates);
    expect(resultIn(other.updates)).toMatchObject(result);
    expect(read.updates.map(({ type }) => type)).toEqual(['started', 'chunk', 'finished']);
    expect(numBefore).toBe(numDecoded);
    vi.restoreAllMocks();
  });
});

describe('what ends a text', () => {
  it.each<readonly [string, string, GenerationOptions, object]>([
    [
      'is a stop string that is its last part, where that is asked for',
      'ab',
      { stop: 'ef', includeStopStrInOutput: true, maxNewTokens: 9 },
      { generatedText: 'cdef', tokenIds: [2, 3, 4, 5], finishReason: 'stop' },
    ],
    [
      'is a stop token, before which it ends',
      'ab',
      { stopTokenIds: [4], maxNewTokens: 9 },
      {
        generatedText: 'cd',
        tokenIds: [2, 3],
        finishReason: 'stop',
        usage: { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 3 },
      },
    ],
    [
      'is a stop token that is its last part, where that is asked for',
      'ab',
      { stopTokenIds: [4], includeStopStrInOutput: true, maxNewTokens: 9 },
      {
        generatedText: 'cde',
        tokenIds: [2, 3, 4],
        finishReason: 'stop',
        usage: { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 3 },
      },
    ],
    [
      'is its length, where the end token is a token like any other',
      '7',
      { ignoreEos: true, maxNewTokens: 4 },
      { generatedText: '89', tokenIds: [60, 61, 62, 63], finishReason: 'length' },
    ],
    [
      'is no stop string of the first tokens, of which there are to be some',
      'ab',
      { stop: ['d', 'fg'], minTokens: 3, maxNewTokens: 9 },
      { generatedText: 'cde', tokenIds: [2, 3, 4, 5, 6], finishReason: 'stop' },
    ],
    [
      'may be a stop string that begins in the first tokens',
      'ab',
      { stop: ['def'], minTokens: 3, maxNewTokens: 9 },
      { generatedText: 'c', tokenIds: [2, 3, 4, 5], finishReason: 'stop' },
    ],
    [
      'is no end token before there are enough',
      '7',
      // The likeliest of those that are left has the lowest id.
      { minTokens: 5, maxNewTokens: 5 },
      { tokenIds: [60, 61, 62, 0, 1], finishReason: 'length' },
    ],
  ])('%s', async (_, prompt, options, expected) => {
    const { submit, updates, idle } = createGenerator();
    submit(prompt, options);
    await idle;
    const result = resultIn(updates);
    expect(result).toMatchObject(expected);
    expect(textsIn(updates).join('')).toBe(result.generatedText);
  });
});

describe('a prompt whose logprobs are asked for', () => {
  it('comes with them, before the first token and in the result', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('abd', { maxNewTokens: 1, promptLogprobs: 1, echo: true });
    await idle;
    expect(updates.map(({ type }) => type)).toEqual(['started', 'echo', 'chunk', 'finished']);
    // The model expects `b` after `a`, and `c` after `b`.
    const [likely, unlikely] = [1 - Math.log(63 + Math.E), -Math.log(63 + Math.E)];
    const expected = [
      { tokenId: 0, logprob: null, top: [] },
      {
        tokenId: 1,
        logprob: expect.closeTo(likely, 6),
        top: [{ tokenId: 1, logprob: expect.closeTo(likely, 6) }],
      },
      {
        tokenId: 3,
        logprob: expect.closeTo(unlikely, 6),
        top: [{ tokenId: 2, logprob: expect.closeTo(likely, 6) }],
      },
    ];
    expect(updates[1]).toMatchObject({ type: 'echo', text: 'abd', promptLogprobs: expected });
    expect(resultIn(updates)).toMatchObject({ text: 'abde', promptLogprobs: expected });
  });

  it('is scored alone with maxNewTokens 0, and comes without its text where no echo is asked for', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 0, promptLogprobs: 0 });
    await idle;
    expect(promptsIn(updates)).toEqual([[0, '', 2]]);
    expect(resultIn(updates)).toMatchObject({
      text: 'ab',
      generatedText: '',
      finishReason: 'length',
      usage: { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 0 },
    });
  });

  it('comes to each of several continuations', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { n: 3, maxNewTokens: 2, promptLogprobs: 0, echo: true });
    await idle;
    expect(promptsIn(updates).toSorted(([a], [b]) => a - b)).toEqual(
      [0, 1, 2].map((index) => [index, 'ab', 2]),
    );
    expect(resultIn(updates).choices.map(({ promptLogprobs }) => promptLogprobs?.length)).toEqual([2, 2, 2]);
  });

  it('is not scored again after it was told', async () => {
    const { submit, updates, idle } = createGenerator();
    const promptLogprobs = [0, 1].map((tokenId) => ({ tokenId, logprob: null, top: [] }));
    submit(
      'ab',
      { maxNewTokens: 3, promptLogprobs: 0, echo: true },
      { choices: [{ tokenIds: [2], promptLogprobs }], queueWaitMs: 1 },
    );
    await idle;
    expect(promptsIn(updates)).toEqual([]);
    expect(resultIn(updates)).toMatchObject({ tokenIds: [2, 3, 4], promptLogprobs });
  });

  it('may fill the context where nothing is generated', async () => {
    const { submit, updates, idle } = createGenerator();
    const prompt = Array.from({ length: 300 }, () => 1);
    expect(() => submit(prompt, { maxNewTokens: 1 })).toThrow(/shorten the prompt to 299 tokens/);
    expect(() => submit([...prompt, 1], { maxNewTokens: 0 })).toThrow(/holds 300: shorten the prompt to 300/);
    submit(prompt, { maxNewTokens: 0, promptLogprobs: 0 });
    await idle;
    expect(promptsIn(updates)).toEqual([[0, '', 300]]);
  });
});

describe('a request that a lost worker has begun', () => {
  const BEGUN: Resumption = { choices: [{ tokenIds: [2, 3] }], queueWaitMs: 5, ttftMs: 30 };

  it('goes on after its tokens, and its result has them all', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, BEGUN);
    await idle;
    expect(textsIn(updates)).toEqual(['e', 'f']);
    expect(resultIn(updates)).toMatchObject({
      text: 'abcdef',
      generatedText: 'cdef',
      tokenIds: [2, 3, 4, 5],
      usage: { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens: 4 },
    });
  });

  it('goes on inside a character: its first bytes are at the lost worker’s', async () => {
    const [first, second] = [3, 4];
    const bytes = new Map([
      [first, Uint8Array.of(0xc3)],
      [second, Uint8Array.of(0xa9)],
    ]);
    const { submit, updates, idle } = createGenerator(bytes);
    submit('ab', { maxNewTokens: 4 }, { ...BEGUN, choices: [{ tokenIds: [2, first] }] });
    await idle;
    expect(textsIn(updates)).toEqual(['é', 'f']);
    expect(resultIn(updates)).toMatchObject({ text: 'abcéf', generatedText: 'céf' });
  });

  it.each([
    ['has its echo where it had started', BEGUN, []],
    ['is echoed where it had not started', { choices: [] }, ['ab']],
  ])('%s', async (_, resumption, echoes) => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4, echo: true }, resumption);
    await idle;
    expect(updates.flatMap((update) => (update.type === 'echo' ? [update.text] : []))).toEqual(echoes);
  });

  it('goes on inside a stop string: its first characters are held back at the lost worker', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 9, stop: 'def' }, { ...BEGUN, choices: [{ tokenIds: [2, 3, 4] }] });
    await idle;
    expect(textsIn(updates)).toEqual(['']);
    expect(resultIn(updates)).toMatchObject({
      generatedText: 'c',
      tokenIds: [2, 3, 4, 5],
      finishReason: 'stop',
      usage: { numOutputTokens: 4 },
    });
  });

  it('shows what the lost worker held back for a stop string that does not come', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4, stop: 'dx' }, BEGUN);
    await idle;
    expect(textsIn(updates)).toEqual(['de', 'f']);
    expect(resultIn(updates).generatedText).toBe('cdef');
  });

  it('has the times of its whole life: the first wait, the first token, all that has passed', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, BEGUN);
    await idle;
    const { queueWaitMs, ttftMs, e2eMs, tpotMs } = resultIn(updates).timings;
    expect([queueWaitMs, ttftMs]).toEqual([5, 30]);
    expect(e2eMs).toBeGreaterThan(1000);
    expect(tpotMs).toBeCloseTo((e2eMs - 30) / 3, 6);
  });

  it('is not told its first token’s time again', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, BEGUN);
    await idle;
    expect(updates.filter((update) => 'ttftMs' in update)).toEqual([]);
  });

  it('has waited all the time where it had not got its first token', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 2 }, { choices: [] });
    await idle;
    const { queueWaitMs, ttftMs } = resultIn(updates).timings;
    expect(queueWaitMs).toBeGreaterThanOrEqual(1000);
    expect(ttftMs).toBeGreaterThan(queueWaitMs);
    const chunks = updates.filter(({ type }) => type === 'chunk');
    expect(chunks.map((update) => ('ttftMs' in update ? update.ttftMs : 'none'))).toEqual([ttftMs, 'none']);
  });

  it.each([
    ['had started', BEGUN],
    ['had not started', { choices: [] }],
  ])('says the same of its wait at its start and at its end, where it %s', async (_, resumption) => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, resumption);
    await idle;
    expect(updates[0]).toMatchObject({ type: 'started', queueWaitMs: resultIn(updates).timings.queueWaitMs });
  });

  it('is refused where all its continuations had ended: its tab had the result', async () => {
    const { generator, submit } = createGenerator();
    const ended = { tokenIds: [2, 3, 4], finishReason: 'length' } as const;
    expect(() => submit('ab', { n: 2 }, { choices: [ended, ended] })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining('`resumption`') }),
    );
    expect(generator.gauges.numWaiting).toBe(0);
  });

  it('is refused with tokens that its model has not, and disturbs nothing that runs', async () => {
    const { submit, updates, idle } = createGenerator();
    const { vocabSize } = ScriptedBackend.config;
    submit('a');
    expect(() => submit('b', {}, { ...BEGUN, choices: [{ tokenIds: [2, vocabSize] }] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/64 tokens.*got `64`/),
      }),
    );
    await idle;
    expect(resultIn(updates).text).toBe('abcd');
  });
});

describe('maxContextLength', () => {
  it('holds for requests that come after it is set, and refuses none that was accepted', async () => {
    const { generator, submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 9 });
    generator.configure({ maxContextLength: 5 });
    submit('abc', { maxNewTokens: 5 });
    submit('abcdef', { maxNewTokens: 9 }, { choices: [{ tokenIds: [6, 7] }], isAccepted: true });
    expect(() => submit('abcde', { maxNewTokens: 1 })).toThrow(
      expect.objectContaining({
        code: 'PROMPT_TOO_LONG',
        message: expect.stringMatching(
          /5 tokens, .*maxContextLength leaves 4 .*300: .* or raise maxContextLength/,
        ),
      }),
    );
    submit('a', { maxNewTokens: 6 });
    await idle;
    const texts = updates.flatMap((update) =>
      update.type === 'finished' ? [`${update.result.text} ${update.result.finishReason}`] : [],
    );
    expect(texts.toSorted()).toEqual([
      'abcde length',
      'abcde length',
      'abcdefghi length',
      'abcdefghijk length',
    ]);
  });

  it('lowers what a request asks for by default', async () => {
    const { generator, submit, updates, idle } = createGenerator();
    generator.configure({ maxContextLength: 3 });
    submit('a');
    await idle;
    expect(resultIn(updates)).toMatchObject({ text: 'abc', finishReason: 'length' });
  });
});

describe('rejects', () => {
  it.each([
    ['an empty prompt', '', {}, 'EMPTY_PROMPT', /empty/],
    ['a prompt that fills the context', 'a'.repeat(300), {}, 'PROMPT_TOO_LONG', /300 tokens.*holds 300.*299/],
    ['a prompt that cannot fit', 'a'.repeat(600), {}, 'PROMPT_TOO_LONG', /at least 300 tokens.*holds 300/],
    [
      'a prompt that is not text',
      7,
      {},
      'INVALID_OPTION',
      /`prompt` to be a string, a list of token ids or a list of messages, got `7` \(number\)/,
    ],
    ['no tokens', [], {}, 'EMPTY_PROMPT', /empty/],
    ['tokens that fill the context', Array(300).fill('?'), {}, 'PROMPT_TOO_LONG', /300 tokens.*holds 300/],
    [
      'a token that the model has not',
      [0, 64],
      {},
      'INVALID_OPTION',
      /`prompt\[1\]` to be .* <= 63, got `64`/,
    ],
    ['a token that is none', [0, '1'], {}, 'INVALID_OPTION', /`prompt\[1\]` to be an integer.*\(string\)/],
    ['an unknown option', 'a', { maxTokens: 1 }, 'UNKNOWN_OPTION', /`maxTokens`/],
  ])('%s, and disturbs nothing that runs', async (_, prompt, options, code, message) => {
    const { submit, updates, idle } = createGenerator();
    submit('a');
    expect(() => submit(prompt, options)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
    await idle;
    expect(updates.at(-1)).toMatchObject({ type: 'finished', result: { text: 'abcd' } });
  });

  it('a prompt that cannot fit without a look at its tokens, whatever its length', () => {
    const { model, submit } = createGenerator();
    const encode = vi.spyOn(model.tokenizer, 'encodeInPieces');
    expect(() => submit('a'.repeat(10_000_000))).toThrow(
      expect.objectContaining({ code: 'PROMPT_TOO_LONG' }),
    );
    expect(encode).not.toHaveBeenCalled();
  });
});

/** `chunk 1 d length`: type, continuation, text and end of an update, as far as it has them. */
function describeUpdate(update: RequestUpdate): string {
  const { type } = update;
  if (type === 'echo') return `echo ${update.index} ${update.text}`;
  if (type !== 'chunk') return type;
  return ['chunk', update.index, update.text, update.finishReason].join(' ').trim();
}

/** The tab's part of a continuation after the first tokens of a lost worker. */
function resumed(choice: GenerationChoice | undefined, numTokens: number): ResumedChoice {
  if (!choice) throw new Error('There is no such continuation.');
  const { tokenIds, logprobs = [], finishReason } = choice;
  return {
    tokenIds: tokenIds.slice(0, numTokens),
    logprobs: logprobs.slice(0, numTokens),
    ...(tokenIds.length <= numTokens && { finishReason }),
  };
}

/** All that was streamed of one continuation. */
function textOf(updates: readonly RequestUpdate[], index: number): string {
  return updates
    .flatMap((update) => (update.type === 'chunk' && update.index === index ? [update.text] : []))
    .join('');
}

/** Continuation, text and number of logprobs of each echoed prompt. */
function promptsIn(updates: readonly RequestUpdate[]) {
  return updates.flatMap((update) =>
    update.type === 'echo' ? [[update.index, update.text, update.promptLogprobs?.length] as const] : [],
  );
}
