import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { findOnPath } from '../../tools/browser/commands.ts';

export interface CurlRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: string;
}

export interface CurlAnswer {
  readonly status: number;
  readonly body: string;
}

const run = promisify(execFile);

/** What curl is answered. A bare machine may have none: then Node asks in its place, and says so. */
export async function curl(
  url: string,
  { method, headers = {}, data }: CurlRequest = {},
): Promise<CurlAnswer> {
  const command = findOnPath('curl');
  if (command === undefined) {
    console.log('    There is no curl on this machine: Node asks in its place.');
    const init = { method: method ?? (data === undefined ? 'GET' : 'POST'), headers };
    const response = await fetch(url, data === undefined ? init : { ...init, body: data });
    return { status: response.status, body: await response.text() };
  }
  const { stdout } = await run(command, [
    '--silent',
    '--show-error',
    '--write-out',
    '\n%{http_code}',
    ...(method ? ['--request', method] : []),
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(data === undefined ? [] : ['--data', data]),
    url,
  ]);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}
