import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { generateText, streamText, type LanguageModel } from 'ai';
import { describe, expect, it, vi } from 'vitest';

import type { Serve } from '../client/client.ts';
import { defineDeployment, type DeploymentTypes } from '../deployments/deployment.ts';
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
      reasoning: 'none',
      headers: { 'user-agent': 'ai/7', 'X-Trace': '1', 'X-None': undefined },
    });
    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      'tools',
      'toolChoice',
      'responseFormat',
      'reasoning',
      'headers',
    ]);
    const calm = { ...HI, toolChoice: { type: 'auto' }, headers: { 'user-agent': 'ai/7' } } as const;
    expect((await model.doGenerate(calm)).warnings).toEqual([]);
  });

  it('tells the log probabilities that were asked for, and no numbers that an upstream has not counted', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const answering = model.doGenerate({ ...HI, providerOptions: { tabserve: { logprobs: 1 } } });
    const { requestId, options } = await untilSubmitted(worker);
    expect(options).toMatchObject({ logprobs: 1 });
    const logprobs = [{ tokenId: 1, logprob: -0.5, top: [{ tokenId: 2, logprob: -0.1 }] }];
    const choice = {
      text: 'Yes',
      generatedText: 'Yes',
      tokenIds: [1],
      finishReason: 'stop',
      seed: 9,
    } as const;
    worker.update({
      type: 'finished',
      requestId,
      result: {
        ...choice,
        logprobs,
        choices: [choice],
        usage: { numPromptTokens: 0, numCachedTokens: 0, numOutputTokens: 1 },
        timings: { queueWaitMs: 1, ttftMs: 2, e2eMs: 3, tpotMs: 4 },
      },
    });
    const { providerMetadata, usage } = await answering;
    expect(providerMetadata?.['tabserve']).toMatchObject({ logprobs });
    expect(usage).toMatchObject({
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined },
      outputTokens: { total: 1 },
    });
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
    await expect(
      generateText({ model, prompt: 'Hi', providerOptions: { tabserve: { signal: {} } } }),
    ).rejects.toMatchObject({ code: 'UNKNOWN_OPTION', message: expect.stringContaining('`signal`') });
    expect(worker.submitted).toEqual([]);
  });

  it('refuses a file by its address, and does not download it before', async () => {
    const download = vi.fn<() => Promise<never[]>>(async () => []);
    const { model } = setUp();
    const file = { type: 'file', mediaType: 'image/png', data: new URL('https://a.test/b.png') } as const;
    await expect(
      generateText({
        model,
        messages: [{ role: 'user', content: [file] }],
        experimental_download: async (requests) => {
          if (requests.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel)) await download();
          return requests.map(() => null);
        },
      }),
    ).rejects.toMatchObject({ functionality: 'image/png files in user messages' });
    expect(download).not.toHaveBeenCalled();
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
      responseHeaders: { 'retry-after-ms': '1' },
      cause: { code: 'BACK_PRESSURE', retryAfterMs: 1 },
    });
    expect(await failWith('MODEL_RUN_FAILED')).toMatchObject({ isRetryable: true });
    expect(await failWith('UPSTREAM_UNREACHABLE')).toMatchObject({ isRetryable: true });
    expect(await failWith('PROMPT_TOO_LONG')).toMatchObject({ code: 'PROMPT_TOO_LONG' });
  });

  it('is sent again by the AI SDK when the queue was full, after the pause that the worker names', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const answering = generateText({ model, prompt: 'Hi' });
    const { requestId } = await untilSubmitted(worker);
    const details = { numQueuedRequests: 1, maxQueuedRequests: 1, retryAfterMs: 1 };
    worker.reply = () => ['later'];
    worker.update({ type: 'failed', requestId, error: { code: 'BACK_PRESSURE', message: 'Full.', details } });
    expect((await answering).text).toBe('later');
    expect(worker.submitted).toHaveLength(2);
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

  it('loads its model also where the first one failed', async () => {
    const { worker, tabserve } = setUp({
      state: 'failed',
      error: { code: 'MODEL_FILE_MISSING', message: 'No.' },
    });
    const answering = generateText({ model: tabserve('someone/other'), prompt: 'Hi' });
    await expect.poll(() => worker.received.some(({ type }) => type === 'load-model')).toBe(true);
    worker.endLoad();
    expect((await answering).text).toBe('fine');
  });

  it('ends at an abort while its model loads; the load goes on', async () => {
    const { worker, tabserve } = setUp();
    const controller = new AbortController();
    const answering = generateText({
      model: tabserve('someone/other'),
      prompt: 'Hi',
      abortSignal: controller.signal,
    });
    await expect.poll(() => worker.received.some(({ type }) => type === 'load-model')).toBe(true);
    controller.abort();
    await expect(answering).rejects.toMatchObject({ name: 'AbortError' });
    worker.endLoad();
    expect((await generateText({ model: tabserve('someone/other'), prompt: 'Hi' })).text).toBe('fine');
    expect(worker.submitted).toHaveLength(1);
    expect(worker.received.map(({ type }) => type)).not.toContain('steer-load');
  });

  it('never answers with the text of another model', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const answering = model.doGenerate(HI);
    const submitted = await untilSubmitted(worker);
    worker.change({ model: BASE_MODEL });
    worker.answer(submitted, ['wrong']);
    await expect(answering).rejects.toMatchObject({
      isRetryable: true,
      message: expect.stringMatching(/^Another model took over/),
    });
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
    expect(late.map(({ type }) => type).slice(-5)).toEqual([
      'text-delta',
      'text-end',
      'error',
      'finish-step',
      'finish',
    ]);
    expect(late.at(-1)).toMatchObject({ finishReason: 'error' });
    expect(worker.received.at(-1)?.type).toBe('cancel');
  });

  it('has the chunks of the worker too where they are asked for', async () => {
    const { worker, model } = setUp();
    worker.reply = () => ['fi', 'ne'];
    const { stream } = await model.doStream({ ...HI, includeRawChunks: true });
    const parts = await Array.fromAsync(stream);
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'raw',
      'response-metadata',
      'text-start',
      'text-delta',
      'raw',
      'text-delta',
      'text-end',
      'finish',
    ]);
    expect(parts[1]).toMatchObject({ rawValue: { index: 0, text: 'fi' } });
  });

  it('breaks off with the reason of an abort', async () => {
    const { worker, model } = setUp();
    worker.reply = undefined;
    const controller = new AbortController();
    const streaming = model.doStream({ ...HI, abortSignal: controller.signal });
    const { requestId } = await untilSubmitted(worker);
    worker.update(chunkOf(requestId, 'Ye'));
    const { stream } = await streaming;
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(Array.fromAsync(stream)).rejects.toBe(reason);
    await expect.poll(() => worker.received.at(-1)?.type).toBe('cancel');
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
  it('takes a client of any deployments', () => {
    const { worker } = setUp();
    const shout = defineDeployment({
      name: 'shout',
      checkInput: (input) => String(input),
      handler: (texts) => Promise.resolve(texts),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is what is tested
    const serve = worker.serve as unknown as Serve<DeploymentTypes<readonly [typeof shout]>>;
    expect(createTabserve({ serve })('chat').modelId).toBe('chat');
    expect(createTabserve({ serve: Promise.resolve(serve) })('chat').provider).toBe('tabserve');
  });

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
