import { streamText, type LanguageModel } from 'ai';
import { describe, expect, it } from 'vitest';

import type { RequestId } from '../../protocol/ids.ts';
import { createServedModel } from '../../worker/test-support.ts';
import { HI, lastOf, setUp, setUpSilent, untilSubmitted } from '../testing/played-model.ts';

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
    const { worker, model } = setUpSilent();
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

  it('ends its text, tells the error and its code, and finishes where the request fails', async () => {
    const { worker, model } = setUpSilent();
    const streaming = model.doStream(HI);
    const { requestId } = await untilSubmitted(worker);
    worker.update(chunkOf(requestId, 'Ye'));
    worker.update({ type: 'failed', requestId, error: { code: 'MODEL_RUN_FAILED', message: 'No.' } });
    const { stream } = await streaming;
    const parts = await Array.fromAsync(stream);
    expect(parts.slice(-3)).toMatchObject([
      { type: 'text-end' },
      { type: 'error', error: { cause: { code: 'MODEL_RUN_FAILED' } } },
      { type: 'finish', finishReason: { unified: 'error', raw: 'MODEL_RUN_FAILED' } },
    ]);
  });

  it('breaks off with the reason of an abort', async () => {
    const { worker, model } = setUpSilent();
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
    const { worker, model } = setUpSilent();
    const streaming = model.doStream(HI);
    worker.update(chunkOf((await untilSubmitted(worker)).requestId, 'Ye'));
    await (await streaming).stream.cancel();
    await expect.poll(() => worker.received.at(-1)?.type).toBe('cancel');
  });
});
