import { setTimeout as sleep } from 'node:timers/promises';

import { rendererOf } from '../tools/bench/process-memory.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Streamed, Tab, TextRequest } from './support/tab.ts';

// A stopped process keeps its locks and its files, and its pages and workers run no code: a tab that the system suspends.

const NUM_TABS = IS_WHOLE ? 4 : 2;
const NUM_PER_TAB = 16 / NUM_TABS;
const NUM_TOKENS = IS_WHOLE ? 120 : 60;
/** Longer than another tab takes to notice and to serve, so that about half of the wakings come before that. */
const LONGEST_SLEEP_MS = 14_000;
/** How long a request may stand still. A machine that runs other tests too gets twice as long. */
const LONGEST_PAUSE_MS = IS_WHOLE ? 10_000 : 20_000;

test(
  'whenever the tab that leads is stopped and woken, sixteen texts end as if nothing had happened',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const numRounds = IS_WHOLE ? 20 : 1;
    test.setTimeout(120_000 + numRounds * 60_000);
    const random = seededRandom(runSeed());
    await site.openReady(NUM_TABS);
    const processes = await renderersOf(site);
    const requests = site.tabs.map((_, index) => endless(sampledRequests(NUM_PER_TAB, index, NUM_TOKENS)));
    const expected = await Promise.all(
      site.tabs.map(async (tab, index) =>
        (await tab.generateAll(requests[index] ?? [])).map(({ text }) => text),
      ),
    );
    const pauses: number[] = [];
    for (let round = 0; round < numRounds; round += 1) {
      const tabs = [...site.tabs];
      await Promise.all(tabs.map((tab) => tab.forget()));
      await Promise.all(tabs.map((tab, index) => tab.begin(requests[index] ?? [])));
      await Promise.all(tabs.map((tab) => tab.whenStreamed(1 + Math.floor(random() * 60))));
      const leader = await site.leader();
      const sleepMs = Math.floor(random() * LONGEST_SLEEP_MS);
      const wake = suspend(processes.get(leader) ?? 0, LONGEST_SLEEP_MS);
      const others = tabs.filter((tab) => tab !== leader);
      const gaps = Promise.all(others.map((tab) => longestGapOf(tab)));
      await sleep(sleepMs);
      wake();
      pauses.push(Math.round(Math.max(...(await gaps))));
      for (const [index, tab] of tabs.entries()) {
        const outcomes = await tab.outcomesOfBegun();
        const where = `round ${round}, stopped for ${sleepMs} ms, tab ${index}`;
        expect(outcomes.map(textOf), where).toEqual(expected[index]);
        expectNothingLostOrDoubled(outcomes);
        await tab.page.evaluate(() => (window.begun = []));
      }
      await site.leader();
      await expect.poll(() => site.numWorkers).toBe(1);
    }
    console.log(`    texts stood still for ${pauses.join(', ')} ms`);
    expect(Math.max(...pauses)).toBeLessThan(LONGEST_PAUSE_MS);
  },
);

/** What keeps a page or a worker from answering, though its process runs. Each resolves with a function that ends it. */
const OBSTACLES: Readonly<Record<string, (site: Site, leader: Tab) => Promise<() => Promise<void>>>> = {
  'its page computes': async (_, { page }) => {
    const busy = page.evaluate(spin, LONG_MS);
    return () => busy;
  },
  'its worker computes': async (_, { page }) => {
    const worker = page.workers().find((each) => /\/main-[^/]*\.js$/.test(each.url()));
    const busy = worker?.evaluate(block, LONG_MS);
    return async () => busy;
  },
  'its page shows a dialog': async (_, { page }) => {
    const shown = page.waitForEvent('dialog');
    const closed = page.evaluate(() => alert('Wait.'));
    const dialog = await shown;
    return async () => {
      await dialog.accept();
      await closed;
    };
  },
  'a debugger stops its page': (site, leader) => site.hang(leader),
};

/** A page and a worker that can't answer. */
const IN_SHORT = ['its worker computes', 'a debugger stops its page'];

/** Much longer than a tab bears a silence. */
const LONG_MS = 8000;

test('a tab goes on leading while it is busy', { tag: ANY_BACKEND }, async ({ site }) => {
  const [, follower] = await site.openPair();
  const leader = await site.leader();
  const other = follower === leader ? (await site.followers())[0] : follower;
  if (!other) throw new Error('There is no follower.');
  // So that the other tab waits for hours.
  await leader.configure({ policy: 'static', maxBatchSize: 8, batchWaitTimeoutMs: 3_600_000 });
  await other.begin(sampledRequests(1, 0));
  for (const [obstacle, begin] of Object.entries(OBSTACLES)) {
    if (!IS_WHOLE && !IN_SHORT.includes(obstacle)) continue;
    await test.step(obstacle, async () => {
      const end = await begin(site, leader);
      const numAsks = await other.page.evaluate(countAsks, LONG_MS);
      await end();
      expect(numAsks, 'the other tab has asked').toBeGreaterThan(2);
      expect((await leader.status()).role).toBe('leader');
      expect((await other.status()).role).toBe('follower');
    });
  }
  await leader.configure({ policy: 'continuous', batchWaitTimeoutMs: 0 });
  expect((await other.outcomesOfBegun()).map(({ code }) => code)).toEqual([undefined]);
});

