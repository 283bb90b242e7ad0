import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ggufCheckpoint } from '../../../hub-server/checkpoints/gguf-checkpoint.ts';
import { miniLmFolder } from '../../../reference/encoder/minilm.ts';
import { smollm2File } from '../../../reference/gguf/smollm2.ts';
import { readCheckpoint, STORYTELLER } from './checkpoint.ts';
import { buildExportedModel } from './exported-graph.ts';
import { pythonExports } from './python-exports.ts';

/** Files that transformers.js reads as they are. */
const COPIED = ['config.json', 'generation_config.json', 'tokenizer.json'];

/** Writes Storyteller once more in the formats of the other libraries, into the `models` folder of the built page. */
export async function writePeerModels(modelsFolder: string): Promise<void> {
  const checkpoint = await readCheckpoint(STORYTELLER);
  const onnxFolder = join(modelsFolder, 'storyteller-onnx');
  await mkdir(join(onnxFolder, 'onnx'), { recursive: true });
  await writeFile(join(onnxFolder, 'onnx', 'model.onnx'), buildExportedModel(checkpoint));
  await writeFile(join(onnxFolder, 'tokenizer_config.json'), await tokenizerConfigWithPadding());
  for (const name of COPIED) await copyFile(new URL(name, STORYTELLER), join(onnxFolder, name));
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const files = await Promise.all(
    names.map(async (name) => [name, new Uint8Array(await readFile(new URL(name, STORYTELLER)))] as const),
  );
  await writeFile(join(modelsFolder, 'storyteller.gguf'), await ggufCheckpoint(new Map(files)));
}

/** Copies SmolLM2 in every library's format to `smollm2/`. */
export async function writeSmollm2(modelsFolder: string): Promise<void> {
  const folder = join(modelsFolder, 'smollm2');
  const source = await smollm2File();
  await cp(await pythonExports('smollm2', source), folder, { recursive: true });
  await copyFile(source, join(folder, 'model.Q4_1.gguf'));
}

/** Writes all-MiniLM-L6-v2 as its hub has it, with the exports for transformers.js beside it, to `minilm/`. */
export async function writeMiniLm(modelsFolder: string): Promise<void> {
  const source = await miniLmFolder();
  const folder = join(modelsFolder, 'minilm');
  await cp(source, folder, { recursive: true });
  await cp(await pythonExports('minilm', source), folder, { recursive: true });
}

/** GPT-2 has no token for padding, and a list of prompts needs one: its end token, as is customary. */
async function tokenizerConfigWithPadding(): Promise<string> {
  const text = await readFile(fileURLToPath(new URL('tokenizer_config.json', STORYTELLER)), 'utf8');
  const config: { readonly eos_token: string } = JSON.parse(text);
  return JSON.stringify({ ...config, pad_token: config.eos_token });
}
