import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { smollm2File } from '../../../reference/gguf/smollm2.ts';
import { CACHE_FOLDER, runPython } from '../../../reference/python-package.ts';

const FOLDER = join(CACHE_FOLDER, 'smollm2-exports');

/**
 * SmolLM2-135M-Instruct in the formats of the other libraries, made once and kept in the user's cache folder: `smollm2/export.py`
 * says what the folder holds. It takes PyTorch, 5 GB of disk and some minutes.
 */
export async function smollm2Exports(): Promise<string> {
  if (existsSync(FOLDER)) return FOLDER;
  const scratch = `${FOLDER}.new`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(join(scratch, 'files'), { recursive: true });
  console.log('Exporting SmolLM2 for the other libraries. It takes some minutes, once.');
  await runPython('python3', ['-m', 'venv', join(scratch, 'venv')]);
  const python = join(scratch, 'venv', 'bin', 'python');
  await runPython(python, ['-m', 'pip', 'install', '--quiet', '--requirement', pathOf('requirements.txt')]);
  await runPython(python, [pathOf('export.py'), await smollm2File(), join(scratch, 'files')]);
  await rename(join(scratch, 'files'), FOLDER);
  await rm(scratch, { recursive: true });
  return FOLDER;
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`smollm2/${name}`, import.meta.url));
}
