import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../batching/generation/policy.ts';
import { createClientId, createRequestId } from '../ids.ts';
import type { LoadedModel } from '../load-model.ts';
import type { RequestId, RequestUpdate } from '../protocol.ts';
import { ByteTextStream } from '../model/text-stream.ts';
import { ScriptedBackend } from '../runtime/scripted-backend.ts';
import { TextGenerator } from './text-generator.ts';

/** Token i is the character after the i-th of this line; the scripted model counts up through it. */
const ALPHABET = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');

function createGenerator() {
  const backend = new ScriptedBackend();
  const bytes = new Map(ALPHABET.map((character, id) => [id, new TextEncoder().encode(character)]));
  const model: LoadedModel = {
    config: ScriptedBackend.config,
    tokenizer: {
      encode: (text) => Array.from(text, (character) => ALPHABET.indexOf(character)),
      createTextStream: () => new ByteTextStream(bytes),
    },
    backend,
    modelInfo: {
      id: 'scripted',
      numParameters: 1,
      numLayers: 1,
      contextLength: ScriptedBackend.config.contextLength,
      vocabSize: ScriptedBackend.config.vocabSize,
      generationDefaults: {
        maxNewTokens: 3,
        temperature: 0,
        topK: 0,
        topP: 1,
        minP: 0,
        repetitionPenalty: 1,
        presencePenalty: 0,
        frequencyPenalty: 0,
      },
    },
    backendInfo: {
      name: 'wasm',
      precision: 'fp32',
      adapter: 'none',
      isSoftwareAdapter: false,
      fallbackReason: '',
    },
  };
  const updates: RequestUpdate[] = [];
  const idle = Promise.withResolvers<void>();
  const generator: TextGenerator = new TextGenerator(model, DEFAULT_POLICY, {
    onUpdates: (batch) => updates.push(...batch),
    onStep: () => generator.numRunning + generator.numWaiting === 0 && idle.resolve(),
    onEnded: () => generator.numRunning + generator.numWaiting === 0 && idle.resolve(),
  });
  const submit = (prompt: unknown, options: unknown = {}): RequestId => {
    const requestId = createRequestId();
    generator.submit({ requestId, clientId: createClientId(), prompt, options });
    return requestId;
  };
  return { generator, updates, submit, backend, idle: idle.promise };
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

  it('takes new knobs and keeps the old ones where the new are bad', () => {
    const { generator } = createGenerator();
    expect(generator.configure({ maxBatchSize: 2 }).maxBatchSize).toBe(2);
    expect(() => generator.configure({ maxBatchSize: 0 })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
    expect(generator.configure({}).maxBatchSize).toBe(2);
  });
});

describe('rejects', () => {
  it.each([
    ['an empty prompt', '', {}, 'EMPTY_PROMPT', /empty/],
    ['a prompt that fills the context', 'a'.repeat(300), {}, 'PROMPT_TOO_LONG', /300 tokens.*holds 300.*299/],
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
});
