import type { Browser } from 'playwright/test';

import { expectReferenceTokens } from './support/expect-reference.ts';
import { someOf } from './support/seeded-random.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

test.describe(
  'a new version on the server, while tabs of the old one are open:',
  { tag: ANY_BACKEND },
  () => {
    test('a part of the page that is gone says so, and offers to reload', async ({
      ownTab,
      backend,
      context,
    }) => {
      const { page } = ownTab;
      await context.route('**/assets/load-lab-*.js', (route) => route.fulfill({ status: 404 }));
      await ownTab.open(`?backend=${backend}`);
      await ownTab.ready();
      await page.getByRole('button', { name: 'Load lab' }).click();
      const failure = page.getByRole('alert').filter({ hasText: 'Couldn’t show Load lab' });
      await expect(failure).toContainText('PAGE_OUTDATED');
      await expectReferenceTokens(ownTab);
      await context.unroute('**/assets/load-lab-*.js');
      await Promise.all([
        page.waitForEvent('load'),
        failure.getByRole('button', { name: 'Reload the page' }).click(),
      ]);
      await page.getByRole('button', { name: 'Load lab' }).click();
      await expect(page.locator('.lab')).toBeVisible();
    });

    test('a part of the worker that is gone says so, and what waits for it is told', async ({
      ownTab,
      backend,
      context,
    }) => {
      await context.route('**/assets/model-switch-*.js', (route) => route.fulfill({ status: 404 }));
      await ownTab.open(`?backend=${backend}`);
      await expect(ownTab.ready()).rejects.toThrow('or the page has a new version. Reload the page.');
      await expect(ownTab.page.getByRole('alert').filter({ hasText: 'PAGE_OUTDATED' })).toBeVisible();
      const [outcome] = await ownTab.outcomesOf([{ prompt: 'Once' }]);
      expect(outcome?.code).toBe('PAGE_OUTDATED');
    });
  },
);

test(
  'offline, the tabs that are open go on, and online again one takes over from the other',
  {
    tag: ANY_BACKEND,
  },
  async ({ site }) => {
    const tabs = await site.openReady(2);
    // The example of the first screen comes once the page has nothing else to do.
    for (const { page } of tabs) await page.waitForLoadState('networkidle');
    await site.context.setOffline(true);
    for (const tab of tabs) await expectReferenceTokens(tab);
    await site.context.setOffline(false);
    const [follower] = await site.followers();
    if (!follower) throw new Error('No tab follows.');
    await site.close(await site.leader());
    await expectReferenceTokens(follower);
    expect((await follower.status()).role).toBe('leader');
  },
);

test('a reload at any moment leaves a page that serves', { tag: ANY_BACKEND }, async ({ site }) => {
  const tab = await site.open();
  const moments: readonly (() => Promise<unknown>)[] = [
    () => Promise.resolve(),
    () => tab.page.waitForFunction(() => window.tabserve.status().progress ?? window.tabserve.status().model),
    () => tab.page.waitForFunction(() => window.tabserve.status().state !== 'loading'),
    () => tab.ready(),
    async () => {
      await tab.begin([{ prompt: 'Once upon a time,', options: { maxNewTokens: 400 } }]);
      await tab.whenStreamed(1);
    },
  ];
  for (const moment of someOf(moments, 3)) {
    await moment();
    await site.reload(tab);
  }
  await expectReferenceTokens(tab);
  expect(site.numWorkers).toBe(1);
});

test(
  'a machine that sleeps while eight requests run wakes to the same texts, from the same worker',
  { tag: ANY_BACKEND },
  async ({ site, browser }) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const requests = Array.from({ length: 8 }, (_, seed) => ({
      prompt: 'Once upon a time,',
      options: { maxNewTokens: 200, seed },
    }));
    const calm = await tab.generateAll(requests);
    await tab.begin(requests);
    await tab.whenStreamed(1);
    await sleepThrough(browser, SLEEP_MS);
    const outcomes = await tab.outcomesOfBegun();
    expect(outcomes.map(({ value }) => value?.text)).toEqual(calm.map(({ text }) => text));
    expect((await tab.status()).recovery, 'workers that were lost').toBeUndefined();
  },
);

/** Longer than any interval of the protocol, except the timeout of a silent worker. */
const SLEEP_MS = 8000;

/** Stops every process of the browser for a while, as closing a laptop does. Their clocks jump when they go on. */
async function sleepThrough(browser: Browser, ms: number): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  for (const { id } of processInfo) process.kill(id, 'SIGSTOP');
  await new Promise((resolve) => void setTimeout(resolve, ms));
  for (const { id } of processInfo) process.kill(id, 'SIGCONT');
}
