import { generateText } from 'ai';
import { describe, expect, it } from 'vitest';

import type { TabserveClient } from '../client.ts';
import { BASE_MODEL } from '../testing/played-worker.ts';
import { defineDeployment, type DeploymentTypes } from '../../protocol/deployment.ts';
import { HI, lastOf, setUp, untilSubmitted } from '../testing/played-model.ts';
import { createTabserve } from './provider.ts';

describe('createTabserve', () => {
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

  it('takes a client of any deployments', () => {
    const { worker } = setUp();
    const shout = defineDeployment({
      name: 'shout',
      checkInput: (input) => String(input),
      handler: (texts) => Promise.resolve(texts),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is what is tested
    const serve = worker.serve as unknown as TabserveClient<DeploymentTypes<readonly [typeof shout]>>;
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

  it('has no image models', () => {
    const { tabserve } = setUp();
    expect(() => tabserve.imageModel('any')).toThrow(expect.objectContaining({ modelType: 'imageModel' }));
  });
});