test(
  'a job of a tab that is stopped is refused by name, and goes on once that tab is woken, each row once',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    await site.openPair();
    const processes = await renderersOf(site);
    const leader = await site.leader();
    const [other] = await site.followers();
    if (!other) throw new Error('There is no follower.');
    const numRows = 60;
    const id = await other.page.evaluate(async (count) => {
      const rows = Array.from({ length: count }, (_, number) => ({ number: String(number) }));
      const options = { maxNewTokens: 12, ignoreEos: true };
      return (await window.tabserve.jobs.create({ rows, template: 'Number {{number}} ', options })).id;
    }, numRows);
    const numDone = () =>
      other.page.evaluate(async () => (await window.tabserve.jobs.list())[0]?.info.counts.finished ?? 0);
    await expect.poll(numDone, { intervals: [20] }).toBeGreaterThan(4);
    const wake = suspend(processes.get(leader) ?? 0, 60_000);
    const refusal = await other.page.evaluate(() =>
      window.tabserve.jobs.list().then(
        () => 'listed',
        (error: { code: string }) => error.code,
      ),
    );
    expect(refusal).toBe('JOB_STORE_FAILED');
    expect((await other.status()).role).toBe('leader');
    wake();
    await expect.poll(() => numDone().catch(() => 0)).toBe(numRows);
    const indices = await other.page.evaluate(async (jobId) => {
      const found: number[] = [];
      const job = await window.tabserve.jobs.get(jobId);
      for await (const { index, result } of job.results()) if (result.text) found.push(index);
      return found;
    }, id);
    expect(indices).toEqual(Array.from({ length: numRows }, (_, index) => index));
    expect((await leader.status()).role).toBe('follower');
  },
);

/** Runs in a worker, which answers nothing meanwhile, as one that computes. */
function block(durationMs: number): void {
  const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  Atomics.wait(new Int32Array(buffer), 0, 0, durationMs);
}

function spin(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

/** How often tabs ask for a sign of the leader's life in this time. */
async function countAsks(durationMs: number): Promise<number> {
  let numAsks = 0;
  const channel = new BroadcastChannel('tabserve:liveness');
  channel.addEventListener('message', ({ data }) => {
    if (data === 'ask') numAsks += 1;
  });
  await new Promise((resolve) => void setTimeout(resolve, durationMs));
  channel.close();
  return numAsks;
}

/** Resolves once this tab's requests have ended, with its longest time without a token until then. */
function longestGapOf(tab: Tab): Promise<number> {
  return tab.page.evaluate(async () => {
    let longestMs = 0;
    let lastMs = performance.now();
    const stop = window.tabserve.subscribe('requests', () => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    });
    await Promise.allSettled(window.begun ?? []);
    stop();
    return longestMs;
  });
}

/** Playwright's pages of one site have a process each. */
async function renderersOf(site: Site): Promise<Map<Tab, number>> {
  const processes = new Map<Tab, number>();
  for (const tab of site.tabs) processes.set(tab, await rendererOf(tab.page));
  expect(new Set(processes.values()).size, 'processes').toBe(site.tabs.length);
  return processes;
}

function endless(requests: readonly TextRequest[]): TextRequest[] {
  return requests.map(({ prompt, options }) => ({ prompt, options: { ...options, ignoreEos: true } }));
}

function textOf({ value, code, message }: Streamed): string {
  return value?.text ?? `${code}: ${message}`;
}

function expectNothingLostOrDoubled(outcomes: readonly Streamed[]): void {
  for (const { streamed, value } of outcomes) {
    expect(streamed.tokenIds).toEqual(value?.tokenIds);
    expect(streamed.text).toBe(value?.generatedText);
  }
}

/**
 * Stops a page's process with its worker, as a system does that suspends it, and lets it run again after this time at the latest.
 * Returns a function that wakes it now.
 */
function suspend(pid: number, maxMs: number): () => void {
  process.kill(pid, 'SIGSTOP');
  const wake = (): void => {
    clearTimeout(timer);
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // A test that failed has closed the page.
    }
  };
  const timer = setTimeout(wake, maxMs);
  return wake;
}
