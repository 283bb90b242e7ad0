import type { Page } from 'playwright/test';
import type { Dtype } from '../src/protocol/models.ts';
import type { GreedyBatch } from './probe/batches.ts';
import type { ModelChoice } from './probe/models.ts';
import { SECOND_SHAPES } from '../tools/hub-server/checkpoints/decoders.ts';
import { decoderReferences, type DecoderPrompt, type DecoderReference } from './support/decoder-reference.ts';
import { runSeed } from './support/seeded-random.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

const FP32_TOLERANCE = 2e-5;

/** How much larger the perplexity may be with quantized weights. */
const LARGEST_LOSSES = [
  ['q8', 0.01],
  ['q4', 0.05],
] as const;

/**
 * On a software adapter each decoder compiles its shaders for seconds. This one has Llama's operations but for heads without a norm,
 * which gpu-check.spec.ts has, grouped and rotated.
 */
const IN_SHORT_ON_WEBGPU: readonly string[] = ['generated/lfm2'];

/** Rows that keep state of a fixed size go on from their last token or a snapshot: these prompts need not reuse any. */
const WITHOUT_PREFIXES: readonly string[] = [
  'generated/qwen35',
  'generated/qwen35-text',
  'generated/lfm2',
  'generated/lfm2-biased',
];

/** The engine's trials and the quantized weights run the same code for every decoder, so one is enough on WebGPU. */
const SHOWN_ON_WEBGPU = 'generated/llama';

/** Each batch is a minute of a software adapter, and which rows share a step is decided above it. The other decoders run the hardest. */
const ALL_BATCHES_ON_WEBGPU: readonly string[] = [
  SHOWN_ON_WEBGPU,
  'generated/gemma3',
  'generated/lfm2',
  'generated/qwen35',
];
const HARDEST = 'joining late, prompts in chunks, beside one that is aborted';

const QUANTIZED_IN_SHORT = 'generated/smollm2';

/** The longest prompt has 60 tokens. */
const CHUNK = 32;

const BATCHES: Readonly<Record<string, Omit<GreedyBatch, 'prompts' | 'maxNewTokens'>>> = {
  'one by one': { policy: { policy: 'off' }, isPipelined: false, stepsBetween: 0, hasLogprobs: false },
  'a static batch': { policy: { policy: 'static' }, isPipelined: false, stepsBetween: 0, hasLogprobs: false },
  // Rows that take several tokens a step might end before the last ones join.
  'joining late': { policy: { promptLookup: false }, isPipelined: true, stepsBetween: 3, hasLogprobs: false },
  [HARDEST]: {
    policy: { maxBatchedTokens: CHUNK, prefixCaching: false, promptLookup: false },
    isPipelined: true,
    stepsBetween: 3,
    hasLogprobs: false,
    abortsAfterSteps: 15,
  },
};

for (const [id, expected] of Object.entries(decoderReferences)) {
  const { samples } = expected;

  test.describe(id, () => {
    test.beforeEach(({ backend }) => {
      test.skip(
        backend === 'webgpu' && !IS_WHOLE && !IN_SHORT_ON_WEBGPU.includes(id),
        'each compiles its shaders for seconds',
      );
      test.skip(
        !IS_WHOLE && SECOND_SHAPES.includes(id),
        'unit tests have its logits, and its first shape runs',
      );
      test.setTimeout(IS_WHOLE ? 1_800_000 : 300_000);
    });

    test('has the logits, greedy texts and logprobs of transformers: alone, eight at once that join late, in chunks, beside one that is aborted, under every policy', async ({
      probePage,
      backend,
    }) => {
      await expectAsTransformers(probePage, { id, backend, dtype: 'fp32' }, expected);
    });

    test('samples the same texts with any mates, with and without prefix reuse, pipelined or not', async ({
      probePage,
      backend,
    }) => {
      test.skip(
        backend === 'webgpu' && !(IS_WHOLE && id === SHOWN_ON_WEBGPU),
        'steps take long, and the trials of the engine are the same',
      );
      const seed = runSeed();
      const trials = { count: IS_WHOLE ? 20 : 8, maxNewTokens: 10 };
      // Rounding activations to 8 bits makes the last bit of a sum a whole step.
      const isInQ8 = backend === 'wasm' && (IS_WHOLE || id === QUANTIZED_IN_SHORT);
      for (const dtype of isInQ8 ? (['fp32', 'q8'] as const) : (['fp32'] as const)) {
        const choice = { id, backend, dtype };
        const report = await probePage.evaluate((input) => window.probe.runTrials(...input), [
          choice,
          seed,
          trials,
        ] as const);
        expect(report.differences, `${dtype}, E2E_SEED=${seed}`).toEqual([]);
        if (!WITHOUT_PREFIXES.includes(id))
          expect(report.numReusedTokens, 'tokens reused').toBeGreaterThan(0);
        expect(report.numSharedPrefills, 'prefills shared').toBeGreaterThan(0);
      }
    });

    test('finds its own samples hardly less likely with quantized weights', async ({
      probePage,
      backend,
    }) => {
      test.skip(
        backend === 'webgpu' && !(IS_WHOLE && id === SHOWN_ON_WEBGPU),
        'the same weights, on shaders that the checkpoints test',
      );
      test.skip(!IS_WHOLE && id !== QUANTIZED_IN_SHORT, 'weights of all decoders are quantized alike');
      const perplexityIn = (dtype: Dtype): Promise<number> =>
        perplexityOf(probePage, { id, backend, dtype }, samples);
      const whole = await perplexityIn('fp32');
      expect(whole / expected.samplesPerplexity).toBeCloseTo(1, 4);
      for (const [dtype, largest] of LARGEST_LOSSES) {
        const loss = (await perplexityIn(dtype)) / whole - 1;
        console.log(`    ${id} ${dtype}: perplexity ${whole.toFixed(1)}, ${(100 * loss).toFixed(2)} % more`);
        expect(Math.abs(loss), dtype).toBeLessThan(largest);
      }
    });
  });
}

