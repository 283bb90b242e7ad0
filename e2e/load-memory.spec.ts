import type { Page } from 'playwright/test';
import type { Dtype } from '../src/protocol/models.ts';
import { FULL_SIZE_LLAMA, LARGEST_TENSOR_BYTES } from '../tools/hub-server/checkpoints/full-size-llama.ts';
import type { LoadRequest, MeasuredLoad } from './probe/measure-load.ts';
import { requireEnvironment } from './support/environment.ts';
import { peakMemoryOf } from '../tools/bench/process-memory.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

const SMALL = 'generated/llama';

const DTYPES = { wasm: ['fp32', 'q8', 'q4'], webgpu: ['fp32', 'q4'] } as const satisfies Record<
  string,
  readonly Dtype[]
>;

test('a checkpoint of half a gigabyte takes three times its largest tensor more while it is loaded than when it serves', async ({
  page,
  browser,
  backend,
}) => {
  test.skip(!IS_WHOLE, 'half a gigabyte: in the whole suite');
  test.setTimeout(1_800_000);
  for (const dtype of DTYPES[backend]) {
    await page.goto('about:blank');
    await page.goto(requireEnvironment().probeUrl);
    // The runtime and its shaders have memory of their own.
    const small = await load(page, { id: SMALL, backend, dtype });
    const before = await peakMemoryOf(browser);
    const run = await load(page, { id: FULL_SIZE_LLAMA, backend, dtype });
    const peak = await peakMemoryOf(browser);
    // A WASM heap never shrinks. A GPU has the weights as they are packed.
    const heap = run.wasmHeapBytes - small.wasmHeapBytes;
    const final = backend === 'wasm' ? heap : heap + run.packedBytes;
    // The larger of what the file has and of what is loaded.
    const largest = LARGEST_TENSOR_BYTES * (dtype === 'fp32' ? 2 : 1);
    // The page and the GPU process both map an upload, so it counts twice.
    const mapped = backend === 'wasm' ? 0 : largest;
    const [inPage, inGpu] = [peak.page - before.page, peak.gpu - before.gpu];
    const above = inPage + inGpu - mapped - final;
    console.log(
      `    ${backend} ${dtype}: packed ${megabytes(run.packedBytes)}, WASM heap ${megabytes(heap)}, at most ${megabytes(inPage)} in the ` +
        `page and ${megabytes(inGpu)} for the GPU; ${megabytes(above)} above the final size, largest tensor ${megabytes(largest)}`,
    );
    expect(run.logits[0]?.every(Number.isFinite)).toBe(true);
    expect(above).toBeLessThan(3 * largest);
  }
});

function load(page: Page, request: Omit<LoadRequest, 'prompts'>): Promise<MeasuredLoad> {
  return page.evaluate((input) => window.probe.measureLoad(input), { ...request, prompts: [[1, 2, 3, 4]] });
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
