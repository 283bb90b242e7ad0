import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import { embedTask } from '../../../src/worker/embedding/embed-task.ts';
import type { EncoderTask } from '../../../src/worker/embedding/encoder-task.ts';
import { rerankTask } from '../../../src/worker/embedding/rerank-task.ts';
import type { EncoderRow } from '../../../src/worker/runtime/encoder-inputs.ts';
import { ReferenceExecutor, weightsOf } from '../../../src/worker/testing/reference-executor.ts';
import { CPU, folderOf, packModel } from '../run-model.ts';
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { loadEncoder } from '../../../src/worker/runtime/encoder/load-encoder.ts';
import type { LoadedEncoder } from '../../../src/worker/runtime/encoder/loaded-encoder.ts';
import type { Embedding, Ranking } from '../../../src/protocol/embedding.ts';
import reference from '../fixtures/encoders-reference.json' with { type: 'json' };
import { ENCODERS } from '../../hub-server/checkpoints/encoders.ts';
import type { GeneratedFile } from '../../hub-server/checkpoints/generated-file.ts';

// sentence-transformers' figures in float64 are the reference: the tokenizer, the graph, the mask and the pooling are tested together.

const EMBEDDERS = ['generated/bert', 'generated/qwen3-embedding'] as const;
const PRECISION = 1e-5;
/** The reference has seven digits. */
const EXECUTOR_PRECISION = 1e-6;

type Run = (rows: readonly EncoderRow[]) => Promise<readonly Float32Array[]>;

async function answer(
  task: EncoderTask,
  model: LoadedEncoder,
  input: unknown,
  options = {},
  run: Run = async (rows) => (await model.backend.run(rows)).outputs,
): Promise<unknown> {
  const reading = task.read(input, options, model);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value.answer(await run(step.value.rows));
}

/** Runs rows on the executor that readers are held against. */
async function executorOf(id: string): Promise<Run> {
  const { packed } = await packModel(folderOf(ENCODERS.get(id)?.() ?? new Map()), 'fp32', CPU);
  const { program, encoder } = packed.model;
  if (!encoder) throw new TypeError(`${id} generates`);
  const executor = new ReferenceExecutor(
    program,
    weightsOf({ ...packed, weights: await packed.weights.bytes() }),
  );
  return (rows) =>
    Promise.resolve(rows.map((row) => Float32Array.from(executor.encode(row, encoder.pooling))));
}

async function embed(
  model: LoadedEncoder,
  input: unknown,
  options = {},
  run?: Run,
): Promise<readonly number[][]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a list
  const embeddings = (await answer(embedTask, model, input, options, run)) as readonly Embedding[];
  return embeddings.map(({ embedding }) => [...embedding]);
}

function load(id: string, dtype: 'fp32' | 'q8' = 'fp32'): Promise<LoadedEncoder> {
  const checkpoint = ENCODERS.get(id)?.();
  if (!checkpoint) throw new Error(`There is no ${id}`);
  return loadEncoderInNode(
    id,
    (name) => {
      const file = checkpoint.get(name);
      return file && file.read(0, file.size);
    },
    dtype,
  );
}

function textOf(file: GeneratedFile | undefined): string {
  return file ? new TextDecoder().decode(file.read(0, file.size)) : '';
}

function largestDifference(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  expect(a.map(({ length }) => length)).toEqual(b.map(({ length }) => length));
  return Math.max(...a.flatMap((row, i) => row.map((value, j) => Math.abs(value - (b[i]?.[j] ?? NaN)))));
}

it('generated encoders are those that the reference was computed for', () => {
  expect([...ENCODERS.keys()].toSorted()).toEqual(Object.keys(reference).toSorted());
  for (const [id, { files }] of Object.entries(reference)) {
    const generated = Array.from(ENCODERS.get(id)?.() ?? [], ([name, file]) => {
      const sha256 = createHash('sha256').update(file.read(0, file.size)).digest('hex');
      return [name, { size: file.size, sha256 }];
    });
    expect({ id, files: Object.fromEntries(generated) }).toEqual({ id, files });
  }
});

