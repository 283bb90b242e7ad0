import { generateText } from 'ai';
import { describe, expect, it, vi } from 'vitest';

import { finish, HI, lastOf, setUp, setUpSilent, untilSubmitted } from '../testing/played-model.ts';

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
    const { worker, model } = setUpSilent();
    const answering = generateText({ model, prompt: 'Hi' });
    const { requestId } = await untilSubmitted(worker);
    finish(worker, requestId, {
      finishReason: 'length',
      usage: { numPromptTokens: 10, numCachedTokens: 4, numOutputTokens: 1 },
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
      tools: [{ type: 'provider', id: 'acme.search', name: 'search', args: {} }],
      reasoning: 'none',
      headers: { 'user-agent': 'ai/7', 'X-Trace': '1', 'X-None': undefined },
    });
    expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
      'acme.search',
      'reasoning',
      'headers',
    ]);
    const calm = { ...HI, toolChoice: { type: 'auto' }, headers: { 'user-agent': 'ai/7' } } as const;
    expect((await model.doGenerate(calm)).warnings).toEqual([]);
  });

  it('tells the log probabilities that were asked for, and no numbers that a server has not counted', async () => {
    const { worker, model } = setUpSilent();
    const answering = model.doGenerate({ ...HI, providerOptions: { tabserve: { logprobs: 1 } } });
    const { requestId, options } = await untilSubmitted(worker);
    expect(options).toMatchObject({ logprobs: 1 });
    const logprobs = [{ tokenId: 1, logprob: -0.5, top: [{ tokenId: 2, logprob: -0.1 }] }];
    finish(worker, requestId, { finishReason: 'stop', logprobs });
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
    const { worker, model } = setUpSilent();
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
    expect(await failWith('SERVER_UNREACHABLE')).toMatchObject({ isRetryable: true });
    expect(await failWith('PROMPT_TOO_LONG')).toMatchObject({ code: 'PROMPT_TOO_LONG' });
  });

  it('is sent again by the AI SDK when the queue was full, after the pause that the worker names', async () => {
    const { worker, model } = setUpSilent();
    const answering = generateText({ model, prompt: 'Hi' });
    const { requestId } = await untilSubmitted(worker);
    const details = { numQueuedRequests: 1, maxQueuedRequests: 1, retryAfterMs: 1 };
    worker.reply = () => ['later'];
    worker.update({ type: 'failed', requestId, error: { code: 'BACK_PRESSURE', message: 'Full.', details } });
    expect((await answering).text).toBe('later');
    expect(worker.submitted).toHaveLength(2);
  });

  it('cancels the request when the signal aborts, and rejects with the reason', async () => {
    const { worker, model } = setUpSilent();
    const controller = new AbortController();
    const answering = generateText({ model, prompt: 'Hi', abortSignal: controller.signal });
    await untilSubmitted(worker);
    controller.abort();
    await expect(answering).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => worker.received.at(-1)?.type).toBe('cancel');
  });
});
