import { rmSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { codeOf } from '../base/errors.ts';
import { batchesInUse } from '../http/http-errors.ts';

const NAME = 'server.pid';

/**
 * Creates the folder and keeps other servers out of it. The lock of a process that has ended, or was killed, counts for nothing.
 *
 * @returns Gives the folder back.
 * @throws HttpError 503 if another process has it.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const path = join(folder, NAME);
  await mkdir(folder, { recursive: true });
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') {
        // A full disk leaves an empty file.
        rmSync(path, { force: true });
        throw error;
      }
    }
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (isRunning(owner)) throw batchesInUse(folder, owner);
    rmSync(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  // A container gives its processes the same ids after each start.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
