import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { pathOf } from '../../paths.ts';
import { CACHE_FOLDER, runPython } from '../../reference/python-package.ts';

const SCRIPT = pathOf('tools/bench/exports/export.py');
const ENVIRONMENTS = pathOf('tools/test-python/environments.py');
const REQUIREMENTS = pathOf('tools/test-python/requirements/exporters.txt');

/**
 * A model in the formats of the other libraries, made once and kept in the user's cache folder: `export.py` says what the folder
 * holds. The first one installs PyTorch, which takes 5 GB of disk and some minutes.
 *
 * @param source Path of the model.
 * @returns The folder's path.
 */
export async function exportsOf(name: string, source: string): Promise<string> {
  const folder = join(CACHE_FOLDER, 'exports', `${name}-${digestOf(SCRIPT, REQUIREMENTS)}`);
  if (existsSync(folder)) return folder;
  const scratch = `${folder}.new`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  console.log(`Exporting ${name} for the other libraries. It takes some minutes, once.`);
  await runPython('python3', ['-B', ENVIRONMENTS, 'exporters', SCRIPT, source, scratch]);
  await rename(scratch, folder);
  return folder;
}

function digestOf(...paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 8);
}
