import { readFileSync } from 'node:fs';
import type { Page } from 'playwright/test';
import type { Dtype } from '../src/protocol/models.ts';
import type { CheckpointRequest, CheckpointRun } from './probe/checkpoint-probe.ts';
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
  page,
  backend,
}) => {
  test.setTimeout(600_000);
  await page.goto(requireEnvironment().probeUrl);
  for (const id of Object.keys(reference).filter((name) => name !== FULL_SIZE)) {
    const dtypes = dtypesOn(backend, id);
    if (dtypes.length > 0) await expectReference(page, { id, backend, dtypes });
  }
});

function dtypesOn(backend: Backend, id: string): readonly Dtype[] {
  if (backend === 'wasm') return ['fp32', 'q8', 'q4'];
  if (!IS_WHOLE) return id === QUANTIZED_ON_WEBGPU ? ['q4'] : [];
  return id === QUANTIZED_ON_WEBGPU ? ['fp32', 'q8', 'q4'] : ['fp32'];
}

test('an embedding that is larger than what a shader binds gives the same logits in blocks', async ({
  page,
  backend,
}) => {
  test.skip(
    backend === 'wasm' || !IS_WHOLE,
    'nothing is bound on WASM; WebGPU compiles its shaders for seconds',
  );
  await page.goto(requireEnvironment().probeUrl);
  // Splits a matrix of 257 rows of 64 in three blocks for fp32 and in two for q8. All other matrices fit in one.
  const request = { id: 'generated/narrow-inner', backend } as const;
  await expectReference(page, { ...request, dtypes: ['fp32'], maxBindingBytes: 24_000 });
  await expectReference(page, { ...request, dtypes: ['q8'], maxBindingBytes: 12_800 });
});

test("a checkpoint in gpt2's size and layout goes on with the reference's tokens, two prompts at once, in bounded memory", async ({
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
  const [run] = await page.evaluate((request) => window.runCheckpoint(request), {
    id: FULL_SIZE,
    backend,
    dtypes: ['fp32'] as const,
    prompts: prompts.map(({ promptTokenIds }) => promptTokenIds),
    numTokens: prompts[0]?.greedyTokenIds.length ?? 0,
  });
  if (!run) throw new Error('Nothing has run.');
  const { page: peak } = await peakMemoryOf(browser);
  const beside = peak - before - run.wasmHeapBytes;
  console.log(
    `    ${backend}: packed ${megabytes(run.packedBytes)} in ${seconds(run.convertMs)}, created in ${seconds(run.createMs)}; ` +
      `peak of the tab's process ${megabytes(peak)} (${megabytes(before)} before), of it WASM heap ` +
      `${megabytes(run.wasmHeapBytes)}, the rest ${megabytes(beside)}, planned ${megabytes(run.plannedHeapBytes)}`,
  );
  expect(run.greedyTokenIds).toEqual(prompts.map(({ greedyTokenIds }) => greedyTokenIds));
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

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

async function expectReference(
  page: Page,
  request: Omit<CheckpointRequest, 'prompts' | 'numTokens'>,
): Promise<void> {
  const { id } = request;
  const prompts = reference[id]?.prompts ?? [];
  const runs = await page.evaluate((input) => window.runCheckpoint(input), {
    ...request,
    prompts: prompts.map(({ promptTokenIds }) => promptTokenIds),
    numTokens: prompts[0]?.greedyTokenIds.length ?? 0,
  });
  expect(runs.length).toBe(request.dtypes.length);
  for (const run of runs) {
    const { dtype, logitsErrorBound } = run;
    const error = rmsError(run, prompts);
    console.log(`    ${id} ${dtype}: ${error.toExponential(1)}, bound ${logitsErrorBound.toExponential(1)}`);
    for (const [name, tensorError] of Object.entries(run.quantizationErrors))
      console.log(`      ${name}: ${tensorError.toExponential(1)}`);
    if (dtype === 'fp32') {
      expect(run.greedyTokenIds, id).toEqual(prompts.map(({ greedyTokenIds }) => greedyTokenIds));
      expect(largestError(run, prompts), id).toBeLessThan(FP32_TOLERANCE);
    } else {
      expect(error, `${id} in ${dtype}`).toBeLessThan(logitsErrorBound);
    }
  }
}

/** Relative to the largest of the logits. */
function largestError(run: CheckpointRun, prompts: readonly ExpectedPrompt[]): number {
  const errors = prompts.map(({ logits = [] }, i) => {
    const scale = Math.max(...logits.map(Math.abs));
    return Math.max(...logits.map((value, id) => Math.abs((run.logits[i]?.[id] ?? NaN) - value))) / scale;
  });
  return Math.max(...errors);
}

/** RMS of the error over RMS of the logits, of the worst prompt. */
function rmsError(run: CheckpointRun, prompts: readonly ExpectedPrompt[]): number {
  const errors = prompts.map(({ logits = [] }, i) => {
    const differences = logits.map((value, id) => (run.logits[i]?.[id] ?? NaN) - value);
    return Math.hypot(...differences) / Math.hypot(...logits);
  });
  return Math.max(...errors);
}
