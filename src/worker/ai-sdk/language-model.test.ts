import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { generateText, streamText, type LanguageModel } from 'ai';
import { describe, expect, it } from 'vitest';

import type { RequestId } from '../protocol/ids.ts';
import { BASE_MODEL, PlayedWorker, type Submitted } from '../client/played-worker.ts';
import { createServedModel } from '../test-support.ts';
import { createTabserve } from './provider.ts';

function setUp(status: ConstructorParameters<typeof PlayedWorker>[0] = {}) {
  const worker = new PlayedWorker(status);
  const tabserve = createTabserve({ serve: worker.serve });
  return { worker, tabserve, model: tabserve('chat') };
}

const HI: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
};

function lastOf({ submitted }: PlayedWorker): Submitted {
  const last = submitted.at(-1);
  if (!last) throw new Error('Nothing was submitted');
  return last;
}

const chunkOf = (requestId: RequestId, text: string) =>
  ({ type: 'chunk', requestId, index: 0, text, tokenIds: [] }) as const;

const restartOf = (requestId: RequestId) =>
  ({ type: 'restarted', requestId, model: createServedModel() }) as const;

async function partsOf(model: LanguageModel, during: () => Promise<void> = async () => {}) {
  const { fullStream } = streamText({ model, prompt: 'Hi', maxRetries: 0, onError: () => {} });
  const parts: { readonly type: string; readonly text?: string }[] = [];
  const reading = (async () => {
    for await (const part of fullStream) parts.push(part);
  })();
  await during();
  await reading;
  return parts;
}

const untilSubmitted = async (worker: PlayedWorker): Promise<Submitted> => {
  await expect.poll(() => worker.submitted.length).toBeGreaterThan(0);
  return lastOf(worker);
};

describe('generateText', () => {
  it('sends the chat with the settings of the call under their names here', async () => {
    const { worker, model } = setUp();
    const { text } = await generateText({
      model,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'One' },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Two' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Thr' },
            { type: 'text', text: 'ee' },
          ],
        },
      ],
      maxOutputTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ['.'],
      seed: 7,
      providerOptions: { tabserve: { minTokens: 2, seed: 8 } },
    });
    expect(text).toBe('fine');
    expect(lastOf(worker)).toMatchObject({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
      options: {
        maxNewTokens: 5,
        temperature: 0.5,
        topP: 0.9,
        topK: 3,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        stop: ['.'],
        seed: 7,
        minTokens: 2,
      },
    });
  });

  it('tells usage with cached tokens, the reason of the end, the model and the seed', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const answering = generateText({ model, prompt: 'Hi' });
    const { requestId } = await untilSubmitted(worker);
    const choice = {
      text: 'Yes',
      generatedText: 'Yes',
      tokenIds: [1],
      finishReason: 'length',
      seed: 9,
    } as const;
    worker.update({
      type: 'finished',
      requestId,
      result: {
        ...choice,
        choices: [choice],
        usage: { numPromptTokens: 10, numCachedTokens: 4, numOutputTokens: 1 },
        timings: { queueWaitMs: 1, ttftMs: 2, e2eMs: 3, tpotMs: 4 },
      },
    });
    const { usage, finishReason, rawFinishReason, providerMetadata, response } = await answering;
    expect(usage).toMatchObject({
      inputTokens: 10,
      inputTokenDetails: { noCacheTokens: 6, cacheReadTokens: 4 },
      outputTokens: 1,
    });
    expect({ finishReason, rawFinishReason }).toEqual({ finishReason: 'length', rawFinishReason: 'length' });
    expect(providerMetadata?.['tabserve']).toMatchObject({ seed: 9, timings: { ttftMs: 2 } });
    expect(response.id).toBe(requestId);
  });

  it('warns of settings that have no effect', async () => {
    const { model } = setUp();
    const { warnings } = await model.doGenerate({
      ...HI,
      tools: [{ type: 'function', name: 'clock', inputSchema: {} }],
      toolChoice: { type: 'required' },
      responseFormat: { type: 'json' },
      reasoning: 'high',
    });
    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      'tools',
      'toolChoice',
      'responseFormat',
      'reasoning',
    ]);
  });

  it('refuses what is not text, and options that an answer has no place for', async () => {
    const { worker, model } = setUp();
    const image = { type: 'file', mediaType: 'image/png', data: new Uint8Array([1]) } as const;
    await expect(
      generateText({ model, messages: [{ role: 'user', content: [image] }] }),
    ).rejects.toMatchObject({ functionality: 'image/png files in user messages' });
    await expect(
      generateText({ model, prompt: 'Hi', providerOptions: { tabserve: { n: 2 } } }),
    ).rejects.toMatchObject({ functionality: 'providerOptions.tabserve.n' });
    expect(worker.submitted).toEqual([]);
  });

  it('calls a full queue an error that a retry may mend, and keeps the code of all errors', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const failWith = async (code: string): Promise<unknown> => {
      const numBefore = worker.submitted.length;
      const answering = model.doGenerate(HI).then(undefined, (error: unknown) => error);
      await expect.poll(() => worker.submitted.length).toBe(numBefore + 1);
      const details = { numQueuedRequests: 1, maxQueuedRequests: 1, retryAfterMs: 1 };
      const { requestId } = lastOf(worker);
      worker.update({ type: 'failed', requestId, error: { code, message: 'No.', details } });
      return answering;
    };
    expect(await failWith('BACK_PRESSURE')).toMatchObject({
      isRetryable: true,
      cause: { code: 'BACK_PRESSURE', retryAfterMs: 1 },
    });
    expect(await failWith('PROMPT_TOO_LONG')).toMatchObject({ code: 'PROMPT_TOO_LONG' });
  });

  it('cancels the request when the signal aborts, and rejects with the reason', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const controller = new AbortController();
    const answering = generateText({ model, prompt: 'Hi', abortSignal: controller.signal });
    await untilSubmitted(worker);
    controller.abort();
    await expect(answering).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => worker.received.at(-1)?.type).toBe('cancel');
  });

  it('loads a model that does not serve yet, once for calls that come together', async () => {
    const { worker, tabserve } = setUp();
    const texts = Promise.all(
      ['a', 'b'].map((prompt) => generateText({ model: tabserve('someone/other'), prompt })),
    );
    await expect.poll(() => worker.received.filter(({ type }) => type === 'load-model').length).toBe(1);
    expect(worker.submitted).toEqual([]);
    worker.endLoad();
    expect((await texts).map(({ text }) => text)).toEqual(['fine', 'fine']);
    expect(worker.received.filter(({ type }) => type === 'load-model')).toHaveLength(1);
  });
});

