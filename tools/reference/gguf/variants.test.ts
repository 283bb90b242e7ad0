import { beforeAll, expect, it } from 'vitest';

import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import { createBackend } from '../../../src/worker/runtime/devices/create-backend.ts';
import reference from '../fixtures/gguf-variants-reference.json' with { type: 'json' };
import { CPU, logitsOf, packModel } from '../run-model.ts';
import { ggufVariantFiles } from './variants.ts';

const CAPACITY = 128;

let files: ReadonlyMap<string, Uint8Array> = new Map();

beforeAll(async () => {
  files = await ggufVariantFiles();
});

/** The likeliest token after each of the tokens from the last given one on, but for the last of all. */
async function likeliestTokens(
  bytes: Uint8Array,
  ids: readonly number[],
  numGiven: number,
): Promise<readonly number[]> {
  const file = memoryFile('model.gguf', bytes);
  const source = await ggufFiles({ open: () => Promise.resolve(file) }, 'model.gguf');
  const { packed } = await packModel(source, 'fp32', CPU);
  const { backend } = await createBackend(packed, CPU);
  const [logits = []] = await logitsOf(backend, CAPACITY, [ids], numGiven);
  await backend.release();
  return logits.slice(0, -1).map(indexOfLargest);
}

function indexOfLargest(values: Float32Array): number {
  return values.reduce((best, value, i) => (value > (values[best] ?? 0) ? i : best), 0);
}

it.each(Object.entries(reference.greedyTokenIds))(
  'a GGUF file whose keys are %s gives the tokens that llama.cpp gives',
  async (name, expected) => {
    const bytes = files.get(`${name}.gguf`);
    if (!bytes) throw new Error(`There is no ${name}`);
    const { promptTokenIds } = reference;
    const ids = [...promptTokenIds, ...expected];
    expect(await likeliestTokens(bytes, ids, promptTokenIds.length)).toEqual(expected);
  },
);
