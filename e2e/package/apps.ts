import { chromium, expect, test, type Browser, type BrowserContext, type Page } from 'playwright/test';

import { findBrowser } from '../../tools/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../tools/browser/launch-arguments.ts';
import type { Serve } from '../../src/worker/client/index.ts';
import { greedyTokenIds, reference, withoutEnd } from '../support/reference.ts';
import { Workplace } from './app-folder.ts';
import { servePlainPage, TOOLS, type ServedApp } from './tools.ts';

/** What the app's script leaves in its page. */
interface AppWindow {
  readonly serve: Serve<{ 'upper-case': { input: string; output: string } }>;
}

const MAX_NEW_TOKENS = 24;

let place: Workplace;
let browser: Browser;
let context: BrowserContext;
let app: ServedApp;

test.beforeAll(async () => {
  const { path } = await findBrowser();
  browser = await chromium.launch({ executablePath: path, args: [...WEBGPU_ARGUMENTS] });
  place = await Workplace.create();
});

test.afterAll(async () => {
  await browser.close();
  await place.remove();
});

test.beforeEach(async () => {
  context = await browser.newContext();
});

test.afterEach(async () => {
  await context.close();
  await app.close();
});

async function openTab(url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'serve' in window);
  return page;
}

/** Continues prompts of the reference, and compares the tokens with PyTorch's. */
async function expectTexts(page: Page, indices: readonly number[]): Promise<void> {
  const entries = reference.prompts.filter((_, index) => indices.includes(index));
  const answers = await page.evaluate(
    async ({ prompts, maxNewTokens }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
      const { serve } = window as unknown as AppWindow;
      const generator = serve.getHandle('text-generator');
      const responses = prompts.map((prompt) => generator.remote(prompt, { temperature: 0, maxNewTokens }));
      return Promise.all(responses.map(async (response) => (await response.result()).tokenIds));
    },
    { prompts: entries.map(({ prompt }) => prompt), maxNewTokens: MAX_NEW_TOKENS },
  );
  expect(answers.map(withoutEnd)).toEqual(entries.map((entry) => greedyTokenIds(entry, MAX_NEW_TOKENS)));
}

const upperCase = (page: Page, text: string): Promise<string> =>
  page.evaluate(
    async (input) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
      (window as unknown as AppWindow).serve.getHandle('upper-case').remote(input).result(),
    text,
  );

const statusOf = (page: Page) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
  page.evaluate(() => (window as unknown as AppWindow).serve.status());

const failureOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    (window as unknown as AppWindow).serve.ready().then(
      () => 'ready',
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    ),
  );

const servePlain = (policy: string): Promise<ServedApp> =>
  servePlainPage(place, { 'Content-Security-Policy': policy });

test.describe('two tabs batch in one worker and survive the loss of the leader, in', () => {
  for (const [tool, serve] of Object.entries(TOOLS)) {
    test(tool, async () => {
      app = await serve(place);
      const first = await openTab(app.url);
      const second = await openTab(app.url);
      await Promise.all([expectTexts(first, [0, 2, 4, 6, 8]), expectTexts(second, [1, 3, 5, 7])]);
      const largest = await second.evaluate(() => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
        const steps = (window as unknown as AppWindow).serve.batches('text-generator');
        return Math.max(...steps.map(({ batchSize }) => batchSize));
      });
      expect(largest).toBe(8);
      expect(await upperCase(second, 'mine')).toBe('MINE');
      expect([(await statusOf(first)).role, (await statusOf(second)).role]).toEqual(['leader', 'follower']);
      const continued = expectTexts(second, [0, 1, 2]);
      await first.close();
      await continued;
      expect((await statusOf(second)).role).toBe('leader');
    });
  }
});

test('two apps of one origin do not meet', async () => {
  app = await servePlainPage(place);
  const pages = [
    await openTab(`${app.url}?name=shop`),
    await openTab(`${app.url}?name=blog`),
    await openTab(app.url),
  ];
  for (const page of pages) {
    await expectTexts(page, [0]);
    expect(await statusOf(page)).toMatchObject({ role: 'leader', numTabs: 1 });
  }
});

test.describe('a clear error names', () => {
  const wasmPath = '**/*.wasm';

  test('the option for the runtime’s files, where they are missing', async () => {
    app = await servePlainPage(place);
    await context.route(wasmPath, (route) => route.fulfill({ status: 404 }));
    const failure = await failureOf(await openTab(app.url));
    expect(failure).toMatch(/^RUNTIME_FILE_MISSING: .*startWorker\(\{ runtimeUrl \}\)/);
  });

  test('the option for the runtime’s files, where a page comes in their place', async () => {
    app = await servePlainPage(place);
    await context.route(wasmPath, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
    expect(await failureOf(await openTab(app.url))).toMatch(/^RUNTIME_FILE_MISSING: /);
  });

  test.describe('the directive of a policy', () => {
    const inline = "script-src 'self' 'unsafe-inline'";

    test('that forbids WebAssembly', async () => {
      app = await servePlain(`default-src 'self'; ${inline}`);
      expect(await failureOf(await openTab(app.url))).toMatch(/^WASM_FORBIDDEN: .*'wasm-unsafe-eval'/);
    });

    test('that forbids the worker', async () => {
      app = await servePlain(`default-src 'self'; ${inline} 'wasm-unsafe-eval'; worker-src 'none'`);
      expect(await failureOf(await openTab(app.url))).toMatch(/^WORKER_NOT_LOADED: .*worker-src 'self'/);
    });
  });
});
