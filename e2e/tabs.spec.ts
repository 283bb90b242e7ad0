import type { Locator } from 'playwright/test';
import type { TabserveStats } from '../src/protocol/stats.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import { shareSite } from './support/shared-site.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab, TextRequest } from './support/tab.ts';
import { someOf } from './support/seeded-random.ts';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

test.describe('tabs of one site', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();

  test('that open at the same time agree on one leader, and share its worker', async () => {
    const site = await openTabs(3);
    await site.leader();
    expect(site.numWorkers, 'workers').toBe(1);
    const all = await Promise.all(site.tabs.map(async (tab) => (await tab.status()).tabs));
    for (const seen of all) expect(seen.map(({ number }) => number)).toEqual([1, 2, 3]);
    const own = all.flatMap((seen) => seen.filter(({ isThis }) => isThis).map(({ number }) => number));
    expect(new Set(own), 'of each itself').toEqual(new Set([1, 2, 3]));
    // Each tab notes the requests of all.
    const weightUrls = site.tabs[0]?.requestedUrls.filter((url) => url.endsWith('/model.safetensors'));
    expect(weightUrls, 'loads of the weights').toHaveLength(1);
  });

  test('have their requests in every batch', async () => {
    const site = await openTabs(3);
    const { tabs } = site;
    const [first] = tabs;
    const requests = tabs.map((_, tab) => sampledRequests(4, tab, 6));
    const alone = await aloneTexts(site, requests.flat());

    await first?.configure({ maxBatchSize: 12, policy: 'static', batchWaitTimeoutMs: HELD_MS });
    await first?.forget();
    // The twelfth fills the batch, which starts then.
    await Promise.all(tabs.map((tab, index) => tab.begin(requests[index] ?? [])));
    const outcomes = await Promise.all(tabs.map((tab) => tab.outcomesOfBegun()));

    expect(outcomes.flat().map(({ value, code }) => value?.text ?? code)).toEqual(alone);
    const decodeSteps = (await first?.steps('decode')) ?? [];
    const largest = Math.max(...decodeSteps.map(({ batchSize }) => batchSize));
    expect(largest, 'rows of all tabs in one step').toBe(12);
  });

  test('feed their charts the same numbers', async () => {
    const { tabs } = await openTabs(3);
    for (const tab of tabs) await tab.page.evaluate(recordStats);
    await tabs[1]?.generate('Once upon a time,', { maxNewTokens: 8 });
    await tabs[1]?.page.waitForFunction(() => window.statsSeen.length > 0);
    const numFinished = await tabs[1]?.page.evaluate(() => window.statsSeen.at(-1)?.totals.finished);
    for (const { page } of tabs)
      await page.waitForFunction(
        (count) => (window.statsSeen.at(-1)?.totals.finished ?? 0) >= (count ?? Infinity),
        numFinished,
      );
    const all = await Promise.all(
      tabs.map(({ page }) => page.evaluate(() => window.statsSeen.map((stats) => JSON.stringify(stats)))),
    );
    // A tab may have begun to listen earlier, or have been asked later.
    const shared = all[0]?.filter((stats) => all.every((seen) => seen.includes(stats))) ?? [];
    expect(shared).not.toEqual([]);
    const [first = '', last = ''] = [shared[0], shared.at(-1)];
    for (const seen of all)
      expect(seen.slice(seen.indexOf(first), seen.lastIndexOf(last) + 1)).toEqual(shared);
  });

  test('that flood let the request of another tab in within two admissions', async () => {
    const [flooding, other] = await openPair(openTabs);
    // One at a time, so that each admission is a prefill. A short request would end before the other tab can send.
    await flooding.configure({ policy: 'off' });
    const flood = Array.from({ length: 500 }, () => ({ prompt: 'Once', options: { maxNewTokens: 200 } }));
    await other.page.evaluate(recordStats);
    await flooding.begin(flood);
    await other.page.waitForFunction(() => (window.statsSeen.at(-1)?.numWaiting ?? 0) > 490);
    await other.generate('In a galaxy far far away', { maxNewTokens: 2 });
    await flooding.cancelBegun();
    await other.page.waitForFunction(() => window.statsSeen.at(-1)?.numRunning === 0);

    const prefills = (await other.steps('prefill')).filter(({ queueLength }) => queueLength > 0);
    const admitted = prefills.findIndex(({ numTokens }) => numTokens > 1);
    // Every admission shortens the queue by one, unless the other request has joined in between. If no step shows that, it
    // joined before the first of these.
    const arrived = prefills.findIndex(
      ({ queueLength }, index) =>
        index > 0 && index <= admitted && queueLength === prefills[index - 1]?.queueLength,
    );
    expect(admitted, 'the prefill of the other request').toBeGreaterThanOrEqual(0);
    expect(admitted - Math.max(arrived, 0) + 1, 'admissions until its own').toBeLessThanOrEqual(2);
  });

  test('that flood a full queue leave a place for the first request of another tab', async () => {
    const [flooding, other] = await openPair(openTabs);
    await flooding.configure({ maxBatchSize: 64, batchWaitTimeoutMs: HELD_MS, maxQueuedRequests: 10 });
    await flooding.begin(
      Array.from({ length: 20 }, () => ({ prompt: 'Once', options: { maxNewTokens: 2 } })),
    );
    await other.begin([{ prompt: 'Hi', options: { maxNewTokens: 2 } }]);
    await flooding.configure({ batchWaitTimeoutMs: 0 });
    expect((await other.outcomesOfBegun()).map(({ code }) => code ?? 'answered')).toEqual(['answered']);
    const codes = (await flooding.outcomesOfBegun()).map(({ code }) => code ?? 'answered');
    expect(codes.filter((code) => code === 'BACK_PRESSURE')).toHaveLength(10);
    expect(codes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'answered'));
  });

  test('show whose request each row is, while it runs', async () => {
    const [first, second] = await openPair(openTabs);
    await first.configure({ batchWaitTimeoutMs: HELD_MS });
    // Rows of earlier requests may be drawn late.
    const prompt = 'Whose row is this?';
    await first.begin([{ prompt, options: { maxNewTokens: 6, ignoreEos: true } }]);
    const own = first.page.locator('[data-request-id]').filter({ hasText: prompt });
    const foreign = second.page.locator('[data-request-id]').filter({ hasText: prompt });
    await expect(own).toHaveAttribute('data-owner', 'this tab');
    await expect(foreign).toHaveAttribute('data-owner', 'another tab');
    await expect(foreign).toHaveAttribute('data-status', 'waiting');
    await expect(first.page).toHaveTitle(/^Tab \d · /);
    const [name = ''] = (await first.page.title()).split(' · ');
    await expect(foreign).toContainText(name);
    await expect(second.page.getByRole('list', { name: 'Tabs' })).toContainText(
      new RegExp(`${name}( · runs the model)? · 1 waiting`),
    );
    await expect(foreign.getByRole('button', { name: /Cancel/ })).toHaveCount(0);
    await first.configure({ batchWaitTimeoutMs: 0 });
    await expect(foreign).toHaveAttribute('data-status', 'finished');
    await expect(foreign).toContainText(/6 tokens/);
  });

  test('that open later see what runs already; what they have sent goes with them', async () => {
    const site = await openTabs(1);
    const [first] = site.tabs;
    if (!first) throw new Error('There is no tab.');
    await first.page.evaluate(recordStats);
    await first.configure({ batchWaitTimeoutMs: HELD_MS, maxBatchSize: 2 });
    await first.begin([{ prompt: 'Once', options: { maxNewTokens: 4 } }]);
    await first.page.evaluate(() => window.tabserve.getHandle('adder').remote(1).result());
    const [late] = await site.openReady(1);
    if (!late) throw new Error('There is no tab.');
    await expect(late.page.locator('[data-request-id]')).toHaveAttribute('data-status', 'waiting');
    expect(await late.page.evaluate(() => window.tabserve.batches('adder').length)).toBe(1);
    await first.configure({ batchWaitTimeoutMs: 0 });
    await expect(late.page.locator('[data-request-id]')).toHaveAttribute('data-status', 'finished');
    await first.outcomesOfBegun();

    // Two run and two wait.
    await late.begin(sampledRequests(4, 0, 400));
    await late.whenStreamed(2);
    await site.close(late);
    await first.page.waitForFunction(isAtRest);
    await expect.poll(async () => (await first.status()).numTabs).toBe(1);
    expect((await first.generate('Once', { maxNewTokens: 2 })).usage.numOutputTokens).toBe(2);
  });

  test('that close right after they have sent leave nothing behind', async () => {
    const site = await openTabs(2);
    const leader = await site.leader();
    const [follower] = await site.followers();
    if (!follower) throw new Error('There is no follower.');
    await leader.configure({ batchWaitTimeoutMs: HELD_MS });
    await leader.page.evaluate(recordStats);
    await follower.begin(sampledRequests(2, 0));
    await site.close(follower);
    await expect.poll(async () => (await leader.status()).numTabs).toBe(1);
    await leader.configure({ batchWaitTimeoutMs: 0 });
    await leader.generate('Once', { maxNewTokens: 2 });
    await leader.page.waitForFunction(isAtRest);
  });

  test('say who runs the model, and for how many', async () => {
    const site = await openTabs(2);
    const leader = await site.leader();
    const [follower] = await site.followers();
    if (!follower) throw new Error('There is no follower.');
    await expect(leader.page.getByRole('button', { name: /· 2 tabs$/ })).toBeVisible();
    for (const tab of [leader, follower]) await tab.openStatus();
    await expect(leader.page.getByTestId('num-tabs')).toHaveText('2');
    await expect(tabsIn(leader)).toContainText(/Tab \d, this one · runs the model/);
    await expect(tabsIn(follower)).toContainText(/Tab \d · runs the model/);
    await site.close(leader);
    await expect(tabsIn(follower)).toHaveText(/^(This tab|Tab \d, this one) · runs the model$/);
    await expect(follower.page.getByTestId('num-tabs')).toHaveText('1');
  });
});