describe('streamText', () => {
  it('streams an answer as one block of text', async () => {
    const { worker, model } = setUp();
    worker.reply = () => ['fi', '', 'ne'];
    const parts = await partsOf(model);
    expect(parts.map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(parts.flatMap(({ text }) => text ?? [])).toEqual(['fi', 'ne']);
  });

  it('begins anew with another model while nothing was told, and fails once something was', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const early = await partsOf(model, async () => {
      const submitted = await untilSubmitted(worker);
      worker.update(restartOf(submitted.requestId));
      worker.answer(submitted, ['Yes']);
    });
    expect(early.flatMap(({ text }) => text ?? [])).toEqual(['Yes']);
    const late = await partsOf(model, async () => {
      await expect.poll(() => worker.submitted.length).toBe(2);
      const { requestId } = lastOf(worker);
      worker.update(chunkOf(requestId, 'Ye'));
      worker.update(restartOf(requestId));
      worker.update(chunkOf(requestId, 'Yes'));
    });
    expect(late.flatMap(({ text }) => text ?? [])).toEqual(['Ye']);
    expect(late.map(({ type }) => type)).toContain('error');
    expect(worker.received.at(-1)?.type).toBe('cancel');
  });

  it('cancels the request when its reader leaves', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const streaming = model.doStream(HI);
    worker.update(chunkOf((await untilSubmitted(worker)).requestId, 'Ye'));
    await (await streaming).stream.cancel();
    await expect.poll(() => worker.received.at(-1)?.type).toBe('cancel');
  });
});

describe('createTabserve', () => {
  it('continues a prompt with a base model, which takes no chats', async () => {
    const { worker, tabserve } = setUp({ model: BASE_MODEL });
    const model = tabserve.completionModel('base');
    await generateText({ model, prompt: 'Once upon' });
    expect(lastOf(worker).input).toBe('Once upon');
    await expect(generateText({ model, system: 'Be brief.', prompt: 'Hi' })).rejects.toMatchObject({
      functionality: 'chats in a completion model',
    });
  });

  it('has language models only', () => {
    const { tabserve } = setUp();
    expect(() => tabserve.embeddingModel('any')).toThrow(
      expect.objectContaining({ modelType: 'embeddingModel' }),
    );
    expect(() => tabserve.imageModel('any')).toThrow(expect.objectContaining({ modelType: 'imageModel' }));
  });
});