describe.each(EMBEDDERS)('%s on the CPU', (id) => {
  const { texts, embeddings, queries } = reference[id];
  let model: LoadedEncoder;

  beforeAll(async () => {
    model = await load(id);
  });

  it('makes the vectors of sentence-transformers, alone and in a padded batch', async () => {
    const batched = await embed(model, texts, { truncate: true });
    expect(largestDifference(batched, embeddings)).toBeLessThan(PRECISION);
    const alone: number[][] = [];
    for (const text of texts) alone.push(...(await embed(model, [text], { truncate: true })));
    expect(largestDifference(alone, batched)).toBeLessThan(PRECISION);
  });

  it('makes them in the executor that readers are held against too', async () => {
    const some = texts.slice(0, 4);
    const made = await embed(model, some, {}, await executorOf(id));
    expect(largestDifference(made, embeddings.slice(0, 4))).toBeLessThan(EXECUTOR_PRECISION);
  });

  it("puts a named prompt before each text, as sentence-transformers' does", async () => {
    const made = await embed(model, texts.slice(0, 3), { prompt: 'query' });
    expect(largestDifference(made, queries)).toBeLessThan(PRECISION);
  });

  it('keeps its vectors in eight bits', async () => {
    const made = await embed(await load(id, 'q8'), texts, { truncate: true });
    for (const [i, vector] of made.entries()) {
      const cosine = vector.reduce((sum, value, j) => sum + value * (embeddings[i]?.[j] ?? NaN), 0);
      expect(cosine).toBeGreaterThan(0.999);
    }
  });

  it('reads the IDs of tokens as it reads their text', async () => {
    const [text = ''] = texts;
    const ids = model.tokenizer.encode(text);
    expect(await embed(model, [ids])).toEqual(await embed(model, [text]));
  });

  it('makes shorter vectors of length 1, or the model’s own values', async () => {
    const [short = []] = await embed(model, texts.slice(0, 1), { dimensions: 8 });
    expect([short.length, Math.hypot(...short)]).toEqual([8, expect.closeTo(1, 6)]);
    const [own = []] = await embed(model, texts.slice(0, 1), { normalize: false });
    expect(Math.hypot(...own)).not.toBeCloseTo(1, 2);
  });

  it('cuts a text that is too long if it may, and says so in its answer alone', async () => {
    expect(await answer(embedTask, model, ['x '.repeat(200), 'fine'], { truncate: true })).toMatchObject([
      { numTokens: 96, isTruncated: true },
      { isTruncated: false },
    ]);
  });

  it.each([
    [['fine', ''], {}, 'EMPTY_PROMPT', /input\[1\]/],
    [['x '.repeat(200)], {}, 'PROMPT_TOO_LONG', /input\[0\]` has [24]0\d tokens, .* reads 96/],
    ['fine', { dimensions: 97 }, 'INVALID_OPTION', /from 1 to 96/],
    ['fine', { prompt: 'other' }, 'INVALID_OPTION', /query/],
    [[1, 99_999], {}, 'INVALID_OPTION', /input\[1\]/],
    [[], {}, 'INVALID_OPTION', /1 to 10000/],
    [7, {}, 'INVALID_OPTION', /input/],
  ])('refuses %j with %j', async (input, options, code, message) => {
    await expect(answer(embedTask, model, input, options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});

it("reads BERT's vocab.txt as its tokenizer.json, which is missing in old checkpoints", async () => {
  const checkpoint = ENCODERS.get('generated/bert')?.();
  const { texts, embeddings } = reference['generated/bert'];
  const whole = textOf(checkpoint?.get('tokenizer.json'));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the generated file
  const { model } = JSON.parse(whole) as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  };
  const lines = Object.entries(model.vocab)
    .toSorted(([, a], [, b]) => a - b)
    .map(([token]) => token);
  const vocabulary = new TextEncoder().encode(`${lines.join('\n')}\n`);
  const loaded = await loadEncoderInNode('old', (name) => {
    if (name === 'vocab.txt') return vocabulary;
    const file = name === 'tokenizer.json' ? undefined : checkpoint?.get(name);
    return file && file.read(0, file.size);
  });
  const made = await embed(loaded, texts, { truncate: true });
  expect(largestDifference(made, embeddings)).toBeLessThan(PRECISION);
});

describe('a cross-encoder on the CPU', () => {
  const { query, documents, scores } = reference['generated/cross-encoder'];
  let model: LoadedEncoder;

  beforeAll(async () => {
    model = await load('generated/cross-encoder');
  });

  it('ranks documents by the scores of sentence-transformers, best first', async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its answer
    const ranking = (await answer(rerankTask, model, { query, documents })) as Ranking;
    const isTruncated = false;
    const expected = scores.map((score, index) => ({ index, score: expect.closeTo(score, 5), isTruncated }));
    const best = expected.toSorted((a, b) => (scores[b.index] ?? 0) - (scores[a.index] ?? 0));
    expect(ranking.results).toEqual(best);
    const run = await executorOf('generated/cross-encoder');
    expect(await answer(rerankTask, model, { query, documents }, {}, run)).toMatchObject({ results: best });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its answer
    const two = (await answer(rerankTask, model, { query, documents }, { topN: 2 })) as Ranking;
    expect(two.results).toEqual(ranking.results.slice(0, 2));
  });

  it('refuses a pair that is too long, unless it may be cut', async () => {
    const input = { query, documents: ['dog '.repeat(200)] };
    for (const [given, place] of [
      [input, 'documents[0]'],
      [{ query: 'dog '.repeat(200), documents: ['dog'] }, 'query'],
    ] as const)
      await expect(answer(rerankTask, model, given)).rejects.toMatchObject({
        code: 'PROMPT_TOO_LONG',
        message: expect.stringContaining(`\`${place}\` and the text beside it`),
      });
    expect(await answer(rerankTask, model, input, { truncate: true })).toMatchObject({ numTokens: 128 });
  });
});

async function loadEncoderInNode(
  id: string,
  read: (name: string) => Uint8Array | undefined,
  dtype: 'fp32' | 'q8' = 'fp32',
): Promise<LoadedEncoder> {
  const open = (name: string) => {
    const bytes = read(name);
    return Promise.resolve(bytes && memoryFile(name, bytes));
  };
  const { tokenizer, packed } = await packModel({ open }, dtype, CPU);
  if (!packed.model.encoder) throw new TypeError(`${id} generates`);
  const encoder = await loadEncoder(id, packed.model.encoder, tokenizer, packed, CPU);
  return { ...encoder, deviceBytes: packed.packed.size };
}
