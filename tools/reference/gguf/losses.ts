import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

import { CpuBackend } from '../../../src/worker/cpu/cpu-backend.ts';
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { ggufFiles } from '../../../src/worker/models/gguf/gguf-files.ts';
import reference from '../fixtures/gguf-smollm2-reference.json' with { type: 'json' };
import { CPU, logitsOf, packModel } from '../run-model.ts';
import { smollm2File } from './smollm2.ts';

// Prints what each precision loses on SmolLM2-135M-Instruct: see README.md.

const CAPACITY = 256;

const path = await smollm2File();
const file = memoryFile(basename(path), await readFile(path));
const folder = await ggufFiles({ open: () => Promise.resolve(file) }, file.name);
const chats = reference.chats.map(({ promptTokenIds, tokenIds }) => [...promptTokenIds, ...tokenIds]);
const exact = await lossesIn('fp32');
console.log(`fp32: text ${exact.text.toFixed(4)}, chats ${exact.chats.toFixed(4)}`);
for (const dtype of ['q8', 'q4'] as const) {
  const found = await lossesIn(dtype);
  const [text, more] = [found.text - exact.text, found.chats - exact.chats].map((loss) => loss.toFixed(4));
  console.log(`${dtype}: text ${text}, chats ${more} more`);
}

async function lossesIn(dtype: 'fp32' | 'q8' | 'q4') {
  const { packed } = await packModel(folder, dtype, CPU);
  const { model } = packed;
  const backend = await CpuBackend.create({
    ...packed,
    model: { ...model, config: { ...model.config, contextLength: CAPACITY } },
  });
  const text = await lossOf(backend, [reference.textTokenIds]);
  const ofChats = await lossOf(backend, chats);
  await backend.release();
  return { text, chats: ofChats };
}

async function lossOf(backend: CpuBackend, texts: readonly (readonly number[])[]): Promise<number> {
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
