import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface RunOptions {
  readonly timeoutMs: number;
  /** Keeps what the command says to itself. */
  readonly isQuiet?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly isSuccess: boolean;
  /** Standard output; empty unless `isQuiet`. */
  readonly output: string;
}

/** Runs a command to its end; a failure of any kind, a missing command included, is an outcome. */
export function runCommand(command: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { timeoutMs, isQuiet = false, env = {} } = options;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const child = spawn(command, args, {
    stdio: isQuiet ? ['ignore', 'pipe', 'ignore'] : ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    timeout: timeoutMs,
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.on('error', () => resolve({ isSuccess: false, output }));
  child.on('close', (code) => resolve({ isSuccess: code === 0, output }));
  return promise;
}

export function findOnPath(command: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}

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
