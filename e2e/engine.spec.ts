import type { Page } from 'playwright/test';
import { collectedHeaps } from './support/collected-heaps.ts';
import { requireEnvironment } from './support/environment.ts';
import { digestOf, RECORDED } from '../tools/reference/cpu-logits.ts';
import { runSeed } from './support/seeded-random.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, IS_WHOLE, test } from './support/test.ts';

/** A software adapter takes a second for what WASM does in ten ms. */
const NUM_TRIALS = { webgpu: 40, wasm: IS_WHOLE ? 200 : 100 };
/** The first ones compile the engine's code, which the heap has, too. */
const NUM_REQUESTS = IS_WHOLE ? { first: 900, further: 900 } : { first: 100, further: 200 };
/**
 * onnxruntime-web keeps as many buffers as it has ever needed at once. A few requests may not reach that number, but a
 * hundred do. A leak grows in every round.
 */
const MAX_ROUNDS = IS_WHOLE ? 1 : 4;

test(
  'a request has the text that it has alone, whatever runs with it, under every policy, with and without prefix reuse, pipelined or not',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ probePage, backend }) => {
    test.setTimeout(IS_WHOLE ? 3_600_000 : 300_000);
    const seed = runSeed();
    const report = await probePage.evaluate((input) => window.probe.runTrials(...input), [
      { backend },
      seed,
      { count: NUM_TRIALS[backend], maxNewTokens: 10 },
    ] as const);
    expect(report.differences, `E2E_SEED=${seed}`).toEqual([]);
    expect(report.numReusedTokens, 'tokens reused').toBeGreaterThan(0);
    expect(report.numSharedPrefills, 'prefills shared').toBeGreaterThan(0);
    if (backend === 'webgpu') expect(report.numPipelined, 'trials pipelined').toBeGreaterThan(0);
    expect(report.largestBatch, 'the largest batch').toBe(16);
  },
);

test('a decode step has the same logits when it runs, when it is captured and when it is replayed, at every length', async ({
  probePage,
  backend,
}) => {
  test.skip(backend === 'wasm', 'the CPU has no commands to capture');
  const report = await probePage.evaluate(() => window.probe.repeatSteps());
  expect(report.differences).toEqual([]);
  // The first two of four times run or are captured: onnxruntime-web describes those.
  expect(report.numReplayed, 'steps replayed').toBe(report.numSteps / 2);
});

test('the CPU computes the recorded bits', async ({ probePage, backend }) => {
  test.skip(backend === 'webgpu', 'GPUs differ in the last bits');
  for (const { id, dtype, prompts, sha256 } of RECORDED) {
    const [logits = []] = await probePage.evaluate((input) => window.probe.logitsAfter(...input), [
      { backend: 'wasm', id, dtype },
      prompts,
    ] as const);
    expect(digestOf(logits), `${id} in ${dtype}`).toBe(sha256);
  }
});

test(
  'what requests leave behind does not grow with their number',
  { tag: ANY_BACKEND },
  async ({ page, backend }) => {
    test.setTimeout(IS_WHOLE ? 3_600_000 : 300_000);
    const seed = runSeed();
    // A page of its own: what is counted starts from nothing.
    await page.goto(requireEnvironment().probeUrl);
    await page.waitForFunction(() => 'probe' in window);
    await page.evaluate((input) => window.probe.startSoak(...input), [backend, seed] as const);
    const { first: numFirst, further: numFurther } = NUM_REQUESTS;
    let first = await soak(page, numFirst);
    let last = await soak(page, numFurther);
    for (let round = 1; round < MAX_ROUNDS && last.state.numBytes > first.state.numBytes; round += 1) {
      first = last;
      last = await soak(page, numFurther);
    }
    console.log(`    ${describe(first)}; ${numFurther} requests later: ${describe(last)}`);
    expect(last.state, `E2E_SEED=${seed}`).toMatchObject({ numRunning: 0, numWaiting: 0, numFailed: 0 });
    expect(last.state.kvCache).toEqual({ ...first.state.kvCache, usedBytes: 0 });
    expect([last.state.numBuffers, last.state.numBytes]).toEqual([
      first.state.numBuffers,
      first.state.numBytes,
    ]);
    expect(last.state.numCancelled, 'requests cancelled').toBeGreaterThan(0);
    // The heap includes the compiled code of the engine.
    expect(last.heapBytes - first.heapBytes, 'heap growth, bytes').toBeLessThan(0.05 * first.heapBytes);
  },
);

async function soak(page: Page, numRequests: number) {
  const state = await page.evaluate((count) => window.probe.runSoak(count), numRequests);
  const { page: heapBytes } = await collectedHeaps(page);
  return { state, heapBytes };
}

function describe({ state, heapBytes }: Awaited<ReturnType<typeof soak>>): string {
  const { numBuffers, numBytes, numFinished, numCancelled } = state;
  return `${numFinished} finished, ${numCancelled} cancelled, heap ${heapBytes} bytes, ${numBuffers} GPU buffers of ${numBytes} bytes`;
}
