import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CACHE_FOLDER, runPython } from '../../../reference/python-package.ts';

/**
 * A model in the formats of the other libraries, made once and kept in the user's cache folder: `NAME/export.py` says what the
 * folder holds. It takes PyTorch, 5 GB of disk and some minutes.
 *
 * @param source Path of the model.
 * @returns The folder's path.
 */
export async function pythonExports(name: 'smollm2' | 'minilm', source: string): Promise<string> {
  const folder = join(CACHE_FOLDER, `${name}-exports`);
  if (existsSync(folder)) return folder;
  const scratch = `${folder}.new`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(join(scratch, 'files'), { recursive: true });
  console.log(`Exporting ${name} for the other libraries. It takes some minutes, once.`);
  await runPython('python3', ['-m', 'venv', join(scratch, 'venv')]);
  const python = join(scratch, 'venv', 'bin', 'python');
  const pathOf = (file: string): string => fileURLToPath(new URL(`${name}/${file}`, import.meta.url));
  await runPython(python, ['-m', 'pip', 'install', '--quiet', '--requirement', pathOf('requirements.txt')]);
  await runPython(python, [pathOf('export.py'), source, join(scratch, 'files')]);
  await rename(join(scratch, 'files'), folder);
  await rm(scratch, { recursive: true });
  return folder;
}
