import type { BrowserContext, Page } from 'playwright/test';

import { startBridge, type ServedBridge } from './support/bridge-test.ts';
import { shareSite } from './support/shared-site.ts';
import type { Site } from './support/site.ts';
import { openTab, DEFAULT_KNOBS, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import { someOf } from './support/seeded-random.ts';

// How long a policy lives: that of the users, and that of a load test.

async function closePages(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.close()));
}

/** Resolves once the worker of the open tab has received everything that the bridge had for it. */
async function whenBridged({ bridge }: ServedBridge): Promise<void> {
  await bridge.serve.metrics();
}

test.describe('the policy that a browser has set', { tag: ANY_BACKEND }, () => {
  for (const profile of someOf(['a fresh profile', 'the same profile'], 1)) {
    test(`is gone with its last tab: ${profile} starts with the default`, async ({ browser, backend }) => {
      const bridge = await startBridge();
      const newProfile = () => browser.newContext({ baseURL: bridge.url });
      const first = await newProfile();
      const tab = await openTab(first, backend);
      await whenBridged(bridge);
      await tab.configure({ policy: 'off', batchWaitTimeoutMs: 10 });
      await expect.poll(() => bridge.bridge.serve.status().policy.policy).toBe('off');
      await closePages(first);

      const second = profile === 'the same profile' ? first : await newProfile();
      const next = await openTab(second, backend);
      await whenBridged(bridge);
      expect((await next.status()).policy).toEqual(DEFAULT_KNOBS);
      expect(bridge.bridge.serve.status().policy).toEqual(DEFAULT_KNOBS);
      await first.close();
      await second.close();
      await bridge.close();
    });
  }

  test('is brought back by the bridge to the browser that it runs itself', async ({ browser, backend }) => {
    const bridge = await startBridge();
    const openOwnBrowser = async () => {
      const context = await browser.newContext({ baseURL: bridge.url });
      const { ownBrowserCookie } = bridge.bridge;
      await context.addCookies([
        { ...ownBrowserCookie, url: bridge.url, httpOnly: true, sameSite: 'Strict' },
      ]);
      return { context, tab: await openTab(context, backend) };
    };
    const { context } = await openOwnBrowser();
    await bridge.bridge.serve.configure('text-generator', { policy: 'static', maxBatchSize: 4 });
    await context.close();
    const next = await openOwnBrowser();
    await whenBridged(bridge);
    expect((await next.tab.status()).policy).toMatchObject({ policy: 'static', maxBatchSize: 4 });
    await next.context.close();
    await bridge.close();
  });
});

/** A comparison that takes minutes; resolves when its first policy is in force. */
async function startComparing(tab: Tab): Promise<void> {
  const { page } = tab;
  await tab.openLab();
  await page.locator('.lab').getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
  for (const [name, value] of Object.entries({ rate: '20', durationSeconds: '60', seed: '5' }))
    await page.locator(`.lab [name=${name}]`).fill(value);
  await page.locator('.lab').getByRole('radio', { name: 'Compare' }).check();
  await startLoad(page);
  await expect.poll(() => page.evaluate(() => window.tabserve.status().policy.policy)).toBe('off');
}

async function startLoad(page: Page): Promise<void> {
  await page.locator('.lab').getByRole('button', { name: 'Start' }).click();
}

async function stopLoad(page: Page): Promise<void> {
  await page.locator('.lab').getByRole('button', { name: 'Stop' }).click();
}

const policyOf = async (tab: Tab) => (await tab.status()).policy;

/** The ways in which the tab of a load test can end. */
const ENDS: Readonly<Record<string, (site: Site, tab: Tab) => Promise<void | (() => Promise<void>)>>> = {
  reloaded: (site, tab) => site.reload(tab),
  closed: (site, tab) => site.close(tab),
  crashed: (site, tab) => site.crash(tab),
  frozen: (site, tab) => site.freeze(tab),
};

/** In short, each role with the end that says the least. */
const IN_SHORT: Readonly<Record<'leads' | 'follows', string>> = { leads: 'crashed', follows: 'frozen' };

/** Of the adder. */
async function sizeOf(tab: Tab): Promise<number | undefined> {
  return (await tab.status()).deployments.find(({ name }) => name === 'adder')?.knobs.maxBatchSize;
}

