import { findOnPath, runCommand } from './commands.ts';

/** An installation that has not ended by then is given up. */
export const INSTALL_TIMEOUT_MS = 300_000;

/** Installs packages of a Debian-like distribution, and says so. Resolves with whether that was possible. */
export async function installPackages(...names: readonly string[]): Promise<boolean> {
  if (!findOnPath('apt-get')) return false;
  console.log(`Installing ${names.join(', ')} of the distribution with apt-get.`);
  const install = `apt-get update && apt-get install -y --no-install-recommends ${names.join(' ')}`;
  const isRoot = process.getuid?.() === 0;
  const options = { timeoutMs: INSTALL_TIMEOUT_MS, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  const { isSuccess } = await (isRoot
    ? runCommand('sh', ['-c', install], options)
    : runCommand('sudo', ['--non-interactive', 'sh', '-c', install], options));
  return isSuccess;
}
