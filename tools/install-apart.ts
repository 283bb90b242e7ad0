import { fileURLToPath } from 'node:url';

import { runCommand } from '../bridge/browser/commands.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Installs the packages of a folder that has a `package.json` of its own, as they are locked. npm leaves what is there already.
 *
 * @param folder Ends with a slash.
 * @param what For messages, as in "the peers".
 */
export async function installApart(folder: URL, what: string): Promise<void> {
  const path = fileURLToPath(folder);
  console.log(`Installing ${what} in ${path}.`);
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', path];
  const { isSuccess } = await runCommand('npm', ['install', ...options], { timeoutMs: INSTALL_TIMEOUT_MS });
  if (!isSuccess) throw new Error(`Couldn't install ${what}: check the network, then run this again.`);
}