async function openPair(openTabs: (numTabs: number) => Promise<Site>): Promise<readonly [Tab, Tab]> {
  const [first, second] = (await openTabs(2)).tabs;
  if (!first || !second) throw new Error('There are two tabs.');
  return [first, second];
}

for (const missing of someOf(['BroadcastChannel', 'Web Locks'] as const, 1)) {
  test(`without ${missing} a tab serves itself, and says why`, { tag: ANY_BACKEND }, async ({ site }) => {
    await site.context.addInitScript((name) => {
      if (name === 'Web Locks') Reflect.deleteProperty(Navigator.prototype, 'locks');
      else Reflect.deleteProperty(globalThis, name);
    }, missing);
    const [first, second] = await site.openPair();
    for (const tab of [first, second]) {
      const { role, isolationReason, numTabs } = await tab.status();
      expect({ role, numTabs }).toEqual({ role: 'leader', numTabs: 1 });
      expect(isolationReason).toContain(missing);
      await expect(await tab.openStatus()).toContainText(isolationReason);
      expect((await tab.generate('Once', { maxNewTokens: 3 })).usage.numOutputTokens).toBe(3);
    }
    expect(site.numWorkers).toBe(2);
  });
}

/** The text of each request when it runs alone. */
async function aloneTexts(site: Site, requests: readonly TextRequest[]): Promise<string[]> {
  const [tab] = site.tabs;
  if (!tab) throw new Error('There is no tab.');
  const { policy } = (await tab.status()).policy;
  await tab.configure({ policy: 'off' });
  const texts = (await tab.generateAll(requests)).map(({ text }) => text);
  await tab.configure({ policy });
  return texts;
}

declare global {
  interface Window {
    statsSeen: TabserveStats[];
  }
}

/** Runs in the page. */
function recordStats(): void {
  const seen: TabserveStats[] = [];
  window.statsSeen = seen;
  window.tabserve.subscribe('stats', (stats) => seen.push(stats));
}

/** Runs in the page. */
function isAtRest(): boolean {
  const stats = window.statsSeen.at(-1);
  return stats?.numRunning === 0 && stats.numWaiting === 0;
}

/** In the chip's box. */
function tabsIn({ page }: Tab): Locator {
  return page.getByRole('region', { name: 'Model and tabs' }).getByRole('list', { name: 'Tabs' });
}
