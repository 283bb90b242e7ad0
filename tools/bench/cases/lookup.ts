import type { Page } from 'playwright';

import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import type { BenchCase, Chosen, Group, Samples, Subject } from '../bench-case.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { loadSmollm2, startSmollm2Hub } from '../smollm2.ts';
import { measurePages } from '../with-pages.ts';
import { knobsOf } from './engine-requests.ts';
import prompts from '../../reference/fixtures/bench-lookup-prompts.json' with { type: 'json' };
import { play } from './play-in-page.ts';

export const bench: BenchCase = {
  summary: 'what prompt lookup gives texts that repeat their prompt, and chats, with a real model',
  rounds: 1,
  choices: { precision: ['q8', 'fp32'] },
  async run(chosen, measure) {
    await using hub = await startSmollm2Hub();
    await measurePages(
      chosen,
      { policy: contentSecurityPolicy([hub.url]) },
      async ({ browser, url }) => {
        const { page } = await openReady(await browser.newContext(), `${url}/?backend=wasm`);
        const { backend } = loadedOf(await loadSmollm2(page, hub.url, chosen.precision));
        return {
          key: `smollm2 ${backend.precision}`,
          model: 'SmolLM2-135M-Instruct in Q4_1',
          adapter: `${backend.name} ${backend.precision} (${backend.adapter})`,
          note: 'Greedy, at most 96 new tokens each. Prefix caching is off.',
          groups: [
            groupOf(page, 'Forty texts to rewrite', prompts.rewriting, chosen),
            groupOf(page, 'Forty chats', prompts.chats, chosen),
          ],
        };
      },
      measure,
    );
  },
};

function groupOf(page: Page, caption: string, questions: readonly string[], { isShort }: Chosen): Group {
  const options = { temperature: 0, maxNewTokens: isShort ? 8 : 96 };
  const requests = questions.slice(0, isShort ? 2 : Infinity).map((question) => ({
    prompt: `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`,
    options,
  }));
  const measure = (maxBatchSize: number, promptLookup: boolean): Promise<Samples> => {
    const knobs = { ...knobsOf('continuous', maxBatchSize), batchWaitTimeoutMs: 0, promptLookup };
    return play(page, { knobs, requests, leastMs: 0 });
  };
  const subjects = [1, 8].flatMap((size): readonly Subject[] => {
    const without = {
      labels: [String(size), 'no'],
      base: 'none',
      measure: () => measure(size, false),
    } as const;
    return [without, { labels: [String(size), 'yes'], base: without, measure: () => measure(size, true) }];
  });
  return {
    caption,
    labels: ['at once', 'lookup'],
    columns: [
      { name: 'tokens/s', digits: 1, shows: 'p50' },
      { name: 'between tokens', unit: 'ms', digits: 1, shows: 'p50 / p95' },
    ],
    ratio: { header: 'over without', column: 'tokens/s' },
    subjects,
  };
}
