import type { Locator } from 'playwright/test';
import type { TabserveStats } from '../src/protocol/stats.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab, TextRequest } from './support/tab.ts';
import { someOf } from './support/seeded-random.ts';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

test(
  'four tabs share one worker and one model, and their requests share every batch',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const weightUrls: string[] = [];
    site.context.on('request', (request) => {
      if (request.url().endsWith('/model.safetensors')) weightUrls.push(request.url());
    });
    const tabs = await site.openReady(4);
    const requests = tabs.map((_, tab) => sampledRequests(4, tab, 6));
    const alone = await aloneTexts(site, requests.flat());

    const [first] = tabs;
    await first?.configure({ maxBatchSize: 16, policy: 'static', batchWaitTimeoutMs: HELD_MS });
    await first?.forget();
    // The sixteenth fills the batch, which starts then.
    await Promise.all(tabs.map((tab, index) => tab.begin(requests[index] ?? [])));
    const outcomes = await Promise.all(tabs.map((tab) => tab.outcomesOfBegun()));

    expect(outcomes.flat().map(({ value, code }) => value?.text ?? code)).toEqual(alone);
    const decodeSteps = (await first?.steps('decode')) ?? [];
    const largest = Math.max(...decodeSteps.map(({ batchSize }) => batchSize));
    expect(largest, 'rows of all four tabs in one step').toBe(16);
    expect(site.numWorkers, 'workers').toBe(1);
    expect(weightUrls, 'loads of the weights').toHaveLength(1);
  },
);

test('tabs that open at the same time agree on one leader', { tag: ANY_BACKEND }, async ({ site }) => {
  const tabs = await site.openReady(5);
  await site.leader();
  expect(site.numWorkers).toBe(1);
  for (const tab of tabs) await expect.poll(async () => (await tab.status()).numTabs).toBe(5);
  const all = await Promise.all(tabs.map(async (tab) => (await tab.status()).tabs));
  for (const seen of all) expect(seen.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
  const own = all.flatMap((seen) => seen.filter(({ isThis }) => isThis).map(({ number }) => number));
  expect(new Set(own), 'of each itself').toEqual(new Set([1, 2, 3, 4, 5]));
});

test(
  'a tab that floods lets the request of another tab in within two admissions',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const [flooding, other] = await site.openPair();
    // One at a time, so that each admission is a prefill. A short request would end before the other tab can send.
    await flooding.configure({ policy: 'off' });
    const maxNewTokens = 200;
    const flood = Array.from({ length: 500 }, (): TextRequest => ({
      prompt: 'Once',
      options: { maxNewTokens },
    }));
    await other.page.evaluate(recordStats);
    await other.forget();
    await flooding.begin(flood);
    await other.page.waitForFunction(() => window.statsSeen.at(-1)?.totals.submitted === 500);
    await other.generate('In a galaxy far far away', { maxNewTokens: 2 });
    await flooding.page.evaluate(() => window.begun?.forEach((response) => response.cancel()));
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
  },
);

test(
  'a tab that floods a full queue leaves a place for the first request of another tab',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const [flooding, other] = await site.openPair();
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
  },
);

test(
  'the requests of a tab that closes are cancelled, and its slots are free',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const [first, second] = await site.openPair();
    const follower = (await site.leader()) === first ? second : first;
    const slotSpans = follower === first ? second : first;
    await slotSpans.configure({ maxBatchSize: 2 });
    await slotSpans.page.evaluate(recordCounts);
    await follower.begin(sampledRequests(4, 0, 400));
    await follower.whenStreamed(2);
    await site.close(follower);
    await slotSpans.page.waitForFunction(() => window.counts === '0 running, 0 waiting');
    await expect.poll(async () => (await slotSpans.status()).numTabs).toBe(1);
    expect((await slotSpans.generate('Once', { maxNewTokens: 2 })).usage.numOutputTokens).toBe(2);
  },
);

test(
  'a tab that closes right after it has sent leaves nothing behind',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const [first, second] = await site.openPair();
    const leader = await site.leader();
    const follower = leader === first ? second : first;
    await leader.configure({ batchWaitTimeoutMs: HELD_MS });
    await leader.page.evaluate(recordCounts);
    await follower.begin(sampledRequests(2, 0));
    await site.close(follower);
    await expect.poll(async () => (await leader.status()).numTabs).toBe(1);
    await leader.configure({ batchWaitTimeoutMs: 0 });
    await leader.generate('Once', { maxNewTokens: 2 });
    await leader.page.waitForFunction(() => window.counts === '0 running, 0 waiting');
  },
);

