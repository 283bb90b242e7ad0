import { setTimeout as timePassed } from 'node:timers/promises';
import type { Page } from 'playwright';

import { startServer } from '../../../bridge/server.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import type { BenchCase, Samples } from '../bench-case.ts';
import { buildPage } from '../build-page.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { loadSmollm2, startSmollm2Hub } from '../smollm2.ts';
import { withTabs } from '../with-tabs.ts';
import { realRequests } from './engine-requests.ts';
import { play } from './play-in-page.ts';

/** Chromium throttles the timers of a tab that has been hidden for a minute. */
const LONG_HIDDEN_MS = 75_000;

/** The first tab leads and so runs the model; the second one asks. Each takes its turn in front. */
interface Tabs {
  readonly leader: Page;
  readonly follower: Page;
}

export const bench: BenchCase = {
  summary: 'whether a hidden tab runs the model as fast',
  rounds: 3,
  async run({ isShort, browserArgs }, measure) {
    const hub = await startSmollm2Hub();
    const policy = contentSecurityPolicy([hub.url]);
    try {
      await using site = await startServer({ host: 'localhost', port: 0, root: await buildPage(), policy });
      const url = `${site.url}/?backend=wasm`;
      await withTabs(browserArgs, async ({ context, version }) => {
        const { page: leader } = await openReady(context, url);
        const { backend, model } = loadedOf(await loadSmollm2(leader, hub.url, 'fp32'));
        const { page: follower } = await openReady(context, url);
        const tabs = { leader, follower };
        const numTokens = isShort ? 2 : 32;
        const rate = (front: keyof Tabs, afterMs = 0) => measureRate(tabs, front, afterMs, numTokens);
        await measure({
          key: 'wasm',
          browser: version,
          model: model.id,
          adapter: `${backend.name} (${backend.adapter})`,
          note: 'Eight requests of another tab. The browser has no argument about tabs in the background.',
          groups: [
            {
              caption: 'The tab that runs the model',
              labels: [''],
              columns: [{ name: 'tokens/s', digits: 1, shows: 'p50' }],
              ratio: { header: 'over in front', column: 'tokens/s' },
              subjects: [
                { labels: ['in front'], warmUp: () => rate('leader'), measure: () => rate('leader') },
                { labels: ['hidden'], measure: () => rate('follower') },
                {
                  labels: [`hidden for ${LONG_HIDDEN_MS / 1000} s`],
                  measure: () => rate('follower', isShort ? 0 : LONG_HIDDEN_MS),
                },
              ],
            },
          ],
        });
      });
    } finally {
      await hub.close();
    }
  },
};

/** Tokens per second of the same requests, with one of the tabs in front for that long. */
async function measureRate(
  tabs: Tabs,
  front: keyof Tabs,
  afterMs: number,
  maxNewTokens: number,
): Promise<Samples> {
  await tabs[front].bringToFront();
  await timePassed(afterMs);
  for (const [name, page] of Object.entries(tabs)) {
    const state = await page.evaluate(() => document.visibilityState);
    if ((state === 'visible') !== (name === front)) throw new Error(`The ${name} is ${state}.`);
  }
  const requests = realRequests(40, 8, maxNewTokens);
  return play(tabs.follower, { knobs: { prefixCaching: false }, requests, leastMs: 0 });
}
