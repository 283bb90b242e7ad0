import { reference, greedyTokenIds, withoutEnd, type ReferencePrompt } from './support/reference.ts';
import type { Backend } from './support/tab.ts';
import { ANY_BACKEND_IN_SHORT, expect, IS_WHOLE, test } from './support/test.ts';
import type { GenerationOptions, GenerationResult } from '../src/protocol/generation.ts';

/** A software adapter takes 100 ms for a token. */
const isShortOn = (backend: Backend): boolean => backend === 'webgpu' && !IS_WHOLE;
const lengthOn = (backend: Backend): number => (isShortOn(backend) ? 4 : 32);

/** Of the nine prompts' texts: most leave their batch before others. */
const LENGTHS = [32, 7, 19, 32, 3, 11, 1, 25, 32] as const;

/** All are long enough to decode together. On a GPU in the short run, the first goes on alone. */
const lengthsTogether = (backend: Backend): readonly number[] =>
  reference.prompts.map((_, index) => (isShortOn(backend) && index === 0 ? 8 : lengthOn(backend)));

const greedy = (maxNewTokens: number): GenerationOptions => ({ temperature: 0, maxNewTokens });

function expectReferenceTokens(result: GenerationResult, entry: ReferencePrompt, maxNewTokens: number): void {
  expect(result.text.startsWith(entry.prompt), `the text starts with "${entry.prompt}"`).toBe(true);
  expect(result.usage.numPromptTokens).toBe(entry.promptTokenIds.length);
  expect(withoutEnd(result.tokenIds), `tokens after "${entry.prompt}"`).toEqual(
    greedyTokenIds(entry, maxNewTokens),
  );
}

test.describe('greedy tokens equal those of PyTorch', () => {
  // On a GPU, a row of the next test goes on alone.
  test('for each of the nine prompts alone', { tag: ANY_BACKEND_IN_SHORT }, async ({ tab }) => {
    for (const entry of reference.prompts) {
      expectReferenceTokens(await tab.generate(entry.prompt, greedy(32)), entry, 32);
    }
    const steps = await tab.steps('decode');
    expect(new Set(steps.map(({ batchSize }) => batchSize))).toEqual(new Set([1]));
  });

  test('for all nine prompts together in one batch', async ({ tab, backend }) => {
    await tab.configure({ maxBatchSize: 9 });
    const requests = requestsOf(lengthsTogether(backend));
    expectAllReferenceTokens(await tab.generateAll(requests), requests);
    const steps = await tab.steps('decode');
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(9);
  });

  // On a GPU, decoders.spec.ts has such sequences.
  test(
    'for sequences that join late and leave early, around one that is cancelled',
    { tag: ANY_BACKEND_IN_SHORT },
    async ({ tab }) => {
      const requests = requestsOf(LENGTHS);
      expectAllReferenceTokens(await tab.page.evaluate(generateInWaves, requests), requests);
      const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
      expect(new Set(sizes).size, `batch sizes ${sizes.join(' ')}`).toBeGreaterThan(3);
    },
  );

  // On a GPU, the check of each load has chunks of prompts beside others.
  test(
    'for a long prompt prefilled in chunks while others decode',
    { tag: ANY_BACKEND_IN_SHORT },
    async ({ tab }) => {
      const { longPrompt } = reference;
      const maxBatchedTokens = 7;
      await tab.configure({ maxBatchedTokens, prefixCaching: false });
      const entries = [...reference.prompts.slice(0, 2), longPrompt];
      const results = await tab.generateAll(entries.map(({ prompt }) => ({ prompt, options: greedy(32) })));
      for (const [index, entry] of entries.entries()) {
        const result = results[index];
        if (result) expectReferenceTokens(result, entry, 32);
      }
      const chunks = (await tab.steps('prefill')).map(({ numTokens }) => numTokens);
      expect(Math.max(...chunks)).toBeLessThanOrEqual(maxBatchedTokens);
      expect(chunks.length).toBeGreaterThanOrEqual(
        Math.ceil(longPrompt.promptTokenIds.length / maxBatchedTokens),
      );
    },
  );
});

// On a GPU, the check of each load compares logprobs, and checkpoints and decoders their logits.
test(
  "logits after each prompt agree with PyTorch's to 1e-3",
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ probePage, backend }) => {
    const entries = [...reference.prompts, reference.longPrompt];
    const prompts = entries.map(({ promptTokenIds }) => promptTokenIds);
    const logits = await probePage.evaluate(
      (input) => window.probe.logitsAfter({ backend: input.backend }, input.prompts),
      { backend, prompts },
    );
    expect(logits).toHaveLength(entries.length);
    for (const [index, entry] of entries.entries()) expectReferenceLogits(logits[index] ?? [], entry);
  },
);

function expectReferenceLogits(
  logits: readonly number[],
  { prompt, top20, logitsL2 }: ReferencePrompt,
): void {
  const errors = top20.logits.map((expected, rank) => relativeError(logits[top20.ids[rank] ?? -1], expected));
  expect(Math.max(...errors), `top-20 logits after "${prompt}"`).toBeLessThan(1e-3);
  expect(relativeError(Math.hypot(...logits), logitsL2), `norm of all logits after "${prompt}"`).toBeLessThan(
    1e-3,
  );
}

function relativeError(actual = Number.NaN, expected: number): number {
  return Math.abs(actual - expected) / Math.abs(expected);
}

/** The nine prompts, for a text of each length. */
function requestsOf(lengths: readonly number[]) {
  return reference.prompts.map((entry, index) => ({
    entry,
    prompt: entry.prompt,
    options: greedy(lengths[index] ?? 0),
  }));
}

function expectAllReferenceTokens(
  results: readonly GenerationResult[],
  requests: ReturnType<typeof requestsOf>,
): void {
  expect(results).toHaveLength(requests.length);
  for (const [index, { entry, options }] of requests.entries()) {
    const result = results[index];
    if (result) expectReferenceTokens(result, entry, options.maxNewTokens ?? 0);
  }
}

/**
 * Runs in the page. The first four start together; each later one joins when the first has come two tokens further; a
 * sampled request that started with the first is cancelled halfway.
 */
async function generateInWaves(
  requests: readonly { prompt: string; options: GenerationOptions }[],
): Promise<GenerationResult[]> {
  const generator = window.tabserve.getHandle('text-generator');
  const submit = ({ prompt, options }: (typeof requests)[number]) => generator.remote(prompt, options);
  const responses = requests.slice(0, 4).map(submit);
  const victim = generator.remote('The victim', { maxNewTokens: 64, temperature: 1, seed: 1 });
  const later = requests.slice(4);
  const [first] = responses;
  let numTokens = 0;
  if (first) {
    for await (const { tokenIds } of first) {
      numTokens += tokenIds.length;
      const next = numTokens % 2 === 0 ? later.shift() : undefined;
      if (next) responses.push(submit(next));
      if (numTokens === 5) victim.cancel();
    }
  }
  responses.push(...later.map(submit));
  return Promise.all(responses.map((response) => response.result()));
}
