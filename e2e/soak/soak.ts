import type { Browser } from 'playwright/test';

import housePrices from '../../tools/reference/fixtures/house-price-reference.json' with { type: 'json' };
import { residentBytes } from '../../tools/bench/process-memory.ts';
import { REJECTIONS, type FaultPlan, type InjectedFault } from '../faults/inject-faults.ts';
import { collectedHeaps } from '../support/collected-heaps.ts';
import { sampledRequests } from '../support/sampled-requests.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Site } from '../support/site.ts';
import type { Backend, Tab } from '../support/tab.ts';
import { startLoad, type LoadCounts } from './page-load.ts';

export interface SoakOptions {
  readonly browser: Browser;
  readonly url: string;
  readonly backend: Backend;
  readonly minutes: number;
  readonly seed: number;
}

/** Bytes: JavaScript's heaps of all pages, after a garbage collection; all processes of pages; the GPU process, with a software adapter's memory. */
type MemorySample = Readonly<Record<'heap' | 'renderers' | 'gpu', number>>;

const NUM_TABS = 3;
/** Samples of the whole run, each with a garbage collection in every tab. */
const NUM_SAMPLES = 24;
const SAMPLES_PER_RELOAD = 4;
/** Runs of the model after a worker's first token, in which it dies. */
const MAX_RUNS = { webgpu: 60, wasm: 400 } as const;
const FAULTS: Readonly<Record<Backend, readonly InjectedFault[]>> = {
  webgpu: ['device-lost', 'gpu-error', 'gpu-out-of-memory', 'run-rejected', 'worker-ended'],
  wasm: ['worker-ended', 'wasm-abort', 'wasm-out-of-memory', 'run-rejected', 'worker-throw'],
};
/** More requests than a tab keeps, and more steps. */
const NUM_TO_FILL = 4500;

/** Three tabs submit, read, cancel and reload while one worker after the other dies. In the end, every request must be answered. */
export async function runSoak({ browser, url, backend, minutes, seed }: SoakOptions) {
  const random = seededRandom(seed);
  const faults: Record<string, number> = {};
  let isCalm = true;
  let numPlanned = 0;
  const nextPlan = (): FaultPlan => {
    if (isCalm) return {};
    const kinds = FAULTS[backend];
    // Faults rotate, so that a short run has all of them.
    const fault = kinds[numPlanned++ % kinds.length] ?? 'run-rejected';
    faults[fault] = (faults[fault] ?? 0) + 1;
    return { fault, isAfterToken: true, atRun: 1 + Math.floor(MAX_RUNS[backend] * random()) };
  };
  const context = await browser.newContext({ baseURL: url });
  await context.route('**/faults.json', (route) => route.fulfill({ json: nextPlan() }));
  const site = new Site(context, backend);
  const tabs = await site.openReady(NUM_TABS);
  const leader = await site.leader();
  const requests = sampledRequests(9, 0, 40);
  const results = await leader.generateAll(requests);
  const known = requests.map((request, index) => ({ ...request, text: results[index]?.text ?? '' }));
  const [house] = housePrices.houses;
  if (!house) throw new Error('There is no house.');
  const load = { known, house, injected: Object.values(REJECTIONS) };
  // What a tab keeps grows until its lists are full. What grows from then on is kept for no reason.
  await leader.page.evaluate(async (numRequests) => {
    // One request comes after the other, so that each has steps of its own.
    for (let index = 0; index < numRequests; index += 1)
      await window.tabserve.generate('Once upon a time', { maxNewTokens: 5, ignoreEos: true }).result();
  }, NUM_TO_FILL);
  isCalm = false;
  // Restarting the tab ends the worker without faults. The following ones have their planned faults.
  await restart(site, leader);
  for (const [index, { page }] of tabs.entries())
    await page.evaluate(startLoad, { ...load, seed: seed + index });

  const counts: LoadCounts[] = [];
  const samples: MemorySample[] = [];
  const endMs = performance.now() + 60_000 * minutes;
  let numReloads = 0;
  while (performance.now() < endMs) {
    await new Promise((resolve) => void setTimeout(resolve, (60_000 * minutes) / NUM_SAMPLES));
    samples.push(await sampleMemory(browser, tabs));
    const tab = tabs[Math.floor(random() * tabs.length)];
    if (samples.length % SAMPLES_PER_RELOAD !== 0 || !tab) continue;
    counts.push(await endLoad(tab));
    await restart(site, tab);
    numReloads += 1;
    await tab.page.evaluate(startLoad, { ...load, seed: seed + 100 * numReloads });
  }
  isCalm = true;
  counts.push(...(await Promise.all(tabs.map(endLoad))));
  const consoleErrors = tabs.flatMap(({ errors }) => errors.filter((error) => !error.includes('injected')));
  await context.close();
  const sumOf = (name: 'finished' | 'cancelled' | 'answered' | 'refused'): number =>
    counts.reduce((sum, count) => sum + count[name], 0);
  const complaints = counts.flatMap((count) => count.complaints);
  const finished = sumOf('finished');
  const growth = (['heap', 'renderers', 'gpu'] as const).map((name) => {
    const perMinute = (meanOf(samples, name, 2) - meanOf(samples, name, 1)) / (minutes / 3);
    return `${name} ${megabytes(samples.at(-1)?.[name] ?? 0)} MB, ${megabytes(perMinute)} MB a minute`;
  });
  const lines = [
    `${finished} texts, ${sumOf('answered')} answers and ${sumOf('cancelled')} cancellations; ${complaints.length} not as without faults; ${sumOf('refused')} prices refused whose own run was hit`,
    `${numPlanned} faults planned (${JSON.stringify(faults)}), ${numReloads} reloads, ${consoleErrors.length} errors on the console`,
    growth.join('; '),
  ];
  const heapGrowth = meanOf(samples, 'heap', 2) / meanOf(samples, 'heap', 0);
  return { lines, complaints, consoleErrors, finished, faults, heapGrowth };
}

async function restart(site: Site, tab: Tab): Promise<void> {
  await site.reload(tab);
  await tab.ready();
}

async function sampleMemory(browser: Browser, tabs: readonly Tab[]): Promise<MemorySample> {
  // The test's own record of steps would grow.
  await Promise.all(tabs.map((tab) => tab.forget()));
  const heaps = await Promise.all(tabs.map(({ page }) => collectedHeaps(page)));
  const bytesOf = async (type: string): Promise<number> =>
    (await residentBytes(browser, type)).reduce((sum, bytes) => sum + bytes, 0);
  return {
    heap: heaps.reduce((sum, { page }) => sum + page, 0),
    renderers: await bytesOf('renderer'),
    gpu: await bytesOf('GPU'),
  };
}

function meanOf(samples: readonly MemorySample[], name: keyof MemorySample, third: number): number {
  const [from, to] = [third, third + 1].map((end) => Math.floor((end * samples.length) / 3));
  const values = samples.slice(from, to).map((sample) => sample[name]);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function endLoad({ page }: Tab): Promise<LoadCounts> {
  const counts = await page.evaluate(() => window.endLoad?.());
  if (!counts) throw new Error('The page has no load.');
  return counts;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
