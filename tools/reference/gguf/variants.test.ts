import { beforeAll, expect, it } from 'vitest';

import { memoryFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { packInMemory } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../../src/worker/runtime/ort/wasm-build.ts';
import { WasmBackend } from '../../../src/worker/runtime/wasm/wasm-backend.ts';
import reference from '../fixtures/gguf-variants-reference.json' with { type: 'json' };
import { ggufVariantFiles } from './variants.ts';

const CAPACITY = 128;

let files: ReadonlyMap<string, Uint8Array> = new Map();

beforeAll(async () => {
  setBuilds({ wasm: WASM_BUILD });
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
  const checkpoint = await openCheckpoint(source);
  const plan = planModel(checkpoint, 'fp32', { kind: 'wasm', memoryBytes: undefined });
  const packed = await packInMemory(checkpoint, plan);
  const backend = await WasmBackend.create({ model: checkpoint.model, ...packed, numThreads: 1 });
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity: CAPACITY });
  const scored = Array.from({ length: ids.length - numGiven }, (_, i) => numGiven - 1 + i);
  await backend.forward({
    target: 'staging',
    numRows: 1,
    tokensPerRow: ids.length,
    ids: Int32Array.from(ids),
    positions: Int32Array.from(ids.keys()),
    lastIndices: Int32Array.of(ids.length - 1),
    scoredTokens: Int32Array.from(scored),
  });
  const logits = await backend.readLogits();
  await backend.release();
  const { vocabSize } = checkpoint.model.config;
  // The first row belongs to the last token.
  return scored.map((_, i) => indexOfLargest(logits.subarray((1 + i) * vocabSize, (2 + i) * vocabSize)));
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
