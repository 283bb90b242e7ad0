import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { findOnPath } from '../../tools/browser/commands.ts';

export interface CurlAnswer {
  readonly status: number;
  readonly body: string;
}

const run = promisify(execFile);

/** What curl answers to these arguments. A machine without curl is told so: the claim is about curl. */
export async function curl(...args: readonly string[]): Promise<CurlAnswer> {
  const command = findOnPath('curl');
  if (command === undefined)
    throw new Error('There is no curl on this machine: install it (apt-get install curl).');
  const { stdout } = await run(command, [
    '--silent',
    '--show-error',
    '--write-out',
    '\n%{http_code}',
    ...args,
  ]);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}
