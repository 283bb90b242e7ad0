import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { withBrowser } from '../bench/with-browser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PLAYWRIGHT = ['test', '-c', 'e2e', 'batching.spec.ts', '--workers', '1'];

/** What WebGPU calls the adapter; undefined where the browser has none. */
function findAdapter(): Promise<string | undefined> {
  return withBrowser({ root: `${ROOT}dist`, args: WEBGPU_ARGUMENTS }, async ({ browser, url }) => {
    const page = await browser.newPage();
    await page.goto(url);
    return page.evaluate(async () => {
      const adapter = await navigator.gpu?.requestAdapter();
      return adapter ? `${adapter.info.vendor} ${adapter.info.architecture}` : undefined;
    });
  });
}

const adapter = await findAdapter();
console.log(
  adapter === undefined
    ? 'No WebGPU adapter: the batching tests run on WASM.'
    : `WebGPU adapter ${adapter}: the batching tests run on WASM, and those that depend on the backend on WebGPU too.`,
);
const projects = adapter === undefined ? ['wasm'] : ['webgpu', 'wasm'];
const args = [...PLAYWRIGHT, ...projects.flatMap((name) => ['--project', name]), ...process.argv.slice(2)];
const tests = spawn('playwright', args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
tests.on('exit', (code) => (process.exitCode = code ?? 1));
