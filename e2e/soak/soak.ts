import type { Browser, BrowserContext, Page } from 'playwright';

import { fillLists, LISTS } from './fill-lists.ts';
import { REJECTIONS, type FaultPlan, type InjectedFault } from '../faults/inject-faults.ts';
import { sampleMemory, slopeOf, type MemorySample } from './memory.ts';
import { startLoad, type KnownRequest, type LoadCounts, type LoadOptions } from './page-load.ts';

export interface SoakOptions {
  readonly browser: Browser;
  /** Address of the build that can cause faults. */
  readonly url: string;
  readonly backend: 'webgpu' | 'wasm';
  readonly minutes: number;
  readonly seed: number;
}

export interface SoakReport extends LoadCounts {
  readonly faults: Readonly<Record<string, number>>;
  readonly numReloads: number;
  /** Errors that were not injected. */
  readonly consoleErrors: readonly string[];
  readonly samples: readonly MemorySample[];
}

const NUM_TABS = 3;
const NUM_KNOWN = 12;
/** Samples of the whole run, each with a garbage collection in every tab. */
const NUM_SAMPLES = 24;
/** Samples between two reloads of a tab. */
const SAMPLES_PER_RELOAD = 4;
/** Runs of the model after a worker's first token, in which it dies. */
const MAX_RUNS = { webgpu: 60, wasm: 400 } as const;
const FAULTS: Readonly<Record<SoakOptions['backend'], readonly InjectedFault[]>> = {
  webgpu: ['device-lost', 'gpu-error', 'gpu-out-of-memory', 'run-rejected', 'worker-ended'],
  wasm: ['worker-ended', 'wasm-abort', 'wasm-out-of-memory', 'run-rejected', 'worker-throw'],
};
const PROMPTS = [
  'Once upon a time, there was a little dog',
  'The sun was',
  'Tom and Anna went to the park. They saw',
  'One day, a big red ball',
];
const HOUSE_FEATURES = [151, 4, 2, 33, 32.9, 150, 0.09, 1];

/** Three tabs submit, read, cancel and reload while one worker after the other dies. In the end, every request must be answered. */
export async function runSoak({ browser, url, backend, minutes, seed }: SoakOptions): Promise<SoakReport> {
  const random = randomOf(seed);
  const faults: Record<string, number> = {};
  const consoleErrors: string[] = [];
  let isCalm = true;
  let numPlanned = 0;
  const nextPlan = (): FaultPlan => {
    if (isCalm) return {};
    const kinds = FAULTS[backend];
    // Faults rotate, so that a short run has all of them.
    const fault = kinds[numPlanned % kinds.length] ?? 'run-rejected';
    numPlanned += 1;
    faults[fault] = (faults[fault] ?? 0) + 1;
    return { fault, isAfterToken: true, atRun: 1 + Math.floor(MAX_RUNS[backend] * random()) };
  };
  const context = await browser.newContext({ baseURL: url });
  await context.route('**/faults.json', (route) => route.fulfill({ json: nextPlan() }));
  const openTab = (): Promise<Page> => open(context, backend, consoleErrors);
  const load = await learn(await openTab());
  const pages = [...context.pages(), await openTab(), await openTab()].slice(0, NUM_TABS);
  // What grows from then on is kept for no reason.
  await pages[0]?.evaluate(fillLists, LISTS);
  const counts: LoadCounts[] = [];
  const samples: MemorySample[] = [];
  isCalm = false;
  // Restarting the tab ends the worker without faults. The following ones have their planned faults.
  await restart(pages[0], backend);
  for (const [index, page] of pages.entries())
    await page.evaluate(startLoad, { ...load, seed: seed + index });

  const endMs = performance.now() + 60_000 * minutes;
  let numReloads = 0;
  while (performance.now() < endMs) {
    await new Promise((resolve) => void setTimeout(resolve, (60_000 * minutes) / NUM_SAMPLES));
    samples.push(await sampleMemory(browser, pages));
    if (samples.length % SAMPLES_PER_RELOAD !== 0) continue;
    const page = pages[Math.floor(random() * pages.length)];
    if (!page) continue;
    counts.push(await endLoad(page));
    await restart(page, backend);
    numReloads += 1;
    await page.evaluate(startLoad, { ...load, seed: seed + 100 * numReloads });
  }
  isCalm = true;
  counts.push(...(await Promise.all(pages.map(endLoad))));
  await context.close();
  return { ...sumOf(counts), faults, numReloads, consoleErrors, samples };
}

