import { test as base } from 'playwright/test';

import { startServer } from '../../bridge/server.ts';
import { launchBrowser, type DrivenBrowser, type DrivenBrowserName } from './driven-browser.ts';
import { DrivenTab } from './driven-tab.ts';

export { expect } from 'playwright/test';

export interface DrivenOptions {
  readonly drivenBrowser: DrivenBrowserName;
}

interface DrivenWorkerFixtures extends DrivenOptions {
  readonly driven: DrivenBrowser;
  /** Of the built page. */
  readonly pageUrl: string;
}

interface DrivenFixtures {
  /** Opens the page in a tab of its own; all tabs are closed at the end of the test. */
  readonly openTab: () => Promise<DrivenTab>;
}

export const test = base.extend<DrivenFixtures, DrivenWorkerFixtures>({
  drivenBrowser: ['firefox', { option: true, scope: 'worker' }],

  driven: [
    async ({ drivenBrowser }, provide) => {
      const browser = await launchBrowser(drivenBrowser);
      await provide(browser);
      await browser.close();
    },
    // It may be installed first.
    { scope: 'worker', timeout: 360_000 },
  ],

  pageUrl: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
    async ({}, provide) => {
      const root = new URL('../../dist', import.meta.url).pathname;
      const server = await startServer({ host: 'localhost', port: 0, root });
      await provide(server.url);
      await server.close();
    },
    { scope: 'worker' },
  ],

  openTab: async ({ driven, pageUrl }, provide) => {
    const tabs: DrivenTab[] = [];
    await provide(async () => {
      const tab = new DrivenTab(await driven.open(pageUrl));
      tabs.push(tab);
      await tab.connected();
      return tab;
    });
    for (const tab of tabs) await tab.close();
  },
});
