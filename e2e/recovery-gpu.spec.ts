import type { FaultPlan } from './faults/inject-faults.ts';
import { describeGaps, expect, survive, test, textOf } from './support/fault-test.ts';
import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import { IS_WHOLE } from './support/test.ts';

const NUM_TOKENS = 6;

// On the page that all tests share: a page with injected faults would compile all shaders once more before its loss.
test('a lost device under eight requests changes no text', async ({ tab }) => {
  const requests = sampledRequests(8, 0, NUM_TOKENS);
  const undisturbed = (await tab.generateAll(requests)).map(({ text }) => text);
  await tab.forget();
  await tab.cancelBegun();
  await tab.begin(requests);
  await tab.whenStreamed(1 + Math.floor(0.5 * requests.length * NUM_TOKENS * seededRandom(runSeed())()));
  for (const worker of tab.page.workers()) await worker.evaluate(loseDevice);
  const outcomes = await tab.outcomesOfBegun();
  expect(outcomes.map(textOf)).toEqual(undisturbed);
  expect(outcomes.map(({ streamed }) => streamed)).toEqual(
    outcomes.map(({ value }) => ({ text: value?.generatedText, tokenIds: value?.tokenIds })),
  );
  expect((await tab.updates()).map(({ type }) => type)).toContain('resubmitted');
  const { backend } = await tab.status();
  expect(backend).toMatchObject({
    rung: 'webgpu-fp32',
    fallbackReason: "fp16 isn't available: the GPU adapter has no shader-f16",
  });
  await expect(await tab.openStatus()).toContainText(backend?.fallbackReason ?? '?');
});

/** Runs in a worker: its device is lost with the next commands. */
function loseDevice(): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { createCommandEncoder } = GPUDevice.prototype;
  GPUDevice.prototype.createCommandEncoder = function lost(...input) {
    this.destroy();
    return createCommandEncoder.apply(this, input);
  };
}

// A software adapter computes only in fp32. Unit tests show that fp16 comes first where available, and then fp32. That WebGPU in
// fp32 makes the reference's text is tested in reference.spec.ts.
test('each rung below one that fails makes the reference’s text: WASM with threads, WASM', async ({
  faulty,
}) => {
  test.skip(!IS_WHOLE, 'in short, recovery-wasm.spec.ts leaves a rung for the next');
  const { tab } = faulty;
  const facts = { hardwareConcurrency: 4, adapter: 'hardware' } as const;
  const [first] = reference.prompts;
  if (!first) throw new Error('There is no reference prompt.');
  const generateWith = async (plan: (life: number) => FaultPlan) => {
    const before = faulty.plans.length;
    faulty.planNext = (life) => ({ ...facts, ...plan(life - before) });
    await faulty.open('');
    const { tokenIds } = await tab.generate(first.prompt, { temperature: 0, maxNewTokens: 12 });
    expect(withoutEnd(tokenIds)).toEqual(greedyTokenIds(first, 12));
    const { backend } = await tab.status();
    await expect(await tab.openStatus()).toContainText(backend?.fallbackReason ?? '?');
    return backend;
  };
  const threads = await generateWith((life) => (life < 2 ? { fault: 'device-lost', atRun: 1 } : {}));
  expect(threads?.rung).toBe('wasm-threads');
  expect(threads?.fallbackReason).toContain('Gave up on WebGPU in fp32 after 2 failures in a row');

  const alone = await generateWith((life) => ({
    adapter: 'refused',
    ...(life < 2 && { fault: 'run-rejected', atRun: 1 }),
  }));
  expect(alone?.rung).toBe('wasm');
  expect(alone?.fallbackReason).toContain('the browser found no GPU adapter');
});

for (const [fault, numFaults] of [
  ['device-lost', 6],
  ['gpu-error', 2],
  ['gpu-out-of-memory', 2],
  ['gpu-hang', 2],
] as const) {
  test.describe(`${numFaults} times ${fault}`, () => {
    test.skip(!IS_WHOLE, 'each takes a fresh worker on a software adapter: in the whole suite');

    test('changes no text', async ({ faulty, tab: calm }) => {
      // A step that hangs is waited for as long as ten of the longest so far.
      test.setTimeout(900_000);
      const random = seededRandom(runSeed());
      const faults = Array.from({ length: numFaults }, () => fault);
      const gaps = await survive(faulty, { faults, query: '?backend=webgpu', random, calm });
      console.log(`    ${numFaults} times ${fault}: ${describeGaps(gaps)}`);
      expect(gaps.length, 'faults that interrupted something').toBeGreaterThanOrEqual(numFaults / 2);
    });
  });
}