export function describeReport(report: SoakReport): readonly string[] {
  const { finished, cancelled, answered, refused, complaints, faults, numReloads, consoleErrors, samples } =
    report;
  const numFaults = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const kinds = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`);
  const slopes = (['heap', 'renderers', 'gpu'] as const).map((name) => {
    const last = samples.at(-1)?.[name] ?? 0;
    return `${name} ${megabytes(last)} MB, ${megabytes(slopeOf(samples, name))} MB a minute`;
  });
  return [
    `${finished} texts, ${answered} answers and ${cancelled} cancellations; ${complaints.length} not as without faults; ${refused} prices refused whose own run was hit`,
    `${numFaults} faults planned (${kinds.join(', ')}), ${numReloads} reloads, ${consoleErrors.length} errors on the console`,
    slopes.join('; '),
    ...complaints.slice(0, 10),
    ...consoleErrors.slice(0, 10),
  ];
}

async function open(
  context: BrowserContext,
  backend: SoakOptions['backend'],
  consoleErrors: string[],
): Promise<Page> {
  const page = await context.newPage();
  const note = (text: string): void => void (text.includes('injected') || consoleErrors.push(text));
  page.on('pageerror', (error) => note(String(error)));
  page.on('console', (message) => message.type() === 'error' && note(message.text()));
  await restart(page, backend);
  return page;
}

async function restart(page: Page | undefined, backend: SoakOptions['backend']): Promise<void> {
  await page?.goto(`/?backend=${backend}`);
  await page?.waitForFunction(() => window.tabserve?.status().state === 'ready', undefined, {
    timeout: 300_000,
  });
}

/** The text of each request without faults. */
async function learn(page: Page): Promise<Omit<LoadOptions, 'seed'>> {
  const requests = Array.from({ length: NUM_KNOWN }, (_, index) => ({
    prompt: PROMPTS[index % PROMPTS.length] ?? '',
    options: { seed: index, maxNewTokens: 8 + 4 * index, temperature: index % 3 === 0 ? 0 : 0.9 },
  }));
  return page.evaluate(
    async ({ given, features, injected }) => {
      const serve = window.tabserve;
      if (!serve) throw new Error('The page has no client.');
      const generator = serve.getHandle('text-generator');
      const known = await Promise.all(
        given.map(async (request): Promise<KnownRequest> => {
          const { text } = await generator.remote(request.prompt, request.options).result();
          return { ...request, text };
        }),
      );
      const price = await serve.getHandle('house-price').remote(features);
      return { known, house: { features, price }, injected };
    },
    { given: requests, features: HOUSE_FEATURES, injected: Object.values(REJECTIONS) },
  );
}

async function endLoad(page: Page): Promise<LoadCounts> {
  const counts = await page.evaluate(() => window.endLoad?.());
  if (!counts) throw new Error('The page has no load.');
  return counts;
}

function sumOf(counts: readonly LoadCounts[]): LoadCounts {
  const sum = (name: 'finished' | 'cancelled' | 'answered' | 'refused'): number =>
    counts.reduce((total, count) => total + count[name], 0);
  return {
    finished: sum('finished'),
    cancelled: sum('cancelled'),
    answered: sum('answered'),
    refused: sum('refused'),
    complaints: counts.flatMap(({ complaints }) => complaints),
  };
}

/** Numbers in [0, 1) that a seed repeats. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
