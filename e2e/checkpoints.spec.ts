import { readFileSync } from 'node:fs';
import type { Page } from 'playwright/test';
import type { Dtype } from '../src/protocol/models.ts';
import type { ModelChoice } from './probe/models.ts';
import { requireEnvironment } from './support/environment.ts';
import { peakMemoryOf } from '../tools/bench/process-memory.ts';
import type { Backend } from './support/tab.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

interface ExpectedPrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** All logits of the last token. The full-size checkpoint has only the largest ones, with their ids. */
  readonly logits?: readonly number[];
  readonly topIds?: readonly number[];
  readonly topLogits?: readonly number[];
  readonly greedyTokenIds: readonly number[];
}

/** NumPy's results in float64, made by tools/reference/gpt2. */
const reference: Readonly<Record<string, { readonly prompts: readonly ExpectedPrompt[] }>> = JSON.parse(
  readFileSync(new URL('../tools/reference/fixtures/checkpoints-reference.json', import.meta.url), 'utf8'),
);

const FULL_SIZE = 'generated/gpt2';

/** Limit of JavaScript's own heap, including its buffers. */
const LARGEST_HEAP = 300e6;

/** Finer than the difference of the two kinds of GELU, which is 3e-4. */
const FP32_TOLERANCE = 1e-4;

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

test("a checkpoint in gpt2's size and layout has the reference's logits, in bounded memory", async ({
  page,
  browser,
  backend,
}) => {
  test.skip(
    !IS_WHOLE,
    'it takes a minute, and the page loads the same checkpoint from the mirror of the hub',
  );
  test.setTimeout(1_800_000);
  await page.goto(requireEnvironment().probeUrl);
  const prompts = reference[FULL_SIZE]?.prompts ?? [];
  const { page: before } = await peakMemoryOf(browser);
  const run = await page.evaluate((request) => window.probe.measureLoad(request), {
    id: FULL_SIZE,
    backend,
    dtype: 'fp32',
    prompts: prompts.map(({ promptTokenIds }) => promptTokenIds),
  } as const);
  const { page: peak } = await peakMemoryOf(browser);
  const beside = peak - before - run.wasmHeapBytes;
  console.log(
    `    ${backend}: packed ${megabytes(run.packedBytes)}; peak of the tab's process ${megabytes(peak)} (${megabytes(before)} before), of it WASM heap ` +
      `${megabytes(run.wasmHeapBytes)}, the rest ${megabytes(beside)}, planned ${megabytes(run.plannedHeapBytes)}`,
  );
  for (const [i, { topIds = [], topLogits = [] }] of prompts.entries()) {
    const errors = topIds.map((id, rank) =>
      Math.abs((run.logits[i]?.[id] ?? NaN) - (topLogits[rank] ?? NaN)),
    );
    expect(Math.max(...errors) / Math.max(...topLogits)).toBeLessThan(FP32_TOLERANCE);
  }
  expect(run.plannedHeapBytes).toBeLessThan(LARGEST_HEAP);
  // To upload the largest tensor, WebGPU maps its size once more, in the process but not on JavaScript's heap.
  const mapped = backend === 'webgpu' ? run.plannedHeapBytes : 0;
  expect(beside - mapped).toBeLessThan(LARGEST_HEAP);
});

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

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
      const { tokenIds } = await window.probe.runGreedyBatch(model, { ...batch, stepsBetween: 1 });
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
