import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright/test';
import { build, type Plugin } from 'vite';

import { codeBlocksFor } from '../../tools/documents/code-blocks.ts';
import type { Statement } from '../../tools/documents/statements.ts';
import { findProgram } from './find-program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the page with the files of the documents in place of the checkout's. Resolves with a folder to remove. */
export async function buildPageOfDocuments(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tabserve-documents-'));
  const files = new Map(codeBlocksFor('checkout').map(({ argument, code }) => [join(ROOT, argument), code]));
  const overlay: Plugin = {
    name: 'files-of-documents',
    enforce: 'pre',
    resolveId(source, importer) {
      const path = importer === undefined ? source : resolve(dirname(importer), source);
      return files.has(path) ? path : undefined;
    },
    load: (id) => files.get(id),
  };
  await build({
    root: ROOT,
    logLevel: 'error',
    plugins: [overlay],
    worker: { plugins: () => [overlay] },
    build: { outDir: folder, minify: false },
  });
  return folder;
}

/** Runs a statement as the browser's console does: `await` is allowed, and a name can be declared again. */
export async function runInConsole(
  page: Page,
  { source, declares, expected, fields }: Statement,
): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string, returnByValue: boolean): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      replMode: true,
      awaitPromise: true,
      userGesture: true,
      returnByValue,
    });
    if (exceptionDetails)
      throw new Error(`${expression}\n${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  const isClaim = expected !== undefined || fields !== undefined;
  const value = await evaluate(source, isClaim);
  const result = declares === undefined || !isClaim ? value : await evaluate(declares, true);
  await session.detach();
  return result;
}

const run = promisify(execFile);

/** Runs a line of curl as a document has it, but for the address. It fails with the answer if the status is an error. */
export async function runCurl(line: string, url: string): Promise<string> {
  await findProgram('curl');
  const home = await mkdtemp(join(tmpdir(), 'tabserve-curl-'));
  await writeFile(join(home, '.curlrc'), 'silent\nshow-error\nfail-with-body\n');
  const { stdout } = await run('sh', ['-c', line.replaceAll('http://localhost:8000', url)], {
    env: { ...process.env, CURL_HOME: home },
  });
  await rm(home, { recursive: true });
  return stdout;
}
