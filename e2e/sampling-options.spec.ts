import { readFileSync } from 'node:fs';
import type { GenerationOptions, TokenLogprobs } from '../src/worker/protocol.ts';
import { expect, test } from './support/test.ts';

/** What PyTorch computes in fp32; the file is made by tools/train-storyteller/sampling_reference.py. */
interface Continuation {
  readonly prompt: string;
  readonly options: Pick<
    GenerationOptions,
    'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'logitBias'
  >;
  readonly tokenIds: readonly number[];
  readonly logprobs: readonly TokenLogprobs[];
}

const { continuations }: { readonly continuations: readonly Continuation[] } = JSON.parse(
  readFileSync(new URL('fixtures/sampling-reference.json', import.meta.url), 'utf8'),
);

test("greedy tokens under bias and penalties are PyTorch's, and so are their logprobs to 1e-3", async ({
  tab,
}) => {
  const results = await tab.generateAll(
    continuations.map(({ prompt, options, tokenIds }) => ({
      prompt,
      options: { ...options, temperature: 0, maxNewTokens: tokenIds.length, logprobs: 5 },
    })),
  );
  for (const [index, { prompt, options, tokenIds, logprobs }] of continuations.entries()) {
    const name = `“${prompt}” with ${JSON.stringify(options)}`;
    expect(results[index]?.tokenIds, name).toEqual(tokenIds);
    expectLogprobs(results[index]?.logprobs ?? [], logprobs, name);
  }
});

test('logprobs come with each chunk, for the rows that ask alone, and never exceed probability 1', async ({
  tab,
}) => {
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
});

test('a text hangs on prompt, options and seed alone, with every option on', async ({ tab }) => {
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
});

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
