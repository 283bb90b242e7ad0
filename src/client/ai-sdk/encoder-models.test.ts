import { embedMany, generateText, rerank } from 'ai';
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

describe('a model of another deployment', () => {
  const REFUSAL = { code: 'UNSUPPORTED_MODEL', message: 'It serves another deployment.' };

  it.each([
    ['embedder', 'chat'],
    ['embedder', 'cross'],
    ['reranker', 'minilm'],
    ['text-generator', 'minilm'],
  ] as const)('never answers for the %s, though %s serves', async (deployment, id) => {
    const { worker, tabserve } = setUpSilent();
    worker.change({ encoders: ENCODERS });
    const answering = {
      embedder: () => embedMany({ model: tabserve.embeddingModel(id), values: ['a'] }),
      reranker: () => rerank({ model: tabserve.rerankingModel(id), query: 'a', documents: ['a'] }),
      'text-generator': () => generateText({ model: tabserve(id), prompt: 'a' }),
    }[deployment]();
    await expect.poll(() => worker.received.some(({ type }) => type === 'load-model')).toBe(true);
    expect(worker.received.find(({ type }) => type === 'load-model')).toMatchObject({ deployment });
    worker.endLoad(REFUSAL);
    await expect(answering).rejects.toMatchObject(REFUSAL);
    expect(worker.submitted).toEqual([]);
  });

  it('at a server is refused too, which encodes with the model that generates unless another is named', async () => {
    const server = { ...backend, name: 'server', precision: 'unknown' } as const;
    const { worker, tabserve } = setUpSilent();
    worker.change({ backend: server });
    void embedMany({ model: tabserve.embeddingModel('chat'), values: ['a'] }).catch(() => {});
    await untilSubmitted(worker);
    worker.change({ encoders: [infoOf('embedder', 'bge')] });
    void embedMany({ model: tabserve.embeddingModel('bge'), values: ['a'] }).catch(() => {});
    await expect.poll(() => worker.submitted.length).toBe(2);
    void embedMany({ model: tabserve.embeddingModel('chat'), values: ['a'] }).catch(() => {});
    await expect.poll(() => worker.received.some(({ type }) => type === 'load-model')).toBe(true);
    expect(worker.submitted).toHaveLength(2);
  });

  it('that takes over meanwhile fails the call, which can be tried again', async () => {
    const { worker, tabserve } = setUpSilent();
    worker.change({ encoders: ENCODERS });
    const embedding = tabserve.embeddingModel('minilm').doEmbed({ values: ['a'] });
    const { requestId } = await untilSubmitted(worker);
    worker.change({ encoders: [infoOf('embedder', 'other')] });
    worker.update({
      type: 'answered',
      requestId,
      result: [{ embedding: [1], numTokens: 1, isTruncated: false }],
    });
    await expect(embedding).rejects.toMatchObject({
      isRetryable: true,
      message: expect.stringMatching(/^Another model took over/),
    });
  });
});
