import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, failureOf, statusOf, test, type AppWindow } from '../app-page.ts';
import { servePlainPage } from '../tools.ts';

const JAVASCRIPT = 'text/javascript';

test.describe('a worker’s script that', () => {
  const script = '**/my-worker.js';

  test('is missing is named, once it has been tried for a while', async ({ place, serveApp, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(script, (route) => route.fulfill({ status: 404 }));
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(url);
    await page.waitForFunction(() => 'serve' in window);
    const failure = failureOf(page);
    // The tries, each twice as late as the one before.
    await expect
      .poll(async () => {
        await page.clock.runFor(10_000);
        return (await statusOf(page)).state;
      })
      .toBe('failed');
    expect(await failure).toMatch(/^WORKER_NOT_LOADED: .*`worker` names/);
  });

  test('has a syntax error is named', async ({ place, serveApp, openTab, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(script, (route) => route.fulfill({ contentType: JAVASCRIPT, body: 'import {;' }));
    expect(await failureOf(await openTab(url))).toMatch(/^WORKER_FAILED: .*SyntaxError/);
  });

  test('throws at its start has its error quoted', async ({ place, serveApp, openTab, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(script, (route) =>
      route.fulfill({ contentType: JAVASCRIPT, body: 'throw new RangeError("no settings")' }),
    );
    expect(await failureOf(await openTab(url))).toMatch(/^WORKER_FAILED: .*RangeError: no settings/);
  });

  test('never calls startWorker is told to, after half a minute', async ({ place, serveApp, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(script, (route) => route.fulfill({ contentType: JAVASCRIPT, body: 'export {};' }));
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(url);
    await page.waitForFunction(() => 'serve' in window);
    const request = page.evaluate(() =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
      (window as unknown as AppWindow).serve
        .getHandle('text-generator')
        .remote('Once')
        .result()
        .catch((error: Error & { code: string }) => error.code),
    );
    const failure = failureOf(page);
    await expect
      .poll(async () => {
        await page.clock.runFor(10_000);
        return (await statusOf(page)).state;
      })
      .toBe('failed');
    expect(await failure).toMatch(/^WORKER_SILENT: .*has to call startWorker\(\)/);
    expect(await request, 'what waited is told, too').toBe('WORKER_SILENT');
  });
});

test.describe('a clear error names the option for the runtime’s files, where', () => {
  const wasmPath = '**/*.wasm';

  test('they are missing', async ({ place, serveApp, openTab, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(wasmPath, (route) => route.fulfill({ status: 404 }));
    expect(await failureOf(await openTab(url))).toMatch(
      /^RUNTIME_FILE_MISSING: .*startWorker\(\{ runtimeUrl \}\)/,
    );
  });

  test('a page comes in their place', async ({ place, serveApp, openTab, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(wasmPath, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
    expect(await failureOf(await openTab(url))).toMatch(/^RUNTIME_FILE_MISSING: /);
  });
});

test('a prompt of parts that no model here reads is refused', async ({ place, serveApp, openTab }) => {
  const page = await openTab(await serveApp(servePlainPage(place)));
  const failure = await page.evaluate(() => {
    const image = { type: 'image_url', image_url: { url: 'data:,' } };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a caller without types may send
    const chat = [{ role: 'user', content: [image] }] as unknown as string;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    return (window as unknown as AppWindow).serve
      .getHandle('text-generator')
      .remote(chat)
      .result()
      .then(
        () => 'answered',
        (error: Error & { code: string }) => `${error.code}: ${error.message}`,
      );
  });
  expect(failure).toMatch(/^INVALID_OPTION: .*content/);
});

test('a server may import every entry, but not connect', async ({ place }) => {
  const program = `
    await Promise.all(['react', 'batching', 'node'].map((entry) => import('tabserve/' + entry)));
    const { connect, NoBrowserError } = await import('tabserve');
    const worker = () => { throw new Error('no worker is made'); };
    await connect({ worker }).catch((error) => console.log(error instanceof NoBrowserError, error.code));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: place.folder,
  });
  expect(stdout).toBe('true NO_BROWSER\n');
});
