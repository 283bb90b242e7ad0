import { expect, it } from 'vitest';

import { WEBGPU } from '../../testing/test-support.ts';
import { describeEmbedding, describeLines, describePlaces, describeSearchCut } from './describe-embedding.ts';

const VECTORS = [new Float32Array(1), new Float32Array(1)];

it('says how many texts are done, and how fast', () => {
  expect(describeEmbedding({ numDone: 0, numTexts: 10_000, elapsedMs: 0 })).toBe('0 of 10,000');
  expect(describeEmbedding({ numDone: 1024, numTexts: 10_000, elapsedMs: 2000 })).toBe(
    '1,024 of 10,000 · 512 texts/s with tokenizing',
  );
});

const EMBEDDED = {
  lines: ['one', 'two'],
  vectors: VECTORS,
  numCut: 0,
  modelId: 'a/model',
  maxTokens: 256,
  durationMs: 500,
};

it('says what was embedded, what of it was cut and what is left out', () => {
  const took = '2 lines in 0.5 s with tokenizing, 4.00 texts/s, by model.';
  expect(describeLines('one\ntwo\n', EMBEDDED)).toBe(took);
  expect(describeLines('one\ntwo', { ...EMBEDDED, numCut: 1 })).toBe(
    `${took} 1 is longer than the 256 tokens that the model reads: the beginning counts.`,
  );
  expect(describeLines('one\ntwo', { ...EMBEDDED, numCut: 2 })).toContain('2 are longer');
  expect(describeLines('', undefined)).toBe('');
  expect(describeLines('x\n'.repeat(10_002), undefined)).toBe(
    '10,000 lines. The 2 lines behind them are left out.',
  );
});

it('says that one line is left out', () => {
  expect(describeLines('x\n'.repeat(10_001), undefined)).toBe(
    '10,000 lines. The 1 line behind them is left out.',
  );
});

it('says which lines a search finds while others are typed', () => {
  const before = 'Until you press Embed, a search finds the 2 lines from before.';
  expect(describeLines('one\ntwo\nthree', EMBEDDED)).toBe(`3 lines. ${before}`);
  expect(describeLines(' ', EMBEDDED)).toBe(before);
  expect(describeLines('one', undefined)).toBe('1 line.');
});

it('says what of a search was cut', () => {
  const hits = [true, false, true].map((isCut, index) => ({ index, score: 1, isCut }));
  const query = 'The query is longer than the 256 tokens that the model reads: its beginning counts.';
  expect(describeSearchCut({ hits: [], isQueryCut: false }, 256, 512)).toBe('');
  expect(describeSearchCut({ hits: [], isQueryCut: true }, 256, 512)).toBe(query);
  expect(describeSearchCut({ hits, isQueryCut: true }, 256, 512)).toBe(
    `${query} 2 lines with the query are longer than the 512 tokens that the reranker reads: the beginnings count.`,
  );
});

it('says where batches ran, and from which size on the GPU pays', () => {
  const run = { numBatches: 12, numOnWasm: 3 };
  expect(describePlaces(run, { backend: WEBGPU, crossoverTokens: 320 })).toBe(
    '12 batches: 9 on WebGPU, 3 on the CPU, which is faster below 320 tokens.',
  );
  expect(describePlaces({ numBatches: 1, numOnWasm: 1 }, { backend: { ...WEBGPU, name: 'wasm' } })).toBe(
    '1 batch on CPU.',
  );
  expect(describePlaces(undefined, undefined)).toBe('');
});