test('every tab shows whose request each row is, while it runs', { tag: ANY_BACKEND }, async ({ site }) => {
  const [first, second] = await site.openPair();
  await first.configure({ batchWaitTimeoutMs: HELD_MS });
  await first.begin([{ prompt: 'Once upon a time,', options: { maxNewTokens: 6 } }]);
  const own = first.page.locator('[data-request-id]');
  const foreign = second.page.locator('[data-request-id]');
  await expect(own).toHaveAttribute('data-owner', 'this tab');
  await expect(foreign).toHaveAttribute('data-owner', 'another tab');
  await expect(foreign).toHaveAttribute('data-status', 'waiting');
  const name = (await first.page.title()).split(' · ')[0] ?? '';
  expect(name).toMatch(/^Tab [12]$/);
  await expect(foreign).toContainText(name);
  await expect(second.page.getByRole('list', { name: 'Tabs' })).toContainText(
    new RegExp(`${name}( · runs the model)? · 1 waiting`),
  );
  await expect(foreign).toContainText('Once upon a time,');
  await expect(foreign.getByRole('button', { name: /Cancel/ })).toHaveCount(0);
  await first.configure({ batchWaitTimeoutMs: 0 });
  await expect(foreign).toHaveAttribute('data-status', 'finished');
  await expect(foreign).toContainText(/6 tokens/);
});

test('a tab that opens later sees what runs already', { tag: ANY_BACKEND }, async ({ site }) => {
  const [first] = await site.openReady(1);
  await first?.configure({ batchWaitTimeoutMs: HELD_MS });
  await first?.begin([{ prompt: 'Once', options: { maxNewTokens: 4 } }]);
  await first?.page.evaluate(() => window.tabserve.getHandle('adder').remote(1).result());
  const late = await site.open();
  await late.ready();
  await expect(late.page.locator('[data-request-id]')).toHaveAttribute('data-status', 'waiting');
  expect(await late.page.evaluate(() => window.tabserve.batches('adder').length)).toBe(1);
  await first?.configure({ batchWaitTimeoutMs: 0 });
  await expect(late.page.locator('[data-request-id]')).toHaveAttribute('data-status', 'finished');
});

test('the charts of all tabs are fed the same numbers', { tag: ANY_BACKEND }, async ({ site }) => {
  const tabs = await site.openReady(3);
  for (const tab of tabs) await tab.page.evaluate(recordStats);
  await tabs[1]?.generate('Once upon a time,', { maxNewTokens: 8 });
  await expect.poll(() => tabs[0]?.page.evaluate(() => window.statsSeen.at(-1)?.totals.finished)).toBe(1);
  const seen = await Promise.all(tabs.map((tab) => tab.page.evaluate(() => window.statsSeen)));
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test('the page says who runs the model, and for how many tabs', { tag: ANY_BACKEND }, async ({ site }) => {
  const [first, second] = await site.openPair();
  const leader = await site.leader();
  const follower = leader === first ? second : first;
  await expect(leader.page.getByRole('button', { name: /· 2 tabs$/ })).toBeVisible();
  for (const tab of [leader, follower]) await tab.openStatus();
  await expect(leader.page.getByTestId('num-tabs')).toHaveText('2');
  await expect(tabsIn(leader)).toContainText(/Tab [12], this one · runs the model/);
  await expect(tabsIn(follower)).toContainText(/Tab [12] · runs the model/);
  await site.close(leader);
  await expect(tabsIn(follower)).toHaveText(/^(This tab|Tab 2, this one) · runs the model$/);
  await expect(follower.page.getByTestId('num-tabs')).toHaveText('1');
});

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
    counts: string;
    statsSeen: TabserveStats[];
  }
}

/** Runs in the page. */
function recordCounts(): void {
  window.counts = '';
  window.tabserve.subscribe('stats', ({ numRunning, numWaiting }) => {
    window.counts = `${numRunning} running, ${numWaiting} waiting`;
  });
}

/** Runs in the page. */
function recordStats(): void {
  window.statsSeen = [];
  window.tabserve.subscribe('stats', (stats) => window.statsSeen.push(stats));
}

/** In the chip's box. */
function tabsIn({ page }: Tab): Locator {
  return page.getByRole('region', { name: 'Model and tabs' }).getByRole('list', { name: 'Tabs' });
}
