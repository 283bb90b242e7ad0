import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ggufCheckpoint } from '../../hub-server/checkpoints/gguf-checkpoint.ts';
import { miniLmFolder } from '../../reference/encoder/minilm.ts';
import { smollm2File } from '../../reference/gguf/smollm2.ts';
import { exportsOf } from '../exports/exports-of.ts';
import { LIBRARIES_ROOT } from './build-libraries.ts';

const STORYTELLER = new URL('../../../public/models/storyteller/', import.meta.url);

/** Below `models/` of the libraries' page. The app's own models lie beside it. */
const FOLDER = join(LIBRARIES_ROOT, 'models', 'bench');

/** Each model in all libraries' formats. Each function writes `bench/NAME/`. */
export const MODEL_WRITERS = {
  async storyteller(): Promise<void> {
    await writeStorytellerGguf();
    await copyExports('storyteller', fileURLToPath(STORYTELLER));
  },
  async smollm2(): Promise<void> {
    const source = await smollm2File();
    await copyExports('smollm2', source);
    await copyFile(source, join(FOLDER, 'smollm2', 'model.Q4_1.gguf'));
  },
  /** As its hub has it, with the exports for transformers.js beside it. */
  async minilm(): Promise<void> {
    const source = await miniLmFolder();
    await cp(source, join(FOLDER, 'minilm'), { recursive: true });
    await copyExports('minilm', source);
  },
};

/** The GGUF file alone, which needs no Python. */
export async function writeStorytellerGguf(): Promise<void> {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const files = await Promise.all(
    names.map(async (name) => [name, new Uint8Array(await readFile(new URL(name, STORYTELLER)))] as const),
  );
  await mkdir(join(FOLDER, 'storyteller'), { recursive: true });
  await writeFile(join(FOLDER, 'storyteller', 'model.F32.gguf'), await ggufCheckpoint(new Map(files)));
}

async function copyExports(name: string, source: string): Promise<void> {
  await cp(await exportsOf(name, source), join(FOLDER, name), { recursive: true });
}