async function expectAsTransformers(
  page: Page,
  choice: ModelChoice,
  { prompts }: DecoderReference,
): Promise<void> {
  const error = await logitsError(page, choice, prompts);
  console.log(`    ${choice.id}: largest error over largest logit ${error.toExponential(1)}`);
  expect(error).toBeLessThan(FP32_TOLERANCE);
  const hasAll = choice.backend === 'wasm' || (IS_WHOLE && ALL_BATCHES_ON_WEBGPU.includes(choice.id ?? ''));
  for (const [title, batch] of Object.entries(BATCHES)) {
    if (!hasAll && title !== HARDEST) continue;
    const isShort = !IS_WHOLE && choice.backend === 'webgpu';
    const maxNewTokens = isShort ? 16 : 32;
    const report = await runGreedyBatch(page, choice, {
      ...batch,
      ...(isShort && { stepsBetween: 1 }),
      prompts: prompts.map(({ promptTokenIds }) => promptTokenIds),
      maxNewTokens,
    });
    const greedyTokenIds = prompts.map((prompt) => prompt.greedyTokenIds.slice(0, maxNewTokens));
    expect(report.tokenIds, title).toEqual(greedyTokenIds);
    expect(report.largestBatch, title).toBe(batch.policy.policy === 'off' ? 1 : prompts.length);
    expect(report.numAbortedTokens > 0 && report.numAbortedTokens < maxNewTokens, title).toBe(
      'abortsAfterSteps' in batch,
    );
    expect(report.numPrefills > 1, title).toBe(batch.policy.maxBatchedTokens === CHUNK);
    const reuses = batch.policy.prefixCaching !== false && !WITHOUT_PREFIXES.includes(choice.id ?? '');
    if (reuses) expect(report.numReusedTokens, title).toBeGreaterThan(0);
  }
  await expectLogprobs(page, choice, prompts);
}

function runGreedyBatch(page: Page, choice: ModelChoice, batch: GreedyBatch) {
  return page.evaluate((input) => window.probe.runGreedyBatch(...input), [choice, batch] as const);
}

/** The largest error, relative to the largest logit. */
async function logitsError(
  page: Page,
  choice: ModelChoice,
  prompts: readonly DecoderPrompt[],
): Promise<number> {
  const withLogits = prompts.filter(({ logits }) => logits);
  const computed = await page.evaluate((input) => window.probe.logitsAfter(...input), [
    choice,
    withLogits.map(({ promptTokenIds }) => promptTokenIds),
  ] as const);
  const errors = withLogits.map(({ logits = [] }, i) => {
    const differences = logits.map((value, token) => Math.abs((computed[i]?.[token] ?? NaN) - value));
    return Math.max(...differences) / Math.max(...logits.map(Math.abs));
  });
  return Math.max(...errors);
}

/** Checks the logprobs of the prompts' tokens and of each text's first token. */
async function expectLogprobs(
  page: Page,
  choice: ModelChoice,
  prompts: readonly DecoderPrompt[],
): Promise<void> {
  const scored = prompts.filter(({ promptLogprobs }) => promptLogprobs);
  const { promptLogprobs, logprobs } = await runGreedyBatch(page, choice, {
    prompts: scored.map(({ promptTokenIds }) => promptTokenIds),
    maxNewTokens: 2,
    policy: {},
    isPipelined: true,
    stepsBetween: 0,
    hasLogprobs: true,
  });
  for (const [i, { promptLogprobs: expected = [], logits = [], greedyTokenIds }] of scored.entries()) {
    expect(promptLogprobs[i]).toHaveLength(expected.length);
    expect(largestDifference(promptLogprobs[i] ?? [], expected), 'of the prompt').toBeLessThan(1e-4);
    const first = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    const likeliest = (logits[greedyTokenIds[0] ?? -1] ?? NaN) - first;
    expect(logprobs[i]?.[0], 'of the first token').toBeCloseTo(likeliest, 4);
  }
}

function largestDifference(values: readonly number[], expected: readonly number[]): number {
  return Math.max(...expected.map((value, i) => Math.abs((values[i] ?? NaN) - value)));
}

async function perplexityOf(
  page: Page,
  choice: ModelChoice,
  samples: DecoderReference['samples'],
): Promise<number> {
  const { promptLogprobs } = await runGreedyBatch(page, choice, {
    prompts: samples,
    maxNewTokens: 1,
    policy: { prefixCaching: false },
    isPipelined: false,
    stepsBetween: 0,
    hasLogprobs: true,
  });
  const logprobs = promptLogprobs.flat();
  return Math.exp(-logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length);
}
