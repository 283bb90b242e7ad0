import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type BrowserContext, type Page } from 'playwright';
import { build } from 'vite';

import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { startServer } from '../../../bridge/server.ts';
import { SMOLLM2_SIZE, smolLm2Size } from '../../hub-server/checkpoints/full-size-llama.ts';
import { createRepository } from '../../hub-server/hub-repository.ts';
import { startHubServer } from '../../hub-server/hub-server.ts';
import { SAMPLE_PROMPTS } from '../../../src/ui/compose/sample-prompts.ts';
import type { ServeStatus } from '../../../src/protocol/status.ts';
import { percentilesOf, spreadOf } from '../statistics.ts';
import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { generateInPage, timeHandoverInPage, type Handover } from './in-page.ts';
import { formatTabs } from './report.ts';
import { recordTabs, type TabsRun } from './results.ts';

// What sharing a worker costs, and what losing the tab that runs it costs.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const MANY_TABS = 8;
const NUM_REQUESTS = 8;

const { values } = parseArgs({
  options: {
    backend: { type: 'string', default: 'wasm' },
    rounds: { type: 'string', default: '5' },
    'max-new-tokens': { type: 'string', default: '48' },
  },
});
const backend = values.backend;
const numRounds = Number(values.rounds);
const maxNewTokens = Number(values['max-new-tokens']);

await build({ root: ROOT, logLevel: 'warn' });
const found = await findBrowser();
const hub = await startHubServer([await createRepository(SMOLLM2_SIZE, smolLm2Size())]);
const server = await startServer({
  host: 'localhost',
  port: 0,
  root: `${ROOT}/dist`,
  policy: contentSecurityPolicy([hub.url]),
});
const browser = await chromium.launch({ executablePath: found.path, args: [...WEBGPU_ARGUMENTS] });
try {
  const { status, oneTab, manyTabs } = await measureCostOfTabs();
  const handovers = { closed: await measureHandovers('closed'), crashed: await measureHandovers('crashed') };
  const fullSize = await measureHandovers('closed', SMOLLM2_SIZE);
  const run: TabsRun = {
    startedAt: new Date().toISOString(),
    command: `npm run bench:tabs -- --backend ${backend} --rounds ${numRounds} --max-new-tokens ${maxNewTokens}`,
    browser: found.version,
    backend: requireBackend(status),
    settings: { rounds: numRounds, maxNewTokens, numTabs: MANY_TABS, numRequests: NUM_REQUESTS },
    tokensPerSecond: { oneTab: spreadOf(oneTab), manyTabs: spreadOf(manyTabs) },
    handover: {
      closed: summarizeHandovers(handovers.closed),
      crashed: summarizeHandovers(handovers.crashed),
      fullSize: summarizeHandovers(fullSize),
    },
  };
  console.log(`\n${formatTabs(run)}\n\nRecorded in ${await recordTabs(run)}`);
} finally {
  await browser.close();
  await Promise.all([server.close(), hub.close()]);
}

/** Tokens per second of the same requests of one tab, alone and with seven idle ones beside it, in turns. */
async function measureCostOfTabs() {
  const context = await browser.newContext();
  const first = await openTab(context);
  const status = await first.evaluate(() => window.tabserve.status());
  const oneTab: number[] = [];
  const manyTabs: number[] = [];
  await measureRate(first);
  for (let round = 0; round < numRounds; round++) {
    oneTab.push(await measureRate(first));
    const others = await Promise.all(Array.from({ length: MANY_TABS - 1 }, () => openTab(context)));
    manyTabs.push(await measureRate(first));
    await Promise.all(others.map((page) => page.close()));
    console.log(
      `round ${round + 1}: ${oneTab.at(-1)?.toFixed(1)} tokens/s with one tab, ` +
        `${manyTabs.at(-1)?.toFixed(1)} with ${MANY_TABS}`,
    );
  }
  await context.close();
  return { status, oneTab, manyTabs };
}

function measureRate(page: Page): Promise<number> {
  return page.evaluate(generateInPage, { prompts: SAMPLE_PROMPTS.slice(0, NUM_REQUESTS), maxNewTokens });
}

/** A follower streams when the leader goes: how long until its next token, and how much of that is the model's load. */
async function measureHandovers(fate: 'closed' | 'crashed', model?: string): Promise<Handover[]> {
  const handovers: Handover[] = [];
  for (let round = 0; round < numRounds; round++) {
    const context = await browser.newContext();
    const leader = await openTab(context);
    if (model !== undefined)
      await leader.evaluate(([id, url]) => window.tabserve.loadModel(id, { hub: url }), [
        model,
        hub.url,
      ] as const);
    const follower = await openTab(context);
    const prompts = SAMPLE_PROMPTS.slice(0, NUM_REQUESTS);
    const handover = follower.evaluate(timeHandoverInPage, { prompts });
    await follower.waitForFunction(() => window.isStreaming);
    // Both clocks are the machine's.
    const lostAtMs = performance.timeOrigin + performance.now();
    if (fate === 'crashed') leader.goto('chrome://crash').catch(() => {});
    else await leader.close();
    const { nextTokenAtMs, loadMs } = await handover;
    handovers.push({ totalMs: nextTokenAtMs - lostAtMs, loadMs });
    await context.close();
    console.log(
      `round ${round + 1}: leader ${fate}${model === undefined ? '' : ` (${model})`}, next token after ${Math.round(nextTokenAtMs - lostAtMs)} ms`,
    );
  }
  return handovers;
}

function summarizeHandovers(handovers: readonly Handover[]) {
  return {
    totalMs: percentilesOf(handovers.map(({ totalMs }) => totalMs)),
    withoutLoadMs: percentilesOf(handovers.map(({ totalMs, loadMs }) => totalMs - loadMs)),
  };
}

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server.url}/?backend=${backend}`);
  await page.waitForFunction(() => 'tabserve' in window);
  await page.evaluate(() => window.tabserve.ready());
  return page;
}

function requireBackend(status: ServeStatus): TabsRun['backend'] {
  if (!status.backend) throw new Error('The page is ready but names no backend');
  return status.backend;
}
