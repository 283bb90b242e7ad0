import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { findOnPath } from '../../bridge/browser/commands.ts';

export interface CurlRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, unless the headers name another type. */
  readonly data?: string;
  /** The fields of a multipart form. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface CurlAnswer {
  readonly status: number;
  readonly body: string;
}

const run = promisify(execFile);

/** Returns the response to curl. On a machine without curl, Node sends the request and says so. */
export async function curl(
  url: string,
  { method, headers = {}, data, form }: CurlRequest = {},
): Promise<CurlAnswer> {
  const command = findOnPath('curl');
  if (command === undefined) {
    console.log('    There is no curl on this machine: Node asks in its place.');
    const body = data === undefined ? toFormData(form) : data;
    const response = await fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers:
        data === undefined
          ? headers
          : { 'content-type': 'application/x-www-form-urlencoded', ...withLowerCase(headers) },
      ...(body !== undefined && { body }),
    });
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
    ...Object.entries(form ?? {}).flatMap(([name, value]) => ['--form', `${name}=${value}`]),
    url,
  ]);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}

function toFormData(fields: CurlRequest['form']): FormData | undefined {
  if (!fields) return undefined;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

function withLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
