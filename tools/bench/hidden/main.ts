import { parseArgs } from 'node:util';
import { setTimeout as timePassed } from 'node:timers/promises';
import type { Page } from 'playwright';

import { startServer } from '../../../bridge/server.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { parseCount } from '../command-line.ts';
import { conditionsOf } from '../conditions.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { loadSmollm2, smollm2Prompts, startSmollm2Hub } from '../smollm2.ts';
import { spreadOf } from '../statistics.ts';
import { generateInPage } from '../tabs/in-page.ts';
import { recordHidden, type HiddenRun } from '../tabs/results.ts';
import { hiddenReportOf } from './report.ts';
import { withWindow } from './with-window.ts';

interface HiddenOptions {
  readonly rounds: number;
}

const NUM_REQUESTS = 8;
const MAX_NEW_TOKENS = 32;
/** Chromium throttles the timers of a tab that has been hidden for a minute. */
const LONG_HIDDEN_MS = 75_000;

const USAGE = `\
  --rounds N  times that each case is measured, alternating (default 3)`;

export const bench = defineBench(USAGE, parseOptions, measureAndRecord);

function parseOptions(args: readonly string[]): HiddenOptions {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '3' } } });
  return { rounds: parseCount('--rounds', values.rounds) };
}

async function measureAndRecord({ rounds }: HiddenOptions): Promise<void> {
  const hub = await startSmollm2Hub();
  const policy = contentSecurityPolicy([hub.url]);
  const site = await startServer({ host: 'localhost', port: 0, root: await buildPage(), policy });
  try {
    const run = await measure(`${site.url}/?backend=wasm`, hub.url, rounds);
    console.log(`\n${hiddenReportOf(run)}\n\nRecorded in ${await recordHidden(run)}`);
  } finally {
    await site.close();
    await hub.close();
  }
}

/** The first tab leads and so runs the model; the second one asks. Each takes its turn in front. */
function measure(url: string, hub: string, rounds: number): Promise<HiddenRun> {
  return withWindow(async ({ context, version }) => {
    const conditions = conditionsOf(`hidden --rounds ${rounds}`, version);
    const { page: leader } = await openReady(context, url);
    const status = await loadSmollm2(leader, hub, 'fp32');
    const { page: follower } = await openReady(context, url);
    await follower.evaluate(() => window.tabserve.configure('text-generator', { prefixCaching: false }));
    const tabs = { leader, follower };
    const visible: number[] = [];
    const hidden: number[] = [];
    await measureRate(tabs, 'leader');
    for (let round = 1; round <= rounds; round++) {
      visible.push(await measureRate(tabs, 'leader'));
      hidden.push(await measureRate(tabs, 'follower'));
      console.log(
        `round ${round}: ${visible.at(-1)?.toFixed(1)} visible, ${hidden.at(-1)?.toFixed(1)} hidden`,
      );
    }
    await timePassed(LONG_HIDDEN_MS);
    const longHidden = await measureRate(tabs, 'follower');
    const { backend, model } = loadedOf(status);
    return {
      ...conditions,
      backend,
      model: model.id,
      settings: { rounds, numRequests: NUM_REQUESTS, maxNewTokens: MAX_NEW_TOKENS },
      tokensPerSecond: { visible: spreadOf(visible), hidden: spreadOf(hidden), longHidden },
      longHiddenSeconds: LONG_HIDDEN_MS / 1000,
    };
  });
}

/** Tokens per second of the same requests, with one of the tabs in front. */
async function measureRate(
  tabs: Readonly<Record<'leader' | 'follower', Page>>,
  front: 'leader' | 'follower',
): Promise<number> {
  await tabs[front].bringToFront();
  for (const [name, page] of Object.entries(tabs)) {
    const state = await page.evaluate(() => document.visibilityState);
    if ((state === 'visible') !== (name === front)) throw new Error(`The ${name} is ${state}.`);
  }
  const prompts = smollm2Prompts(40, NUM_REQUESTS).map(({ prompt }) => prompt);
  return tabs.follower.evaluate(generateInPage, { prompts, maxNewTokens: MAX_NEW_TOKENS });
}
