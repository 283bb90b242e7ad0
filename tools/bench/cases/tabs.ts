import type { Browser, BrowserContext, Page } from 'playwright';

import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { SAMPLE_PROMPTS } from '../../../src/ui/state/composer/sample-prompts.ts';
import { SMOLLM2_SIZE, smolLm2Size } from '../../hub-server/checkpoints/full-size-llama.ts';
import { createRepository } from '../../hub-server/hub-repository.ts';
import { startHubServer } from '../../hub-server/hub-server.ts';
import type { BenchCase, Samples, Setup } from '../bench-case.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import type { Column } from '../record.ts';
import { measurePages, type ServedPage } from '../with-pages.ts';
import { sampleRequests } from './engine-requests.ts';
import { play } from './play-in-page.ts';

declare global {
  interface Window {
    isStreaming?: boolean;
  }
}

const MANY_TABS = 8;
const PROMPTS = SAMPLE_PROMPTS.slice(0, 8);

const COLUMNS: readonly Column[] = [
  { name: 'next token after', unit: 'ms', digits: 0, shows: 'p50 / p95' },
  { name: 'without loading the model', unit: 'ms', digits: 0, shows: 'p50 / p95' },
];

/** How the tab that runs the model ends, and the model. */
interface End {
  readonly label: string;
  readonly isCrash?: true;
  readonly model?: string;
}

const ENDS: readonly End[] = [
  { label: 'is closed' },
  { label: 'crashes', isCrash: true },
  { label: 'is closed, a model of 135 M parameters', model: SMOLLM2_SIZE },
];

export const bench: BenchCase = {
  summary: 'what sharing a worker between tabs costs, and a hand-over',
  rounds: 5,
  choices: { backend: ['wasm', 'webgpu'] },
  hasVersions: true,
  async run(chosen, measure) {
    const { isShort, backend: name } = chosen;
    await using hub = await startHubServer([createRepository(SMOLLM2_SIZE, smolLm2Size())]);
    const open = async ({ browser, url: root }: ServedPage): Promise<Omit<Setup, 'browser'>> => {
      const url = `${root}/?backend=${name}`;
      const context = await browser.newContext();
      const { page, status } = await openReady(context, url);
      const { backend } = loadedOf(status);
      const requests = sampleRequests(8, isShort ? 8 : 48);
      const rate = () => play(page, { knobs: {}, requests, leastMs: 0 });
      const ends = isShort ? ENDS.slice(0, 2) : ENDS;
      return {
        key: name,
        model: 'Storyteller',
        adapter: `${backend.name} (${backend.adapter})`,
        note: 'Prompts of one tab, eight at once.',
        groups: [
          {
            caption: 'Eight requests of one tab',
            labels: ['tabs open'],
            columns: [{ name: 'tokens/s', digits: 1, shows: 'p50' }],
            ratio: { header: 'over one tab', column: 'tokens/s' },
            subjects: [
              { labels: ['1'], warmUp: rate, measure: rate },
              {
                labels: [String(MANY_TABS)],
                measure: () => besideOthers(context, url, rate),
              },
            ],
          },
          {
            caption: 'The tab that runs the model ends while another tab streams',
            labels: ['it'],
            columns: COLUMNS,
            subjects: ends.map((end) => ({
              labels: [end.label],
              measure: () => measureHandover(browser, url, hub.url, end),
            })),
          },
        ],
      };
    };
    await measurePages(chosen, { policy: contentSecurityPolicy([hub.url]) }, open, measure);
  },
};

/** Measures beside as many idle tabs as make `MANY_TABS`. */
async function besideOthers(
  context: BrowserContext,
  url: string,
  measure: () => Promise<Samples>,
): Promise<Samples> {
  const others: Page[] = [];
  for (let tab = 1; tab < MANY_TABS; tab++) others.push((await openReady(context, url)).page);
  const samples = await measure();
  for (const page of others) await page.close();
  return samples;
}

async function measureHandover(
  browser: Browser,
  url: string,
  hub: string,
  { isCrash, model }: End,
): Promise<Samples> {
  const context = await browser.newContext();
  const { page: leader } = await openReady(context, url);
  if (model !== undefined)
    await leader.evaluate(([id, from]) => window.tabserve.loadModel(id, { hub: from }), [
      model,
      hub,
    ] as const);
  const { page: follower } = await openReady(context, url);
  const handover = follower.evaluate(timeHandoverInPage, PROMPTS);
  await follower.waitForFunction(() => window.isStreaming);
  // Both clocks are the machine's.
  const lostAtMs = performance.timeOrigin + performance.now();
  if (isCrash) leader.goto('chrome://crash').catch(() => {});
  else await leader.close();
  const { nextTokenAtMs, loadMs } = await handover;
  await context.close();
  const totalMs = nextTokenAtMs - lostAtMs;
  return { 'next token after': totalMs, 'without loading the model': totalMs - loadMs };
}

/** Runs in the page, sent there as text. Streams until the first token after the worker is lost. */
async function timeHandoverInPage(prompts: readonly string[]) {
  const { tabserve } = window;
  const { timeOrigin } = performance;
  const generator = tabserve.getHandle('text-generator');
  const responses = prompts.map((prompt) => generator.remote(prompt, { maxNewTokens: 400 }));
  let loadStartedAtMs = Number.NaN;
  let readyAtMs = Number.NaN;
  const nextTokenAtMs = await new Promise<number>((resolve) => {
    tabserve.subscribe('status', ({ isHandover, state }) => {
      if (isHandover && Number.isNaN(loadStartedAtMs)) loadStartedAtMs = performance.now();
      if (state === 'ready' && !Number.isNaN(loadStartedAtMs)) readyAtMs = performance.now();
    });
    tabserve.subscribe('requests', (updates) => {
      if (!updates.some(({ type }) => type === 'chunk')) return;
      window.isStreaming = true;
      if (!Number.isNaN(readyAtMs)) resolve(performance.now());
    });
  });
  for (const response of responses) response.cancel();
  return { nextTokenAtMs: timeOrigin + nextTokenAtMs, loadMs: readyAtMs - loadStartedAtMs };
}
