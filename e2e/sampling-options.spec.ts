import { readFileSync } from 'node:fs';
import { DEFAULT_POLICY } from '../src/batching/generation/policy.ts';
import type { GenerationOptions, TokenLogprobs } from '../src/protocol/generation.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, IS_WHOLE, test } from './support/test.ts';

/** Results of transformers, made by tools/train/storyteller/references.py. */
interface Continuation {
  readonly prompt: string;
  readonly options: Pick<
    GenerationOptions,
    'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'logitBias' | 'minTokens' | 'stopTokenIds'
  >;
  readonly tokenIds: readonly number[];
  readonly logprobs: readonly TokenLogprobs[];
}

const { continuations }: { readonly continuations: readonly Continuation[] } = JSON.parse(
  readFileSync(new URL('../tools/reference/fixtures/sampling-reference.json', import.meta.url), 'utf8'),
);

/** Fewer where a stop token has come. */
const NUM_TOKENS = 12;

const { wholeContext }: { readonly wholeContext: WholeContext } = JSON.parse(
  readFileSync(
    new URL('../tools/reference/fixtures/prompt-logprobs-reference.json', import.meta.url),
    'utf8',
  ),
);

/** Results of transformers in fp64. */
interface WholeContext {
  readonly tokenIds: readonly number[];
  readonly logprobs: readonly (number | null)[];
}

test(
  "greedy tokens under bias, penalties and a least length are PyTorch's, and so are their logprobs to 1e-3",
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const results = await tab.generateAll(
      continuations.map(({ prompt, options }) => ({
        prompt,
        options: { ...options, temperature: 0, maxNewTokens: NUM_TOKENS, logprobs: 5 },
      })),
    );
    for (const [index, { prompt, options, tokenIds, logprobs }] of continuations.entries()) {
      const name = `“${prompt}” with ${JSON.stringify(options)}`;
      expect(results[index]?.tokenIds, name).toEqual(tokenIds);
      expectLogprobs(results[index]?.logprobs ?? [], logprobs, name);
    }
  },
);

test("a prompt that fills the context, scored in chunks beside others, has PyTorch's logprobs to 1e-3", async ({
  tab,
  backend,
}) => {
  test.skip(backend === 'webgpu' && !IS_WHOLE, 'a software adapter computes 512 tokens for many seconds');
  await tab.configure({ maxBatchedTokens: 150 });
  const found = await tab.page.evaluate(async (tokenIds) => {
    const generator = window.tabserve.getHandle('text-generator');
    const others = ['My', 'Once upon a time,'].map((prompt) =>
      generator.remote(prompt, { maxNewTokens: 12 }),
    );
    const scored = generator.remote(tokenIds, { maxNewTokens: 0, promptLogprobs: 3 });
    const result = await scored.result();
    await Promise.all(others.map((other) => other.result()));
    return result.promptLogprobs;
  }, wholeContext.tokenIds);
  await tab.configure({ maxBatchedTokens: DEFAULT_POLICY.maxBatchedTokens });
  expect(found?.map(({ tokenId }) => tokenId)).toEqual(wholeContext.tokenIds);
  expect(found?.[0]).toEqual({ tokenId: wholeContext.tokenIds[0], logprob: null, top: [] });
  for (const [place, logprob] of wholeContext.logprobs.entries()) {
    const { logprob: ours = null, top = [] } = found?.[place] ?? {};
    if (logprob === null || ours === null) continue;
    expect(Math.abs(ours - logprob), `place ${place}`).toBeLessThan(1e-3);
    expect(top, `place ${place}`).toHaveLength(3);
  }
});

// On a GPU, the check of each load and the rows of sampler.spec.ts ask for logprobs.
test(
  'logprobs come with each chunk, for the rows that ask alone, and never exceed probability 1',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const options: GenerationOptions = { temperature: 1.2, topK: 0, seed: 3, maxNewTokens: 6 };
    const { chunks, withLogprobs, without } = await tab.page.evaluate(async (common) => {
      const generator = window.tabserve.getHandle('text-generator');
      const asking = generator.remote('Once upon a time,', { ...common, logprobs: 20 });
      const other = generator.remote('Once upon a time,', common);
      const received = [];
      for await (const chunk of asking) received.push(chunk);
      return { chunks: received, withLogprobs: await asking.result(), without: await other.result() };
    }, options);
    expect(without.logprobs).toBeUndefined();
    expect(without.tokenIds, 'asking for logprobs changes no token').toEqual(withLogprobs.tokenIds);
    expect(chunks.flatMap(({ logprobs }) => logprobs ?? [])).toEqual(withLogprobs.logprobs);
    expect(withLogprobs.logprobs?.map(({ tokenId }) => tokenId)).toEqual(withLogprobs.tokenIds);
    for (const { top } of withLogprobs.logprobs ?? []) {
      const total = top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
      expect(total).toBeLessThan(1 + 1e-6);
      expect(top).toHaveLength(20);
      expect(top).toEqual(top.toSorted((a, b) => b.logprob - a.logprob));
    }
  },
);

// On a GPU, the trials of engine.spec.ts and the rows of sampler.spec.ts cover this.
test(
  'a text hangs on prompt, options and seed alone, with every option on',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const requests = [11, 12, 13, 14, 15].map((seed) => ({
      prompt: seed % 2 === 0 ? 'My greatest wish is to' : 'In a galaxy far far away',
      options: {
        seed,
        temperature: 1.3,
        topK: 100,
        topP: 0.97,
        minP: 0.001,
        repetitionPenalty: 1.2,
        presencePenalty: 0.3,
        frequencyPenalty: -0.2,
        logitBias: { 13: -1 },
        maxNewTokens: 4 + (seed % 5) * 3,
      } satisfies GenerationOptions,
    }));
    const alone: string[] = [];
    for (const { prompt, options } of requests) alone.push((await tab.generate(prompt, options)).text);
    const together = await tab.generateAll(requests);
    expect(together.map(({ text }) => text)).toEqual(alone);
  },
);

function expectLogprobs(
  actual: readonly TokenLogprobs[],
  expected: readonly TokenLogprobs[],
  name: string,
): void {
  expect(actual.map(({ tokenId }) => tokenId)).toEqual(expected.map(({ tokenId }) => tokenId));
  for (const [step, { logprob, top }] of expected.entries()) {
    expect(actual[step]?.logprob, `${name}, token ${step}`).toBeCloseTo(logprob, 3);
    expect(
      actual[step]?.top.map((entry) => entry.tokenId),
      `${name}, the likeliest at ${step}`,
    ).toEqual(top.map((entry) => entry.tokenId));
    for (const [rank, entry] of top.entries()) {
      expect(actual[step]?.top[rank]?.logprob, `${name}, token ${step}, rank ${rank}`).toBeCloseTo(
        entry.logprob,
        3,
      );
    }
  }
}
