import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { runCommand } from '../bridge/browser/commands.ts';

interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs the packages of a folder that has a `package.json` of its own, unless the locked versions are there.
 *
 * @param folder Ends with a slash.
 * @param what For messages, as in "the peers".
 */
export async function installApart(folder: URL, what: string): Promise<void> {
  const locked = readLockfile(folder, 'package-lock.json');
  if (isInstalled(locked, readLockfile(folder, 'node_modules/.package-lock.json'))) return;
  const path = fileURLToPath(folder);
  console.log(`Installing ${what} in ${path}.`);
  const { isSuccess } = await runCommand('npm', ['ci', '--ignore-scripts', '--prefix', path], {
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (!isSuccess) throw new Error(`Couldn't install ${what}: check the network, then run this again.`);
}

/** Whether npm's record of a `node_modules` folder has every locked package in its version. Optional ones may be for another platform. */
export function isInstalled(locked: Lockfile, installed: Lockfile): boolean {
  return Object.entries(locked.packages).every(
    ([path, { version, optional }]) =>
      path === '' ||
      (optional && !(path in installed.packages)) ||
      installed.packages[path]?.version === version,
  );
}

function readLockfile(folder: URL, path: string): Lockfile {
  const file = new URL(path, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { packages: {} };
}
