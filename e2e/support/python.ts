import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { findOnPath, installPackages } from '../../bridge/browser/commands.ts';

/** Finds Python 3, or installs the distribution's. */
async function findPython(): Promise<string> {
  const found =
    findOnPath('python3') ?? ((await installPackages('python3')) ? findOnPath('python3') : undefined);
  if (found !== undefined) return found;
  throw new Error(
    'Python 3 was not found and could not be installed: install it (on Debian: apt-get install python3).',
  );
}

/** Runs a Python script of this folder, which needs nothing but the standard library. Resolves with what it prints. */
export async function runPython(script: string, args: readonly string[], input: string): Promise<string> {
  const path = new URL(script, import.meta.url).pathname;
  const child = spawn(await findPython(), [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (status === 0) return output;
  throw new Error(`${script} has ended with status ${String(status)}: see its error above.`);
}
