import { embedMany, rerank } from 'ai';
import { describe, expect, it } from 'vitest';

import type { EncoderInfo } from '../index.ts';
import { lastOf, setUpSilent, untilSubmitted } from '../testing/played-model.ts';

const backend = { name: 'wasm', precision: 'fp32', adapter: 'CPU', fallbackReason: '' } as const;

function infoOf(deployment: string, id: string): EncoderInfo {
  const sizes = { numParameters: 1, maxTokens: 256, vocabSize: 100, dimensions: 2, prompts: [] };
  return { deployment, id, ...sizes, backend };
}

const ENCODERS = [infoOf('embedder', 'minilm'), infoOf('reranker', 'cross')];

describe('embedMany', () => {
  it('sends all texts in one request, with the options of the call, and counts their tokens', async () => {
    const { worker, tabserve } = setUpSilent();
    worker.change({ encoders: ENCODERS });
    const embedding = embedMany({
      model: tabserve.embeddingModel('minilm'),
      values: ['a', 'b'],
      providerOptions: { tabserve: { prompt: 'query', dimensions: 2 } },
    });
    const { requestId } = await untilSubmitted(worker);
    expect(lastOf(worker)).toMatchObject({
      input: ['a', 'b'],
      options: { prompt: 'query', dimensions: 2 },
    });
    const result = [
      { embedding: [1, 0], numTokens: 3, isTruncated: false },
      { embedding: [0, 1], numTokens: 4, isTruncated: false },
    ];
    worker.update({ type: 'answered', requestId, result });
    expect(await embedding).toMatchObject({
      embeddings: [
        [1, 0],
        [0, 1],
      ],
      usage: { tokens: 7 },
    });
  });

  it('loads the model that it names, if another one serves', async () => {
    const { worker, tabserve } = setUpSilent();
    const embedding = embedMany({ model: tabserve.embeddingModel('owner/other'), values: ['a'] });
    await expect.poll(() => worker.received.some(({ type }) => type === 'load-model')).toBe(true);
    worker.endLoad({ code: 'MODEL_NOT_FOUND', message: 'No such model.' });
    await expect(embedding).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
  });
});

describe('rerank', () => {
  it('gives the documents in the order of the worker', async () => {
    const { worker, tabserve } = setUpSilent();
    worker.change({ encoders: ENCODERS });
    const ranking = rerank({
      model: tabserve.rerankingModel('cross'),
      query: 'fox',
      documents: ['dog', 'a fox'],
      topN: 1,
    });
    const { requestId } = await untilSubmitted(worker);
    expect(lastOf(worker)).toMatchObject({
      input: { query: 'fox', documents: ['dog', 'a fox'] },
      options: { topN: 1, truncate: true },
    });
    worker.update({
      type: 'answered',
      requestId,
      result: { results: [{ index: 1, score: 0.9 }], numTokens: 8 },
    });
    expect((await ranking).ranking).toEqual([{ originalIndex: 1, score: 0.9, document: 'a fox' }]);
  });
});
