import type { FaultPlan } from './faults/inject-faults.ts';
import { describeGaps, expect, survive, test } from './support/fault-test.ts';
import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import { IS_WHOLE } from './support/test.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';

const NUM_LOSSES = IS_WHOLE ? 6 : 1;

test(`${NUM_LOSSES} lost devices under eight requests change no text`, async ({ faulty, tab: calm }) => {
  test.setTimeout(300_000 + NUM_LOSSES * 60_000);
  const random = seededRandom(runSeed());
  const faults = Array.from({ length: NUM_LOSSES }, () => 'device-lost' as const);
  const gaps = await survive(faulty, { faults, query: '?backend=webgpu', random, calm, maxNewTokens: 8 });
  const { backend } = await faulty.tab.status();
  expect(backend).toMatchObject({
    rung: 'webgpu-fp32',
    fallbackReason: "fp16 isn't available: the GPU adapter has no shader-f16",
  });
  await expect(await faulty.tab.openStatus()).toContainText(backend?.fallbackReason ?? '?');
  console.log(`    ${NUM_LOSSES} lost devices: ${describeGaps(gaps)}`);
  expect(gaps.length, 'losses that interrupted something').toBeGreaterThanOrEqual(NUM_LOSSES / 2);
});

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

for (const fault of ['gpu-error', 'gpu-out-of-memory', 'gpu-hang'] as const) {
  test.describe(`a ${fault}`, () => {
    test.skip(!IS_WHOLE, 'each takes a fresh worker on a software adapter: in the whole suite');

    test('changes no text', async ({ faulty, tab: calm }) => {
      // A step that hangs is waited for as long as ten of the longest so far.
      test.setTimeout(900_000);
      const random = seededRandom(runSeed());
      const gaps = await survive(faulty, { faults: [fault, fault], query: '?backend=webgpu', random, calm });
      console.log(`    twice ${fault}: ${describeGaps(gaps)}`);
    });
  });
}
