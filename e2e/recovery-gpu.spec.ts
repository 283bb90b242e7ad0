import { describeGaps, expect, survive, test } from './support/fault-test.ts';
import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';

const IS_FULL = Boolean(process.env['FULL']);

const NUM_LOSSES = IS_FULL ? 100 : 3;

test(`${NUM_LOSSES} lost devices under eight requests change no text`, async ({ faulty }) => {
  test.setTimeout(300_000 + NUM_LOSSES * 60_000);
  const random = seededRandom(runSeed());
  const options = { fault: 'device-lost', numFaults: NUM_LOSSES, query: '?backend=webgpu', random } as const;
  const gaps = await survive(faulty, options);
  console.log(`    ${NUM_LOSSES} lost devices: ${describeGaps(gaps)}`);
  expect(gaps.length, 'losses that interrupted something').toBeGreaterThanOrEqual(NUM_LOSSES / 2);
});

// A software adapter computes in fp32 alone: that fp16 comes first where there is some, and that fp32 follows it, the unit tests
// of the choice show.
test('each rung below one that fails makes the reference’s text: WebGPU fp32, WASM with threads, WASM', async ({
  faulty,
}) => {
  const { tab } = faulty;
  const facts = { hardwareConcurrency: 4 };
  const [first] = reference.prompts;
  if (!first) throw new Error('There is no reference prompt.');
  /** Each worker until then breaks at its first run. */
  const generateAfter = async (numFailures: number) => {
    const before = faulty.plans.length;
    faulty.planNext = (life) =>
      life < before + numFailures
        ? { ...facts, fault: life < before + 2 ? 'device-lost' : 'run-rejected', atRun: 1 }
        : facts;
    await tab.open('');
    const { tokenIds } = await tab.generate(first.prompt, { temperature: 0, maxNewTokens: 12 });
    expect(withoutEnd(tokenIds)).toEqual(greedyTokenIds(first, 12));
    const { backend } = await tab.status();
    return backend;
  };
  await faulty.open('');
  expect(await generateAfter(0)).toMatchObject({
    rung: 'webgpu-fp32',
    fallbackReason: 'This GPU adapter does not offer shader-f16',
  });
  const threads = await generateAfter(2);
  expect(threads?.rung).toBe('wasm-threads');
  expect(threads?.fallbackReason).toContain('WebGPU in fp32 was left after 2 failures in a row');
  await expect(tab.page.getByText(threads?.fallbackReason ?? '').first()).toBeVisible();
  expect((await generateAfter(4))?.rung).toBe('wasm');
});

test('an adapter that is refused is passed over, and said so', async ({ faulty }) => {
  faulty.planNext = () => ({ adapter: 'refused' });
  await faulty.open('');
  const { backend } = await faulty.tab.ready();
  expect(backend?.name).toBe('wasm');
  expect(backend?.fallbackReason).toContain('the browser found no GPU adapter');
});

for (const fault of ['gpu-error', 'gpu-out-of-memory', 'gpu-hang'] as const) {
  test.describe(`a ${fault}`, () => {
    test.skip(!IS_FULL, 'each takes a fresh worker on a software adapter: in the whole suite');

    test('changes no text', async ({ faulty }) => {
      const random = seededRandom(runSeed());
      const gaps = await survive(faulty, { fault, numFaults: 2, query: '?backend=webgpu', random });
      console.log(`    twice ${fault}: ${describeGaps(gaps)}`);
    });
  });
}
