import type { SamplingParams } from '../src/batching/sampling/sampling-options.ts';
import { GREEDY } from '../src/batching/generation/request.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

/** Set SAMPLER_SEED to repeat a run. */
const SEED = Number(process.env['SAMPLER_SEED'] ?? Date.now() % 2 ** 32);
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
      test.info().annotations.push({ type: 'SAMPLER_SEED', description: String(SEED) });
      const { differences, numFaults, logprobError } = await page.evaluate(
        (input) => window.probe.compareSamplers(...input),
        [SEED + index, vocabSize, numRows] as const,
      );
      expect(differences, `SAMPLER_SEED=${SEED}`).toEqual([]);
      expect(logprobError).toBeLessThan(1e-9);
      if (numRows >= 400) expect(numFaults, 'rows without a next token').toBeGreaterThan(0);
    });
  }

  test('counts tokens and positions by itself from step to step, also when a row changes its slot', async ({
    probePage: page,
  }) => {
    const { differences } = await page.evaluate((input) => window.probe.compareSamplers(...input), [
      SEED,
      2048,
      24,
      12,
    ] as const);
    expect(differences, `SAMPLER_SEED=${SEED}`).toEqual([]);
  });

  const numDraws = IS_WHOLE ? 5000 : 1000;
  // The GPU draws the same tokens as the CPU, whose distribution has unit tests. The short run has the options that are hardest.
  const drawn: readonly (readonly [name: string, overrides: Partial<SamplingParams>])[] = [
    ['top-k 30 and top-p 0.9', { topK: 30, topP: 0.9 }],
    ...(IS_WHOLE
      ? ([
          ['temperature 0.9', { temperature: 0.9 }],
          ['min-p 0.05', { temperature: 1.5, minP: 0.05 }],
        ] as const)
      : []),
  ];
  for (const [name, overrides] of drawn) {
    test(`with ${name} draws ${numDraws} tokens as the exact distribution has them`, async ({
      probePage: page,
    }) => {
      test.setTimeout(IS_WHOLE ? 600_000 : 180_000);
      const params = { ...PLAIN, ...overrides };
      // 60 tokens, each expected at least some times in the draws; the others of this vocabulary, whose shaders are there, never.
      const logits = Array.from({ length: 2048 }, (_, id) =>
        id < 60 ? 2 * Math.sin(3 * id) + 1.5 * Math.cos(5 * id) : -1000,
      );
      const counts = await page.evaluate((input) => window.probe.countDraws(...input), [
        logits,
        params,
        numDraws,
      ] as const);
      const exact = exactDistribution(logits, params);
      const chiSquare = exact.reduce((sum, probability, id) => {
        const expected = probability * numDraws;
        return probability === 0 ? sum : sum + ((counts[id] ?? 0) - expected) ** 2 / expected;
      }, 0);
      const numDrawable = exact.filter((probability) => probability > 0).length;
      expect(counts.filter((count, id) => count > 0 && exact[id] === 0)).toEqual([]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(numDraws);
      expect(chiSquare).toBeLessThan(chiSquareLimit(numDrawable - 1));
    });
  }

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

/** Probabilities in doubles, by definition; options that a test here does not use count as off. */
function exactDistribution(
  logits: readonly number[],
  { temperature, topK, topP, minP }: SamplingParams,
): number[] {
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - largest) / temperature));
  const ids = [...logits.keys()].toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
  const likely = ids.filter((id) => (weights[id] ?? 0) >= minP).slice(0, topK || ids.length);
  const total = likely.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  let before = 0;
  const kept = likely.filter((id) => {
    const isNeeded = before < topP * total;
    before += weights[id] ?? 0;
    return isNeeded;
  });
  const keptTotal = kept.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  return weights.map((weight, id) => (kept.includes(id) ? weight / keptTotal : 0));
}

/** The 0.1 % point of the chi-square distribution, by Wilson and Hilferty's approximation. */
function chiSquareLimit(degreesOfFreedom: number): number {
  const variance = 2 / (9 * degreesOfFreedom);
  return degreesOfFreedom * (1 - variance + 3.0902 * Math.sqrt(variance)) ** 3;
}
