import { reference } from './support/reference.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, test } from './support/test.ts';

declare global {
  interface Window {
    reservedKvBytes: number;
  }
}

const LONG_PROMPT = reference.longPrompt.prompt;
const GREEDY = { temperature: 0, maxNewTokens: 6 };

/** Tokens looked up in other sequences' K/V rows, and tokens found there, since the page was opened. */
async function prefixCounts(tab: Tab): Promise<{ readonly queries: number; readonly hits: number }> {
  const text = await tab.page.evaluate(() => window.tabserve.metrics());
  const valueOf = (name: string): number =>
    Number(new RegExp(`^vllm:prefix_cache_${name}_total (\\d+)$`, 'm').exec(text)?.[1]);
  return { queries: valueOf('queries'), hits: valueOf('hits') };
}

// On a GPU, the check of each load has a row that joins late and takes over a prefix.
test(
  'a prompt takes over the K/V of the prefix that it shares with one before it, and its text is the same',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const prompt = `${LONG_PROMPT} And then the little dog`;
    await tab.configure({ prefixCaching: false });
    const alone = await tab.generate(prompt, GREEDY);
    await tab.configure({ prefixCaching: true });
    const first = await tab.generate(LONG_PROMPT, GREEDY);
    const before = await prefixCounts(tab);
    const second = await tab.generate(prompt, GREEDY);
    const after = await prefixCounts(tab);
    expect(second.tokenIds).toEqual(alone.tokenIds);
    expect(after.queries - before.queries).toBe(second.usage.numPromptTokens);
    // The last token of the first prompt may be another where the text goes on.
    expect(after.hits - before.hits).toBeGreaterThanOrEqual(first.usage.numPromptTokens - 1);
    expect(after.hits - before.hits).toBeLessThan(second.usage.numPromptTokens);
  },
);

// On a GPU, the check of each load has rows that share a prefill.
test('continuations of a prompt share its prefill', { tag: ANY_BACKEND_IN_SHORT }, async ({ tab }) => {
  const prompt = `Nobody has asked this yet. ${LONG_PROMPT}`;
  const result = await tab.generate(prompt, { n: 4, temperature: 1, seed: 5, maxNewTokens: 4 });
  expect(result.choices).toHaveLength(4);
  const prefilled = await tab.steps('prefill');
  expect(prefilled.map(({ batchSize }) => batchSize)).toEqual([1]);
  expect(prefilled[0]?.numTokens).toBe(result.usage.numPromptTokens);
});

// The engine counts what is reserved, whatever runs its steps.
test(
  'an idle K/V cache gives back what a lowered limit does not allow',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const limit = 2 ** 20;
    await tab.page.evaluate(() => {
      window.tabserve.subscribe('stats', ({ kvCache }) => (window.reservedKvBytes = kvCache.reservedBytes));
    });
    const reservedBytes = () => tab.page.evaluate(() => window.reservedKvBytes);
    await tab.generate(LONG_PROMPT, { ...GREEDY, maxNewTokens: 300 });
    await tab.whenIdle();
    expect(await reservedBytes()).toBeGreaterThan(limit);
    await tab.configure({ kvCacheMemoryBytes: limit });
    await expect.poll(reservedBytes).toBeLessThanOrEqual(limit);
  },
);

test(
  'short prompts that arrive together share one prefill',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    await tab.configure({ maxBatchSize: 4, batchWaitTimeoutMs: 5000, prefixCaching: false });
    const requests = reference.prompts.slice(0, 4).map(({ prompt }) => ({ prompt, options: GREEDY }));
    const results = await tab.generateAll(requests);
    expect((await tab.steps('prefill')).map(({ batchSize }) => batchSize)).toEqual([4]);
    for (const [index, { tokenIds }] of results.entries()) {
      expect(tokenIds).toEqual(reference.prompts[index]?.greedyTokenIds.slice(0, GREEDY.maxNewTokens));
    }
  },
);

test(
  'what needs more K/V memory than there may be is refused with what it takes; the rest runs within it',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const outcome = await tab.page.evaluate(async (prompt) => {
      const { tabserve } = window;
      const reservations: number[] = [];
      const generator = tabserve.getHandle('text-generator');
      const large = { prompt, options: { temperature: 0, maxNewTokens: 300 } };
      const stop = tabserve.subscribe('stats', ({ steps, kvCache }) => {
        // Memory is given back with the next step.
        if (steps.length > 0) reservations.push(kvCache.reservedBytes);
      });
      const limit = 2 ** 21;
      await tabserve.configure('text-generator', { kvCacheMemoryBytes: limit });
      const refusal = await generator
        .remote(large.prompt, large.options)
        .result()
        .catch((error: unknown) => error);
      const small = await Promise.all(
        Array.from({ length: 6 }, (_, seed) =>
          generator.remote('One day', { seed, temperature: 1, maxNewTokens: 20 }).result(),
        ),
      );
      await new Promise<void>((resolve) => {
        const unsubscribe = tabserve.subscribe('stats', ({ numRunning }) => {
          if (numRunning > 0) return;
          unsubscribe();
          resolve();
        });
        void generator.remote('One day', { maxNewTokens: 1 }).result();
      });
      stop();
      return {
        limit,
        name: refusal instanceof Error ? refusal.name : '',
        message: String(refusal),
        numFinished: small.length,
        mostReserved: Math.max(...reservations),
      };
    }, LONG_PROMPT);
    expect(outcome).toMatchObject({ name: 'KvBudgetError', numFinished: 6 });
    expect(outcome.message).toContain('kvCacheMemoryBytes');
    expect(outcome.mostReserved).toBeGreaterThan(0);
    expect(outcome.mostReserved).toBeLessThanOrEqual(outcome.limit);
  },
);