test.describe('a comparison of policies', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();

  for (const role of ['leads', 'follows'] as const) {
    for (const [fate, end] of Object.entries(ENDS)) {
      if (!IS_WHOLE && IN_SHORT[role] !== fate) continue;
      test(`whose tab ${role} and is ${fate} gives the users’ policy back`, async () => {
        const site = await openTabs(2);
        const leader = await site.leader();
        const [follower] = await site.followers();
        if (!follower) throw new Error('There is no follower.');
        const [testing, other] = role === 'leads' ? [leader, follower] : [follower, leader];
        const own = await other.configure({ maxBatchSize: 5 });
        await startComparing(testing);
        await expect.poll(async () => (await policyOf(other)).policy).toBe('off');
        const thaw = await end(site, testing);
        await expect.poll(() => policyOf(other)).toEqual(own);
        expect(await other.status()).not.toHaveProperty('override');
        await thaw?.();
        if (site.tabs.includes(testing)) await site.close(testing);
      });
    }
  }

  for (const role of someOf(['leads', 'follows'], 1)) {
    test(`of another deployment gives its knobs back when the tab ${role} and is lost`, async () => {
      const site = await openTabs(3);
      const leader = await site.leader();
      const [follower, other] = await site.followers();
      if (!follower || !other) throw new Error('There are two followers.');
      const testing = role === 'leads' ? leader : follower;
      await other.page.evaluate(() => window.tabserve.configure('adder', { maxBatchSize: 5 }));
      await testing.page.evaluate(async () => {
        await window.tabserve.overrideKnobs('adder', { maxBatchSize: 1 });
      });
      await expect.poll(() => sizeOf(other)).toBe(1);
      // The next worker takes the override over from a tab that is still there.
      if (role === 'follows') await site.reload(leader);
      await site.leader();
      await expect.poll(async () => (await other.status()).state).toBe('ready');
      await expect.poll(() => sizeOf(other)).toBe(1);
      await site.crash(testing);
      await expect.poll(() => sizeOf(other)).toBe(5);
    });
  }

  test('goes on when the tab that leads is lost, and gives the policy back when it is stopped', async () => {
    const site = await openTabs(3);
    const [testing, other] = await site.followers();
    if (!testing || !other) throw new Error('There are two followers.');
    const own = await other.configure({ maxBatchSize: 5 });
    await startComparing(testing);
    await site.crash(await site.leader());
    await site.leader();
    await expect.poll(async () => (await other.status()).state).toBe('ready');
    await expect.poll(() => policyOf(other)).toEqual({ ...own, policy: 'off' });
    expect((await other.status()).override).toEqual({ isOwn: false, basePolicy: own });
    await stopLoad(testing.page);
    await expect.poll(() => policyOf(other)).toEqual(own);
  });

  test('of a tab that shares its worker with no other ends with the tab, and when it is stopped', async ({
    site,
  }) => {
    await site.context.addInitScript(() => Reflect.deleteProperty(globalThis, 'BroadcastChannel'));
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('There is no tab.');
    const own = await tab.configure({ maxBatchSize: 5 });
    await startComparing(tab);
    await stopLoad(tab.page);
    await expect.poll(() => policyOf(tab)).toEqual(own);
    await startLoad(tab.page);
    await expect.poll(async () => (await policyOf(tab)).policy).toBe('off');
    await site.reload(tab);
    await tab.ready();
    expect(await policyOf(tab)).toEqual(DEFAULT_KNOBS);
  });

  test('is the only one at a time, and the others see whose it is and may choose what comes after it', async () => {
    const [testing, other] = (await openTabs(2)).tabs;
    if (!testing || !other) throw new Error('There are two tabs.');
    await startComparing(testing);
    const { page } = other;
    await expect(page.locator('.policy .policy-explanation')).toHaveText(
      'A test or check in another tab runs off. Your choice applies when it ends.',
    );
    await expect(page.getByRole('radio', { name: 'continuous' })).toBeChecked();
    await page.getByRole('radio', { name: 'static' }).click();
    await expect(page.getByRole('radio', { name: 'static' })).toBeChecked();
    await other.openLab();
    await page.locator('.lab').getByRole('radio', { name: 'Compare' }).check();
    await startLoad(page);
    await expect(page.locator('.lab').getByRole('alert')).toContainText('OVERRIDE_HELD');
    expect((await policyOf(other)).policy).toBe('off');
    await stopLoad(testing.page);
    await expect.poll(async () => (await policyOf(other)).policy).toBe('static');
    await expect(page.locator('.policy .policy-explanation')).toContainText('Ray Serve’s way');
  });
});
