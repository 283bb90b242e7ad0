import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

import type { Dtype } from '../../../src/protocol/models.ts';
import type { RandomAccessFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { packInMemory } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import { asInt8 } from '../../../src/worker/models/checkpoint/int8-weights.ts';
import { planModel } from '../../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../../src/worker/models/checkpoint/open-checkpoint.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../../src/worker/runtime/ort/wasm-build.ts';
import { WasmBackend } from '../../../src/worker/runtime/wasm/wasm-backend.ts';
import { smollm2File } from './smollm2.ts';

/** What each precision loses on SmolLM2-135M-Instruct is printed. See README.md. */
const reference: {
  readonly textTokenIds: readonly number[];
  readonly chats: readonly {
    readonly promptTokenIds: readonly number[];
    readonly tokenIds: readonly number[];
  }[];
} = JSON.parse(readFileSync(new URL('../fixtures/gguf-smollm2-reference.json', import.meta.url), 'utf8'));

const CAPACITY = 256;

setBuilds({ wasm: WASM_BUILD });
const path = await smollm2File();
const handle = await open(path);
const file: RandomAccessFile = {
  name: basename(path),
  size: (await handle.stat()).size,
  async read(begin, end) {
    const bytes = new Uint8Array(end - begin);
    await handle.read(bytes, 0, bytes.byteLength, begin);
    return bytes;
  },
};
const files = await ggufFiles({ open: () => Promise.resolve(file) }, file.name);
const checkpoint = await openCheckpoint(files);
const chats = reference.chats.map(({ promptTokenIds, tokenIds }) => [...promptTokenIds, ...tokenIds]);
const exact = await measure('fp32', false);
const cases = (['q8', 'q4'] as const).flatMap((dtype) =>
  [false, true].map((isInt8) => [dtype, isInt8] as const),
);
console.log(`fp32: text ${exact.text.toFixed(4)}, chats ${exact.chats.toFixed(4)}`);
for (const [dtype, isInt8] of cases) {
  const found = await measure(dtype, isInt8);
  const [text, more] = [found.text - exact.text, found.chats - exact.chats];
  console.log(
    `${dtype} on ${isInt8 ? 'WASM' : 'WebGPU'}: text ${text.toFixed(4)}, chats ${more.toFixed(4)} more`,
  );
}

/** Negative log likelihoods of a token. The CPU's kernel for blocks computes in fp32 what WebGPU computes. */
async function measure(
  dtype: Dtype,
  isInt8: boolean,
): Promise<{ readonly text: number; readonly chats: number }> {
  const stored = await packInMemory(
    checkpoint,
    planModel(checkpoint, dtype, { kind: 'wasm', memoryBytes: undefined }),
  );
  const config = { ...checkpoint.model.config, contextLength: CAPACITY };
  const packed = isInt8 ? asInt8(stored) : stored;
  const backend = await WasmBackend.create({
    model: { ...checkpoint.model, config },
    ...packed,
    numThreads: 1,
  });
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity: CAPACITY });
  const text = await scoreOf(backend, [reference.textTokenIds]);
  const ofChats = await scoreOf(backend, chats);
  await backend.release();
  return { text, chats: ofChats };
}

async function scoreOf(backend: WasmBackend, texts: readonly (readonly number[])[]): Promise<number> {
  let [sum, count] = [0, 0];
  for (const ids of texts) {
    const numScored = ids.length - 1;
    await backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: ids.length,
      ids: Int32Array.from(ids),
      positions: Int32Array.from(ids.keys()),
      lastIndices: Int32Array.of(numScored),
      scoredTokens: Int32Array.from({ length: numScored }, (_, i) => i),
    });
    const logits = await backend.readLogits();
    const { vocabSize } = checkpoint.model.config;
    // The first row belongs to the last token, which has no successor.
    for (let i = 0; i < numScored; i++)
      sum -= logprobOf(logits.subarray((1 + i) * vocabSize, (2 + i) * vocabSize), ids[i + 1] ?? 0);
    count += numScored;
  }
  return sum / count;
}

function logprobOf(logits: Float32Array, id: number): number {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
  return (logits[id] ?? NaN) - largest - Math.log(total);
}
