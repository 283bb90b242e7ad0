import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { batch } from '../../../src/batching/batch.ts';
import { longestOf, type EncoderRow } from '../../../src/worker/runtime/encoder/encoder-inputs.ts';
import type { LoadedEncoder } from '../../../src/worker/runtime/encoder/loaded-encoder.ts';
import { loadEncoderInNode } from '../../reference/encoder/load-encoder.ts';
import { miniLmFolder } from '../../reference/encoder/minilm.ts';
import reference from '../../reference/fixtures/minilm-reference.json' with { type: 'json' };
import { defineBench } from '../bench.ts';
import { spreadOf } from '../statistics.ts';

/** How rows are batched. */
interface Way {
  readonly name: string;
  /** Padded tokens of a batch; 1 runs each row alone. */
  readonly maxBatchTokens: number;
  readonly sortWindow: number;
}

const WAYS: readonly Way[] = [
  { name: 'one by one', maxBatchTokens: 1, sortWindow: 1 },
  ...[512, 1024, 2048, 4096].flatMap((maxBatchTokens) => [
    { name: 'as they come', maxBatchTokens, sortWindow: 1 },
    { name: 'sorted', maxBatchTokens, sortWindow: 128 },
  ]),
];

const NUM_TEXTS = 1000;
const NUM_ROUNDS = 3;

export const bench = defineBench(
  '  --texts N   number of texts, 1000 by default',
  (args) => parseArgs({ args: [...args], options: { texts: { type: 'string' } } }).values,
  ({ texts }) => measure(Number(texts ?? NUM_TEXTS)),
);

/** Embeds texts of mixed length with all-MiniLM-L6-v2 in Node, on one thread of the CPU. */
async function measure(numTexts: number): Promise<void> {
  const folder = await miniLmFolder();
  const files = new Map<string, Uint8Array>();
  for (const name of [
    'config.json',
    'modules.json',
    '1_Pooling/config.json',
    'sentence_bert_config.json',
    'config_sentence_transformers.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'model.safetensors',
  ])
    files.set(name, await readFile(join(folder, name)));
  const model = await loadEncoderInNode('all-MiniLM-L6-v2', (name) => files.get(name));
  const rows = shuffled(numTexts).map((at): EncoderRow => {
    const text = reference.texts[at % reference.texts.length] ?? '';
    const tokenIds = model.tokenizer.encode(text).slice(0, model.encoder.maxTokens);
    return { tokenIds, numFirst: tokenIds.length };
  });
  console.log('| way | batch tokens | texts/s | padding |\n| --- | ---: | ---: | ---: |');
  for (const way of WAYS) {
    const rounds: { readonly seconds: number; readonly padding: number }[] = [];
    for (let round = 0; round < NUM_ROUNDS; round++) rounds.push(await embedAll(model, rows, way));
    const perSecond = numTexts / spreadOf(rounds.map(({ seconds }) => seconds)).median;
    const padding = 100 * (rounds[0]?.padding ?? 0);
    console.log(
      `| ${way.name} | ${way.maxBatchTokens} | ${perSecond.toFixed(1)} | ${padding.toFixed(0)} % |`,
    );
  }
}

async function embedAll(model: LoadedEncoder, rows: readonly EncoderRow[], way: Way) {
  let [numComputed, numUseful] = [0, 0];
  const call = batch<EncoderRow, Float32Array>(
    async (batchRows) => {
      numComputed += batchRows.length * longestOf(batchRows);
      numUseful += batchRows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
      const { outputs } = await model.backend.run(batchRows);
      return outputs;
    },
    {
      maxBatchSize: way.maxBatchTokens,
      sortWindow: way.sortWindow,
      batchSizeFn: (batchRows) => {
        const size = batchRows.length * longestOf(batchRows);
        return batchRows.length === 1 ? Math.min(size, way.maxBatchTokens) : size;
      },
    },
  );
  const startedAtMs = performance.now();
  await Promise.all(rows.map((row) => call(row)));
  return { seconds: (performance.now() - startedAtMs) / 1000, padding: 1 - numUseful / numComputed };
}

/** Numbers from 0 on in an order that looks random and is always the same. */
function shuffled(length: number): readonly number[] {
  const keyed = Array.from({ length }, (_, at) => ({
    at,
    key: (Math.imul(at + 1, 0x9e3779b1) >>> 0) % 65_537,
  }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ at }) => at);
}
