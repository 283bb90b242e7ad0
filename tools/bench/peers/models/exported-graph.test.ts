import { InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { beforeAll, describe, expect, it } from 'vitest';

import reference from '../../../reference/fixtures/storyteller-reference.json' with { type: 'json' };
import { readCheckpoint, STORYTELLER } from './checkpoint.ts';
import { buildExportedModel, EXPORTED_IO } from './exported-graph.ts';

const checkpoint = await readCheckpoint(STORYTELLER);
const { numLayers, numHeads, headSize, vocabSize } = checkpoint.config;

describe('buildExportedModel', () => {
  let session: InferenceSession;

  beforeAll(async () => {
    session = await InferenceSession.create(buildExportedModel(checkpoint), { executionProviders: ['wasm'] });
  });

  it('names its inputs as the standard export does, and the dimensions as transformers.js reads them', () => {
    const layers = Array.from({ length: numLayers }, (_, layer) => layer);
    const cache = layers.flatMap((layer) => [
      `past_key_values.${layer}.key`,
      `past_key_values.${layer}.value`,
    ]);
    expect(session.inputNames).toEqual(['input_ids', 'attention_mask', 'position_ids', ...cache]);
    expect(session.outputNames).toEqual([
      'logits',
      ...cache.map((name) => name.replace('past_key_values', 'present')),
    ]);
    const shapes = session.inputMetadata.map((input) => ('shape' in input ? input.shape : undefined));
    expect(shapes.slice(0, 3)).toEqual([
      ['batch_size', 'sequence_length'],
      ['batch_size', 'past_sequence_length + sequence_length'],
      ['batch_size', 'sequence_length'],
    ]);
    expect(shapes.slice(3)).toEqual(
      cache.map(() => ['batch_size', numHeads, 'past_sequence_length', headSize]),
    );
  });

  it.each([...reference.prompts, reference.longPrompt])(
    "gives PyTorch's logits for “$prompt”",
    async ({ promptTokenIds, top20 }) => {
      const { logits } = await run([promptTokenIds]);
      expect(largestDifference(logits[0], top20)).toBeLessThan(1e-3);
    },
  );

  it("gives PyTorch's logits for all prompts at once, padded on the left", async () => {
    const { logits } = await run(reference.prompts.map(({ promptTokenIds }) => promptTokenIds));
    const differences = reference.prompts.map(({ top20 }, row) => largestDifference(logits[row], top20));
    expect(Math.max(...differences)).toBeLessThan(1e-3);
  });

  it("continues padded rows over their cache with PyTorch's greedy tokens", async () => {
    const rows = reference.prompts.map(({ promptTokenIds }) => [...promptTokenIds]);
    let { logits, cache } = await run(rows);
    for (let step = 1; step <= 32; step++) {
      for (const [row, ids] of rows.entries()) ids.push(argmax(logits[row]));
      ({ logits, cache } = await run(rows, cache));
    }
    expect(rows.map((ids) => ids.slice(-32))).toEqual(reference.prompts.map((entry) => entry.greedyTokenIds));
  });

  /** Feeds the tokens that are not in the cache yet. Returns the logits after each row's last token. */
  async function run(rows: readonly (readonly number[])[], cache?: Cache) {
    const total = Math.max(...rows.map(({ length }) => length));
    const past = cache ? total - 1 : 0;
    const padded = rows.map((ids) => Array.from({ length: total }, (_, i) => i - (total - ids.length)));
    const integers = (valueOf: (position: number, row: number) => number, from: number): Tensor => {
      const values = padded.flatMap((positions, row) =>
        positions.slice(from).map((position) => BigInt(valueOf(position, row))),
      );
      return new Tensor('int64', BigInt64Array.from(values), [rows.length, total - from]);
    };
    const outputs = await session.run({
      [EXPORTED_IO.ids]: integers((position, row) => rows[row]?.[position] ?? 0, past),
      [EXPORTED_IO.mask]: integers((position) => (position < 0 ? 0 : 1), 0),
      [EXPORTED_IO.positions]: integers((position) => Math.max(position, 0), past),
      ...(cache ?? emptyCache(rows.length)),
    });
    const data = outputs[EXPORTED_IO.logits]?.data;
    if (!(data instanceof Float32Array)) throw new TypeError('Expected float32 logits');
    const numNew = total - past;
    return {
      logits: rows.map((_, row) => {
        const end = (row + 1) * numNew * vocabSize;
        return data.subarray(end - vocabSize, end);
      }),
      cache: renamed(outputs),
    };
  }
});

type Cache = Readonly<Record<string, Tensor>>;

function emptyCache(numRows: number): Cache {
  const empty = (): Tensor => new Tensor('float32', new Float32Array(0), [numRows, numHeads, 0, headSize]);
  const names = Array.from({ length: numLayers }, (_, layer) => [
    EXPORTED_IO.pastKey(layer),
    EXPORTED_IO.pastValue(layer),
  ]);
  return Object.fromEntries(names.flat().map((name) => [name, empty()]));
}

/** Feeds the `present` outputs of a run as the `past` inputs of the next. */
function renamed(outputs: Readonly<Record<string, Tensor>>): Cache {
  const entries = Object.entries(outputs).filter(([name]) => name.startsWith('present'));
  return Object.fromEntries(
    entries.map(([name, tensor]) => [name.replace('present', 'past_key_values'), tensor]),
  );
}

interface Top20 {
  readonly ids: readonly number[];
  readonly logits: readonly number[];
}

/** Relative to the largest of the reference's logits. */
function largestDifference(logits: Float32Array | undefined, expected: Top20): number {
  const differences = expected.ids.map((id, i) =>
    Math.abs((logits?.[id] ?? NaN) - (expected.logits[i] ?? NaN)),
  );
  return Math.max(...differences) / Math.max(...expected.logits.map(Math.abs));
}

function argmax(logits: Float32Array | undefined): number {
  return logits?.indexOf(Math.max(...logits)) ?? NaN;
}
