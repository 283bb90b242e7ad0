import { test as base, expect, type Page } from 'playwright/test';

import { IS_WHOLE } from '../../src/batching/testing/whole-run.ts';
import { requireEnvironment } from './environment.ts';
import { takePolicyReports } from './policy-reports.ts';
import { Site } from './site.ts';
import { DEFAULT_KNOBS, openTab, Tab, type Backend } from './tab.ts';

export { expect, IS_WHOLE };

/** Marks a test that doesn't depend on the backend. It runs only on WASM, which loads fast. */
export const ANY_BACKEND = '@any-backend';

/** The same in the short run. In the whole one it runs on both. */
export const ANY_BACKEND_IN_SHORT = IS_WHOLE ? [] : ANY_BACKEND;

export interface BackendOption {
  readonly backend: Backend;
}

export interface WorkerFixtures extends BackendOption {
  /** One loaded page for all tests of the project: loading a model and compiling its shaders takes seconds. */
  readonly sharedTab: Tab;
  /** One page of probes for all tests of the project: its models and shaders stay loaded. */
  readonly probePage: Page;
}

export interface TestFixtures {
  /** The shared page, with default knobs and an empty list; the test must leave it idle, without errors, and looking as it did. */
  readonly tab: Tab;
  /** A page of this test's own, not opened yet. */
  readonly ownTab: Tab;
  /** The same, opened, with the embedded model ready. */
  readonly readyTab: Tab;
  /** A new profile without any tab. Tabs that are open at the end must have no errors. */
  readonly site: Site;
  /** Takes the browser's reports of violations of the page's policy. */
  readonly reportUrl: string;
  /** Returns and clears the violations of the page's policy. Any left at the end fail the test. */
  readonly takeViolations: () => Promise<readonly string[]>;
}

const DESKTOP = { width: 1280, height: 900 };

export const test = base.extend<TestFixtures, WorkerFixtures>({
  backend: ['webgpu', { option: true, scope: 'worker' }],

  sharedTab: [
    async ({ browser, backend }, provide) => {
      const context = await browser.newContext({ viewport: DESKTOP, baseURL: requireEnvironment().pageUrl });
      const tab = await openTab(context, backend);
      expect((await tab.status()).backend?.name, 'the backend that runs').toBe(backend);
      await provide(tab);
      await context.close();
    },
    // Slow on a loaded machine: the shaders are compiled here.
    { scope: 'worker', timeout: 300_000 },
  ],

  probePage: [
    async ({ browser }, provide) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(requireEnvironment().probeUrl);
      await page.waitForFunction(() => 'probe' in window);
      await provide(page);
      await context.close();
    },
    { scope: 'worker' },
  ],

  tab: async ({ sharedTab }, provide) => {
    await sharedTab.forget();
    const before = await sharedTab.page.evaluate(looksOfPage);
    await provide(sharedTab);
    expect(await sharedTab.page.evaluate(looksOfPage), 'what the test leaves changed').toEqual(before);
    // The knobs first: a test may hold its requests with a long batch wait.
    await sharedTab.configure(DEFAULT_KNOBS);
    await sharedTab.whenIdle();
    await sharedTab.clearList();
    expect(sharedTab.errors, 'errors on the console').toEqual([]);
    expect(sharedTab.foreignUrls, 'requests to another origin').toEqual([]);
  },

  site: async ({ context, backend }, provide) => {
    const site = new Site(context, backend);
    await provide(site);
    for (const { errors } of site.tabs) expect(errors, 'errors on the console').toEqual([]);
    expect(
      site.tabs.flatMap(({ foreignUrls }) => foreignUrls),
      'requests to another origin',
    ).toEqual([]);
  },

  ownTab: async ({ context, page }, provide) => {
    await provide(new Tab(context, page));
  },

  readyTab: async ({ ownTab, backend }, provide) => {
    await ownTab.open(`?backend=${backend}`);
    await ownTab.ready();
    await provide(ownTab);
  },

  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
  reportUrl: async ({}, provide) => {
    await provide(requireEnvironment().reportUrl);
  },

  takeViolations: [
    async ({ reportUrl }, provide) => {
      const take = () => takePolicyReports(reportUrl);
      await provide(take);
      expect(await take(), "violations of the page's policy").toEqual([]);
    },
    { auto: true },
  ],
});

/** Runs in the page. */
function looksOfPage(): object {
  return {
    shown: document.querySelector('[role=tab][aria-selected=true]')?.textContent,
    numOpen: document.querySelectorAll('dialog[open], .lab-button[aria-expanded=true]').length,
    size: [innerWidth, innerHeight, document.documentElement.dataset['theme']],
    isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  };
}
