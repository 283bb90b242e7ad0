import { describe, expect, it, vi } from 'vitest';
import { RequestTimeoutError } from '../../batching/errors.ts';
import { DEFAULT_POLICY } from '../../batching/generation/policy.ts';
import { createClientId, createRequestId } from '../ids.ts';
import type { GenerationResult, RequestId, RequestUpdate, Resumption } from '../protocol.ts';
import { ScriptedBackend } from '../runtime/scripted-backend.ts';
import { createScriptedModel } from '../tabs/test-support.ts';
import { TextGenerator } from './text-generator.ts';

function createGenerator(bytes?: ReadonlyMap<number, Uint8Array>) {
  const backend = new ScriptedBackend();
  const model = createScriptedModel(backend, bytes);
  const batches: (readonly RequestUpdate[])[] = [];
  const updates: RequestUpdate[] = [];
  const idle = Promise.withResolvers<void>();
  const generator: TextGenerator = new TextGenerator(model, DEFAULT_POLICY, {
    onUpdates: (batch) => {
      batches.push(batch);
      updates.push(...batch);
    },
    onStep: () => generator.numRunning + generator.numWaiting === 0 && idle.resolve(),
    onEnded: () => generator.numRunning + generator.numWaiting === 0 && idle.resolve(),
  });
  const submit = (prompt: unknown, options: unknown = {}, resumption?: Resumption): RequestId => {
    const requestId = createRequestId();
    // A lost worker, and the search for the next one, took a second.
    const elapsedMs = resumption ? 1000 : 0;
    generator.submit({ requestId, clientId: createClientId(), prompt, options, elapsedMs, resumption });
    return requestId;
  };
  return { generator, model, batches, updates, submit, idle: idle.promise };
}

describe('TextGenerator', () => {
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
        usage: { numPromptTokens: 2, numOutputTokens: 4 },
      },
    });
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
    expect(textsIn(updates)).toEqual(['c', 'd', '', 'e']);
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
    generator.fail(failed, RequestTimeoutError.ofRequest(5));
    generator.fail(failed, RequestTimeoutError.ofRequest(6));
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

describe('a request that a lost worker has begun', () => {
  const BEGUN: Resumption = { tokenIds: [2, 3], queueWaitMs: 5, ttftMs: 30 };

  it('goes on after its tokens, and its result has them all', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, BEGUN);
    await idle;
    expect(textsIn(updates)).toEqual(['e', 'f']);
    expect(resultIn(updates)).toMatchObject({
      text: 'abcdef',
      generatedText: 'cdef',
      tokenIds: [2, 3, 4, 5],
      usage: { numPromptTokens: 2, numOutputTokens: 4 },
    });
  });

  it('goes on inside a character: its first bytes are at the lost worker’s', async () => {
    const [first, second] = [3, 4];
    const bytes = new Map([
      [first, Uint8Array.of(0xc3)],
      [second, Uint8Array.of(0xa9)],
    ]);
    const { submit, updates, idle } = createGenerator(bytes);
    submit('ab', { maxNewTokens: 4 }, { ...BEGUN, tokenIds: [2, first] });
    await idle;
    expect(textsIn(updates)).toEqual(['é', 'f']);
    expect(resultIn(updates)).toMatchObject({ text: 'abcéf', generatedText: 'céf' });
  });

  it.each([
    ['has its echo where it had started', BEGUN, []],
    ['is echoed where it had not started', { tokenIds: [] }, ['ab']],
  ])('%s', async (_, resumption, echoes) => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4, echo: true }, resumption);
    await idle;
    expect(updates.flatMap((update) => (update.type === 'echo' ? [update.text] : []))).toEqual(echoes);
  });

  it('goes on inside a stop string: its first characters are held back at the lost worker', async () => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 9, stop: 'def' }, { ...BEGUN, tokenIds: [2, 3, 4] });
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
    submit('ab', { maxNewTokens: 2 }, { tokenIds: [] });
    await idle;
    const { queueWaitMs, ttftMs } = resultIn(updates).timings;
    expect(queueWaitMs).toBeGreaterThanOrEqual(1000);
    expect(ttftMs).toBeGreaterThan(queueWaitMs);
    const chunks = updates.filter(({ type }) => type === 'chunk');
    expect(chunks.map((update) => ('ttftMs' in update ? update.ttftMs : 'none'))).toEqual([ttftMs, 'none']);
  });

  it.each([
    ['had started', BEGUN],
    ['had not started', { tokenIds: [] }],
  ])('says the same of its wait at its start and at its end, where it %s', async (_, resumption) => {
    const { submit, updates, idle } = createGenerator();
    submit('ab', { maxNewTokens: 4 }, resumption);
    await idle;
    expect(updates[0]).toMatchObject({ type: 'started', queueWaitMs: resultIn(updates).timings.queueWaitMs });
  });

  it('is refused with tokens that its model has not, and disturbs nothing that runs', async () => {
    const { submit, updates, idle } = createGenerator();
    const { vocabSize } = ScriptedBackend.config;
    submit('a');
    expect(() => submit('b', {}, { ...BEGUN, tokenIds: [2, vocabSize] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/64 tokens.*got `64`/),
      }),
    );
    await idle;
    expect(resultIn(updates).text).toBe('abcd');
  });
});

describe('rejects', () => {
  it.each([
    ['an empty prompt', '', {}, 'EMPTY_PROMPT', /empty/],
    ['a prompt that fills the context', 'a'.repeat(300), {}, 'PROMPT_TOO_LONG', /300 tokens.*holds 300.*299/],
    ['a prompt that cannot fit', 'a'.repeat(600), {}, 'PROMPT_TOO_LONG', /at least 300 tokens.*holds 300/],
    ['a prompt that is not text', 7, {}, 'INVALID_OPTION', /`prompt` to be a string, got `7` \(number\)/],
    ['an unknown option', 'a', { maxTokens: 1 }, 'UNKNOWN_OPTION', /`maxTokens`/],
    ['more tokens than the context', 'a', { maxNewTokens: 301 }, 'INVALID_OPTION', /<= 300/],
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
    const encode = vi.spyOn(model.tokenizer, 'encode');
    expect(() => submit('a'.repeat(10_000_000))).toThrow(
      expect.objectContaining({ code: 'PROMPT_TOO_LONG' }),
    );
    expect(encode).not.toHaveBeenCalled();
  });
});

/** Of each chunk. */
function textsIn(updates: readonly RequestUpdate[]): string[] {
  return updates.flatMap((update) => (update.type === 'chunk' ? [update.text] : []));
}

function resultIn(updates: readonly RequestUpdate[]): GenerationResult {
  const finished = updates.find((update) => update.type === 'finished');
  if (!finished) throw new Error('No request has finished.');
  return finished.result;
}
