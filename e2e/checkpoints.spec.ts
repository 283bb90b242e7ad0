import { readFileSync } from 'node:fs';
import type { Page } from 'playwright/test';
import type { Dtype } from '../src/protocol/models.ts';
import encoders from '../tools/reference/fixtures/encoders-reference.json' with { type: 'json' };
import type { ModelChoice } from './probe/models.ts';
import type { Backend } from './support/tab.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

interface ExpectedPrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** All logits of the last token. The full-size checkpoint has only the largest ones: see hub-full-size.spec.ts. */
  readonly logits?: readonly number[];
  readonly greedyTokenIds: readonly number[];
}

/** The results of transformers in float64, made by tools/reference/gpt2. */
const reference: Readonly<Record<string, { readonly prompts: readonly ExpectedPrompt[] }>> = JSON.parse(
  readFileSync(new URL('../tools/reference/fixtures/checkpoints-reference.json', import.meta.url), 'utf8'),
);

const FULL_SIZE = 'generated/gpt2';

/** Finer than the difference of the two kinds of GELU, which is 3e-4. */
const FP32_TOLERANCE = 1e-4;

/** Of the values of vectors of length 1. */
const VECTOR_TOLERANCE = 1e-5;

/** A software adapter compiles shaders for seconds for each dtype of a checkpoint, so one stands for all quantized dtypes. */
const QUANTIZED_ON_WEBGPU = 'generated/silu';

test('a generated checkpoint of each kind gives logits and greedy tokens of the reference, q8 and q4 within the error that their blocks allow', async ({
  probePage,
  backend,
}) => {
  test.setTimeout(IS_WHOLE ? 1_800_000 : 600_000);
  for (const id of Object.keys(reference).filter((name) => name !== FULL_SIZE))
    for (const dtype of dtypesOn(backend, id)) await expectReference(probePage, { id, backend, dtype });
});

function dtypesOn(backend: Backend, id: string): readonly Dtype[] {
  if (backend === 'wasm') return ['fp32', 'q8', 'q4'];
  if (!IS_WHOLE) return id === QUANTIZED_ON_WEBGPU ? ['q4'] : [];
  return id === QUANTIZED_ON_WEBGPU ? ['fp32', 'q8', 'q4'] : ['fp32'];
}

test('an embedding that is larger than what a shader binds gives the same logits in blocks', async ({
  probePage,
  backend,
}) => {
  test.skip(
    backend === 'wasm' || !IS_WHOLE,
    'nothing is bound on WASM; WebGPU compiles its shaders for seconds',
  );
  // Splits a matrix of 257 rows of 64 in three blocks for fp32 and in two for q8. All other matrices fit in one.
  const request = { id: 'generated/narrow-inner', backend } as const;
  await expectReference(probePage, { ...request, dtype: 'fp32', maxBindingBytes: 24_000 });
  await expectReference(probePage, { ...request, dtype: 'q8', maxBindingBytes: 12_800 });
});

test('a GPU makes the vectors of sentence-transformers, alone and in a large batch', async ({
  probePage,
  backend,
}) => {
  test.skip(backend === 'wasm', 'unit tests run encoders on the CPU');
  const id = 'generated/bert';
  // The model reads these whole.
  const short = encoders[id].texts.slice(0, 4);
  const many = Array.from({ length: IS_WHOLE ? 64 : 16 }, (_, i) => short[i % short.length] ?? '');
  const { together, alone } = await probePage.evaluate((input) => window.probe.encodeOnGpu(...input), [
    id,
    many,
    2,
  ] as const);
  expect([together.length, alone.length]).toEqual([many.length, 2]);
  for (const [row, vector] of [...together, ...alone].entries()) {
    const length = Math.hypot(...vector);
    const expected = encoders[id].embeddings[(row % many.length) % short.length] ?? [];
    expect(vector).toHaveLength(expected.length);
    for (const [i, value] of expected.entries())
      expect(Math.abs((vector[i] ?? NaN) / length - value)).toBeLessThan(VECTOR_TOLERANCE);
  }
});

async function expectReference(page: Page, choice: ModelChoice & { readonly id: string }): Promise<void> {
  const { id } = choice;
  const prompts = reference[id]?.prompts ?? [];
  const run = await page.evaluate(
    async ([model, promptTokenIds, maxNewTokens]) => {
      const batch = {
        prompts: promptTokenIds,
        maxNewTokens,
        policy: {},
        isPipelined: false,
        hasLogprobs: false,
      };
      // The activations of several prompts would be larger than what a test lets a shader bind.
      const greedily = () => window.probe.runGreedyBatch(model, { ...batch, stepsBetween: 1 });
      // The reference's tokens are those of fp32.
      const tokenIds = model.dtype === 'fp32' ? (await greedily()).tokenIds : [];
      const logits = await window.probe.logitsAfter(model, promptTokenIds);
      return { ...(await window.probe.factsOf(model)), logits, tokenIds };
    },
    [
      choice,
      prompts.map(({ promptTokenIds }) => promptTokenIds),
      prompts[0]?.greedyTokenIds.length ?? 0,
    ] as const,
  );
  const { dtype, logitsErrorBound } = run;
  expect(dtype).toBe(choice.dtype);
  const error = rmsError(run.logits, prompts);
  console.log(`    ${id} ${dtype}: ${error.toExponential(1)}, bound ${logitsErrorBound.toExponential(1)}`);
  if (dtype === 'fp32') {
    expect(run.tokenIds, id).toEqual(prompts.map(({ greedyTokenIds }) => greedyTokenIds));
    expect(largestError(run.logits, prompts), id).toBeLessThan(FP32_TOLERANCE);
  } else {
    expect(error, `${id} in ${dtype}`).toBeLessThan(logitsErrorBound);
  }
}

/** [vocab] for each prompt's last token. */
type Logits = readonly (readonly number[])[];

/** Relative to the largest of the logits. */
function largestError(run: Logits, prompts: readonly ExpectedPrompt[]): number {
  const errors = prompts.map(({ logits = [] }, i) => {
    const scale = Math.max(...logits.map(Math.abs));
    return Math.max(...logits.map((value, id) => Math.abs((run[i]?.[id] ?? NaN) - value))) / scale;
  });
  return Math.max(...errors);
}

/** RMS of the error over RMS of the logits, of the worst prompt. */
function rmsError(run: Logits, prompts: readonly ExpectedPrompt[]): number {
  const errors = prompts.map(({ logits = [] }, i) => {
    const differences = logits.map((value, id) => (run[i]?.[id] ?? NaN) - value);
    return Math.hypot(...differences) / Math.hypot(...logits);
  });
  return Math.max(...errors);
}
