import { open } from 'node:fs/promises';
import { basename } from 'node:path';

import type { RandomAccessFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { asInt8 } from '../../../src/worker/models/checkpoint/int8-weights.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import { loadOrt, setBuilds } from '../../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../../src/worker/runtime/ort/wasm-build.ts';
import { WasmBackend } from '../../../src/worker/runtime/wasm/wasm-backend.ts';
import reference from '../fixtures/gguf-smollm2-reference.json' with { type: 'json' };
import { CPU, logitsOf, packModel } from '../run-model.ts';
import { smollm2File } from './smollm2.ts';

// Prints what each precision loses on SmolLM2-135M-Instruct: see README.md.

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
const folder = await ggufFiles({ open: () => Promise.resolve(file) }, file.name);
const chats = reference.chats.map(({ promptTokenIds, tokenIds }) => [...promptTokenIds, ...tokenIds]);
const exact = await lossesIn('fp32', false);
console.log(`fp32: text ${exact.text.toFixed(4)}, chats ${exact.chats.toFixed(4)}`);
for (const dtype of ['q8', 'q4'] as const)
  for (const isInt8 of [false, true]) {
    const found = await lossesIn(dtype, isInt8);
    const [text, more] = [found.text - exact.text, found.chats - exact.chats].map((loss) => loss.toFixed(4));
    console.log(`${dtype} on ${isInt8 ? 'WASM' : 'WebGPU'}: text ${text}, chats ${more} more`);
  }

/** Negative log-likelihoods of a token. The CPU's kernel for blocks computes in fp32 what WebGPU computes. */
async function lossesIn(dtype: 'fp32' | 'q8' | 'q4', isInt8: boolean) {
  const { packed } = await packModel(folder, dtype, CPU);
  const { model } = packed;
  const backend = await WasmBackend.create(await loadOrt('wasm'), {
    ...packed,
    ...(isInt8 && asInt8(packed)),
    model: { ...model, config: { ...model.config, contextLength: CAPACITY } },
  });
  const text = await lossOf(backend, [reference.textTokenIds]);
  const ofChats = await lossOf(backend, chats);
  await backend.release();
  return { text, chats: ofChats };
}

async function lossOf(backend: WasmBackend, texts: readonly (readonly number[])[]): Promise<number> {
  const logits = await logitsOf(backend, CAPACITY, texts, 1);
  const losses = texts.flatMap((ids, i) =>
    ids.slice(1).map((id, at) => -logprobOf(logits[i]?.[at] ?? new Float32Array(), id)),
  );
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}

function logprobOf(logits: Float32Array, id: number): number {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
  return (logits[id] ?? NaN) - largest - Math.log(total);
}
