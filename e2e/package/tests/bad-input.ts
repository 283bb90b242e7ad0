import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright/test';

import { IS_WHOLE } from '../../support/test.ts';
import { expect, failureOf, statusOf, test, type AppWindow } from '../app-page.ts';
import { servePlainPage } from '../tools.ts';

const JAVASCRIPT = 'text/javascript';

/** Lets the page's time pass until it gives up. */
async function runUntilFailed(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      await page.clock.runFor(10_000);
      return (await statusOf(page)).state;
    })
    .toBe('failed');
}

test.describe('a worker’s script that', () => {
  const script = '**/my-worker.js';

  // Each is tried for seconds. The first one is what most hosts answer where a file is missing.
  const problems = [
    [
      'is a web page',
      { contentType: 'text/html', body: '<!doctype html>' },
      /status 200 and the type text\/html/,
    ],
    ['is missing', { status: 404, contentType: 'text/plain' }, /my-worker\.js answers with the status 404/],
    // Browsers don't say more of it than of a file that is missing.
    ['has a syntax error', { contentType: JAVASCRIPT, body: 'import {;' }, /no syntax error/],
  ] as const;
  for (const [problem, answer, says] of IS_WHOLE ? problems : problems.slice(0, 1)) {
    test(`${problem} is named, once it has been tried for a while`, async ({
      place,
      serveApp,
      openTabWithClock,
      context,
    }) => {
      await context.route(script, (route) => route.fulfill(answer));
      const page = await openTabWithClock(await serveApp(servePlainPage(place)));
      const failure = failureOf(page);
      await runUntilFailed(page);
      expect(await failure).toMatch(/^WORKER_NOT_LOADED: .*`worker` names.*syntax error/);
      expect(await failure).toMatch(says);
    });
  }

  test('throws at its start has its error quoted', async ({ place, serveApp, openTab, context }) => {
    const url = await serveApp(servePlainPage(place));
    await context.route(script, (route) =>
      route.fulfill({ contentType: JAVASCRIPT, body: 'throw new RangeError("no settings")' }),
    );
    expect(await failureOf(await openTab(url))).toMatch(/^WORKER_FAILED: .*RangeError: no settings/);
  });

  test('never calls startWorker is told to, after half a minute', async ({
    place,
    serveApp,
    openTabWithClock,
    context,
  }) => {
    await context.route(script, (route) => route.fulfill({ contentType: JAVASCRIPT, body: 'export {};' }));
    const page = await openTabWithClock(await serveApp(servePlainPage(place)));
    const request = page.evaluate(() =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
      (window as unknown as AppWindow).serve
        .getHandle('text-generator')
        .remote('Once')
        .result()
        .catch((error: Error & { code: string }) => error.code),
    );
    const failure = failureOf(page);
    await runUntilFailed(page);
    expect(await failure).toMatch(/^WORKER_SILENT: .*has to call startWorker\(\)/);
    expect(await request, 'what waited is told, too').toBe('WORKER_SILENT');
  });
});

test.describe('a model’s file is named with its address, and the console says so once, where', () => {
  for (const [problem, answer, says] of [
    ['a page comes in its place', { contentType: 'text/html', body: '<!doctype html>' }, /web page/],
    ['it is missing', { status: 404 }, /there is no such file/],
  ] as const) {
    test(problem, async ({ place, serveApp, openTab, context }) => {
      const url = await serveApp(servePlainPage(place));
      await context.route('**/config.json', (route) => route.fulfill(answer));
      const page = await openTab(url);
      const failure = await failureOf(page);
      expect(failure).toMatch(
        /^MODEL_FILE_MISSING: .*http:\/\/localhost:\d+\/\S*\/storyteller\/config\.json/,
      );
      expect(failure).toMatch(says);
      const errors = (await page.consoleMessages()).map((message) => message.text());
      expect(errors.filter((text) => text.includes(failure))).toHaveLength(1);
    });
  }
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

test('an app without a model answers its own deployments, and no prompt', async ({
  place,
  serveApp,
  openTab,
  context,
}) => {
  const requests: string[] = [];
  context.on('request', (request) => requests.push(request.url()));
  const app = `import { connect } from '/node_modules/tabserve/dist-package/client.js';
    const worker = () => new Worker('/my-worker.js', { type: 'module' });
    window.serve = await connect({ worker, model: null });`;
  const page = await openTab(await serveApp(servePlainPage(place, {}, app)));
  expect(await failureOf(page)).toBe('ready');
  const [answer, failure] = await page.evaluate(async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    const { serve } = window as unknown as AppWindow;
    const prompt = serve.getHandle('text-generator').remote('Once').result();
    return [
      await serve.getHandle('upper-case').remote('mine').result(),
      await prompt.then(
        () => 'answered',
        (error: Error & { code: string }) => error.code,
      ),
    ];
  });
  expect([answer, failure]).toEqual(['MINE', 'NO_MODEL']);
  expect(requests.filter((url) => url.includes('/models/'))).toEqual([]);
});

test('a server may import all but the worker, and not connect', async ({ place }) => {
  const program = `
    await Promise.all(['react', 'batching', 'ai-sdk', 'prompt-api', 'node'].map((entry) => import('tabserve/' + entry)));
    const { connect, NoBrowserError } = await import('tabserve');
    const worker = () => { throw new Error('no worker is made'); };
    await connect({ worker }).catch((error) => console.log(String(error instanceof NoBrowserError), error.code));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: place.folder,
  });
  expect(stdout).toBe('true NO_BROWSER\n');
});
