import type { SamplingParams } from '../src/batching/options/sampling-options.ts';
import { GREEDY } from '../src/batching/generation/request.ts';
import { runSeed } from './support/seeded-random.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

const PLAIN: SamplingParams = { ...GREEDY, temperature: 1, seed: 7 };

test.describe('the sampler on the GPU', () => {
  for (const [index, { vocabSize, numRows }] of [
    { vocabSize: 2048, numRows: IS_WHOLE ? 2000 : 400 },
    { vocabSize: 50_257, numRows: IS_WHOLE ? 200 : 20 },
  ].entries()) {
    test(`gives what the CPU gives on ${numRows} random rows over all options: ${vocabSize} tokens`, async ({
      probePage: page,
    }) => {
      test.setTimeout(IS_WHOLE ? 1_800_000 : 180_000);
      const { differences, numFaults, logprobError } = await page.evaluate(
        (input) => window.probe.compareSamplers(...input),
        [runSeed() + index, vocabSize, numRows] as const,
      );
      expect(differences).toEqual([]);
      expect(logprobError).toBeLessThan(1e-9);
      if (numRows >= 400) expect(numFaults, 'rows without a next token').toBeGreaterThan(0);
    });
  }

  test('counts tokens and positions by itself from step to step, also when a row changes its slot', async ({
    probePage: page,
  }) => {
    const { differences } = await page.evaluate((input) => window.probe.compareSamplers(...input), [
      runSeed(),
      2048,
      24,
      12,
    ] as const);
    expect(differences).toEqual([]);
  });

  test('creates no buffer in a decode step and reads 4 bytes per row, whatever the options', async ({
    probePage: page,
  }) => {
    const params: SamplingParams[] = [
      { ...PLAIN, temperature: 0 },
      { ...PLAIN, topK: 20, topP: 0.9 },
      { ...PLAIN, minP: 0.1, repetitionPenalty: 1.2, presencePenalty: 1, frequencyPenalty: 1 },
      { ...PLAIN, temperature: 0, logitBias: { 11: -100 } },
    ];
    const steps = await page.evaluate((input) => window.probe.resourcesPerStep(...input), [
      params,
      6,
    ] as const);
    // The first step still sizes its buffers for the batch, the second one is captured.
    const [, , ...replayed] = steps;
    expect(replayed).toEqual(replayed.map(() => ({ numBuffersCreated: 0, numBytesRead: 4 * params.length })));
  });
});
