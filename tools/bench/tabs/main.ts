import { parseArgs } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright';

import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { SAMPLE_PROMPTS } from '../../../src/ui/compose/sample-prompts.ts';
import { SMOLLM2_SIZE, smolLm2Size } from '../../hub-server/checkpoints/full-size-llama.ts';
import { createRepository } from '../../hub-server/hub-repository.ts';
import { startHubServer } from '../../hub-server/hub-server.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { parseBackend, parseCount } from '../command-line.ts';
import { conditionsOf } from '../conditions.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { percentilesOf, spreadOf } from '../statistics.ts';
import { withBrowser } from '../with-browser.ts';
import { generateInPage, timeHandoverInPage, type Handover } from './in-page.ts';
import { formatTabs } from './report.ts';
import { recordTabs, type TabsRun } from './results.ts';

interface TabsOptions {
  readonly backend: 'webgpu' | 'wasm';
  readonly rounds: number;
  readonly maxNewTokens: number;
}

const MANY_TABS = 8;
const NUM_REQUESTS = 8;
const PROMPTS = SAMPLE_PROMPTS.slice(0, NUM_REQUESTS);

const USAGE = `\
  --backend NAME      wasm (default) or webgpu
  --rounds N          times that each case is measured (default 5)
  --max-new-tokens N  tokens of each request (default 48)`;

export const bench = defineBench(USAGE, parseOptions, measureAndRecord);

function parseOptions(args: readonly string[]): TabsOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'wasm' },
      rounds: { type: 'string', default: '5' },
      'max-new-tokens': { type: 'string', default: '48' },
    },
  });
  return {
    backend: parseBackend(values.backend),
    rounds: parseCount('--rounds', values.rounds),
    maxNewTokens: parseCount('--max-new-tokens', values['max-new-tokens']),
  };
}

async function measureAndRecord(options: TabsOptions): Promise<void> {
  const hub = await startHubServer([await createRepository(SMOLLM2_SIZE, smolLm2Size())]);
  const policy = contentSecurityPolicy([hub.url]);
  const site = { root: await buildPage(), args: WEBGPU_ARGUMENTS, policy };
  try {
    const run = await withBrowser(site, ({ browser, version, url }) =>
      new TabsBench(browser, url, hub.url, options).run(version),
    );
    console.log(`\n${formatTabs(run)}\n\nRecorded in ${await recordTabs(run)}`);
  } finally {
    await hub.close();
  }
}

class TabsBench {
  readonly #browser: Browser;
  readonly #url: string;
  readonly #hubUrl: string;
  readonly #options: TabsOptions;

  constructor(browser: Browser, url: string, hubUrl: string, options: TabsOptions) {
    this.#browser = browser;
    this.#url = url;
    this.#hubUrl = hubUrl;
    this.#options = options;
  }

  async run(version: string): Promise<TabsRun> {
    const { backend, rounds, maxNewTokens } = this.#options;
    const command = `tabs --backend ${backend} --rounds ${rounds} --max-new-tokens ${maxNewTokens}`;
    const conditions = conditionsOf(command, version);
    const { status, oneTab, manyTabs } = await this.#measureCostOfTabs();
    const closed = await this.#measureHandovers('closed');
    const crashed = await this.#measureHandovers('crashed');
    const fullSize = await this.#measureHandovers('closed', SMOLLM2_SIZE);
    return {
      ...conditions,
      backend: loadedOf(status).backend,
      settings: { rounds, maxNewTokens, numTabs: MANY_TABS, numRequests: NUM_REQUESTS },
      tokensPerSecond: { oneTab: spreadOf(oneTab), manyTabs: spreadOf(manyTabs) },
      handover: {
        closed: summarizeHandovers(closed),
        crashed: summarizeHandovers(crashed),
        fullSize: summarizeHandovers(fullSize),
      },
    };
  }

  /** Tokens per second of the same requests of one tab, alone and beside seven idle tabs, alternating. */
  async #measureCostOfTabs() {
    const context = await this.#browser.newContext();
    const { page: first, status } = await this.#openTab(context);
    const oneTab: number[] = [];
    const manyTabs: number[] = [];
    await this.#measureRate(first);
    for (let round = 1; round <= this.#options.rounds; round++) {
      oneTab.push(await this.#measureRate(first));
      const others = await Promise.all(Array.from({ length: MANY_TABS - 1 }, () => this.#openTab(context)));
      manyTabs.push(await this.#measureRate(first));
      await Promise.all(others.map(({ page }) => page.close()));
      console.log(
        `round ${round}: ${oneTab.at(-1)?.toFixed(1)} tokens/s with one tab, ` +
          `${manyTabs.at(-1)?.toFixed(1)} with ${MANY_TABS}`,
      );
    }
    await context.close();
    return { status, oneTab, manyTabs };
  }

  #measureRate(page: Page): Promise<number> {
    return page.evaluate(generateInPage, { prompts: PROMPTS, maxNewTokens: this.#options.maxNewTokens });
  }

  async #measureHandovers(fate: 'closed' | 'crashed', model?: string): Promise<readonly Handover[]> {
    const handovers: Handover[] = [];
    for (let round = 1; round <= this.#options.rounds; round++) {
      const handover = await this.#measureHandover(fate, model);
      handovers.push(handover);
      const which = `leader ${fate}${model === undefined ? '' : ` (${model})`}`;
      console.log(`round ${round}: ${which}, next token after ${Math.round(handover.totalMs)} ms`);
    }
    return handovers;
  }

  /** Ends the leader while a follower streams. */
  async #measureHandover(fate: 'closed' | 'crashed', model: string | undefined): Promise<Handover> {
    const context = await this.#browser.newContext();
    const { page: leader } = await this.#openTab(context);
    if (model !== undefined) {
      const load = [model, this.#hubUrl] as const;
      await leader.evaluate(([id, hub]) => window.tabserve.loadModel(id, { hub }), load);
    }
    const { page: follower } = await this.#openTab(context);
    const handover = follower.evaluate(timeHandoverInPage, { prompts: PROMPTS });
    await follower.waitForFunction(() => window.isStreaming);
    // Both clocks are the machine's.
    const lostAtMs = performance.timeOrigin + performance.now();
    if (fate === 'crashed') leader.goto('chrome://crash').catch(() => {});
    else await leader.close();
    const { nextTokenAtMs, loadMs } = await handover;
    await context.close();
    return { totalMs: nextTokenAtMs - lostAtMs, loadMs };
  }

  #openTab(context: BrowserContext) {
    return openReady(context, `${this.#url}/?backend=${this.#options.backend}`);
  }
}

function summarizeHandovers(handovers: readonly Handover[]) {
  return {
    totalMs: percentilesOf(handovers.map(({ totalMs }) => totalMs)),
    withoutLoadMs: percentilesOf(handovers.map(({ totalMs, loadMs }) => totalMs - loadMs)),
  };
}
