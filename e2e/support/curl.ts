import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { findProgram } from './find-program.ts';

interface CurlRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, unless the headers name another type. */
  readonly data?: string;
  readonly form?: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

export async function curl(
  url: string,
  { method, headers = {}, data, form = {} }: CurlRequest = {},
): Promise<{ readonly status: number; readonly body: string }> {
  const { stdout } = await run(await findProgram('curl'), [
    '--silent',
    '--show-error',
    '--write-out',
    '\n%{http_code}',
    ...(method ? ['--request', method] : []),
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(data === undefined ? [] : ['--data', data]),
    ...Object.entries(form).flatMap(([name, value]) => ['--form', `${name}=${value}`]),
    url,
  ]);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}
