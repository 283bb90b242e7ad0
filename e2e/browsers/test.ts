import { test as base } from 'playwright/test';

import { startServer } from '../../bridge/server.ts';
import { DrivenTab, type DrivenBrowser } from './driven-tab.ts';

export { expect } from 'playwright/test';

/** Each needs its own driver, so it is imported only for its project. */
const LAUNCHERS = {
  firefox: async () => (await import('./firefox.ts')).launchFirefox(),
  webkitgtk: async () => (await import('./webkitgtk.ts')).launchWebKitGtk(),
};

export interface DrivenOptions {
  readonly drivenBrowser: keyof typeof LAUNCHERS;
}

interface DrivenWorkerFixtures extends DrivenOptions {
  readonly driven: DrivenBrowser;
  readonly pageUrl: string;
  /** Serves what `npm run build:tests` has built. */
  readonly probeUrl: string;
}

interface DrivenFixtures {
  /** Opens the page in a tab of its own; all tabs are closed at the end of the test. */
  readonly openTab: () => Promise<DrivenTab>;
}

export const test = base.extend<DrivenFixtures, DrivenWorkerFixtures>({
  drivenBrowser: ['firefox', { option: true, scope: 'worker' }],

  driven: [
    async ({ drivenBrowser }, provide) => {
      const browser = await LAUNCHERS[drivenBrowser]();
      await provide(browser);
      await browser.close();
    },
    // The browser may have to be installed first.
    { scope: 'worker', timeout: 360_000 },
  ],

  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs here
  pageUrl: [({}, provide) => serve('dist', provide), { scope: 'worker' }],
  // oxlint-disable-next-line no-empty-pattern -- as above
  probeUrl: [({}, provide) => serve('dist-probe', provide), { scope: 'worker' }],

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

async function serve(folder: string, provide: (url: string) => Promise<void>): Promise<void> {
  const root = new URL(`../../${folder}`, import.meta.url).pathname;
  await using server = await startServer({ host: 'localhost', port: 0, root });
  await provide(server.url);
}
