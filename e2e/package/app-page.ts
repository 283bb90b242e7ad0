import { expect, test as base, type BrowserContext, type Page } from 'playwright/test';

import type { TabserveClient } from '../../src/client/index.ts';
import { greedyTokenIds, reference, withoutEnd } from '../support/reference.ts';
import { InstalledPackage } from './installed-package.ts';
import type { ServedApp } from '../support/serve-folders.ts';

/** Set by an app's script in its page. */
export interface AppWindow {
  readonly serve: TabserveClient<{ 'upper-case': { input: string; output: string } }>;
}

interface WorkerFixtures {
  readonly place: InstalledPackage;
}

interface Fixtures {
  readonly serveApp: (app: Promise<ServedApp>) => Promise<string>;
  /** Opens an app in a tab of its own, and waits for its script. */
  readonly openTab: (url: string) => Promise<Page>;
  /** Like `openTab`, in a tab whose time comes from `page.clock`. */
  readonly openTabWithClock: (url: string) => Promise<Page>;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  place: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures from the pattern
    async ({}, provide) => {
      const place = await InstalledPackage.create();
      await provide(place);
      await place.remove();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  // oxlint-disable-next-line no-empty-pattern -- as above
  serveApp: async ({}, provide) => {
    const served: ServedApp[] = [];
    await provide(async (app) => {
      served.push(await app);
      return (await app).url;
    });
    await Promise.all(served.map((app) => app.close()));
  },
  openTab: ({ context }, provide) => provide((url) => openApp(context, url)),
  openTabWithClock: ({ context }, provide) =>
    provide((url) => openApp(context, url, (page) => page.clock.install())),
});

export { expect };

async function openApp(
  context: BrowserContext,
  url: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<Page> {
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(url);
  await page.waitForFunction(() => 'serve' in window);
  return page;
}

const MAX_NEW_TOKENS = 24;

/** Continues prompts of the reference, and compares the tokens with PyTorch's. */
export async function expectTexts(page: Page, indices: readonly number[]): Promise<void> {
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

export const statusOf = (page: Page) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
  page.evaluate(() => (window as unknown as AppWindow).serve.status());

export const failureOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    (window as unknown as AppWindow).serve.ready().then(
      () => 'ready',
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    ),
  );
