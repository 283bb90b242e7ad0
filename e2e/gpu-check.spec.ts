import { DECODER_CASES } from '../src/worker/testing/operation-cases.ts';
import type { WrongValues } from './faults/inject-faults.ts';
import { expect, test, type FaultyPage } from './support/fault-test.ts';
import { IS_WHOLE } from './support/test.ts';

/** It keeps state of rows of unequal prompts in one buffer with what was before. */
const SHOWN = 'two short convolutions around attention' satisfies keyof typeof DECODER_CASES;

declare global {
  interface Window {
    /** The phases that the worker reported while the page loaded. */
    phases: Set<string>;
  }
}

const FOUND: Readonly<Record<WrongValues, string>> = {
  'third-row': 'row 3 of a batch',
  nan: 'not a number: prompts of any length',
  // The longest prompts are prefilled in chunks, and the second chunk isn't written.
  'stale-cache': 'prompts of 130 tokens and more, tokens after the first',
};

/** Software adapters are passed over, so this one poses as hardware. */
const HARDWARE = { adapter: 'hardware' } as const;

async function phasesOf(faulty: FaultyPage, query: string): Promise<readonly string[]> {
  const { tab } = faulty;
  await faulty.open(query);
  await tab.page.evaluate(() => {
    window.phases = new Set();
    window.tabserve.subscribe('status', ({ progress }) => progress && window.phases.add(progress.phase));
  });
  await tab.ready();
  return tab.page.evaluate(() => [...window.phases]);
}

test('a GPU is checked at its first start, as a phase of the load, and not at the second', async ({
  faulty,
}) => {
  test.skip(!IS_WHOLE, 'every other test on WebGPU starts with a check that passes, as a unit test shows');
  expect(await phasesOf(faulty, '?backend=webgpu')).toContain('check');
  const second = await phasesOf(faulty, '?backend=webgpu');
  expect(second).toContain('compile');
  expect(second).not.toContain('check');
});

/** Relatives of Llama, whose stored weights run through its operators. */
const RELATIVES = ['lfm2', 'smollm3', 'olmo3', 'granite', 'phi3'];

for (const modelType of ['gpt2', 'llama', 'qwen3', 'gemma3_text', 'qwen3_5_text', ...RELATIVES])
  for (const dtype of RELATIVES.includes(modelType) ? (['fp32'] as const) : (['fp32', 'q8', 'q4'] as const))
    test(`a GPU that computes rightly passes for ${modelType} in ${dtype}`, async ({ probePage }) => {
      test.skip(
        !IS_WHOLE,
        'each compiles its shaders for seconds; the embedded model is checked in fp32 above',
      );
      const where = await probePage.evaluate((model) => window.probe.checkGpuFor(model), {
        modelType,
        dtype,
        precision: 'float32',
      } as const);
      expect(where).toBe('');
    });

for (const operation of Object.keys(DECODER_CASES))
  test(`WebGPU computes ${operation} as float64 does`, async ({ probePage }) => {
    test.skip(!IS_WHOLE && operation !== SHOWN, 'each compiles its shaders for seconds');
    const wrong = await probePage.evaluate((says) => window.probe.wrongOperation(says), operation);
    expect(wrong).toEqual({});
  });

for (const wrongValues of ['third-row', 'nan', 'stale-cache'] as const) {
  test(`wrong values of a GPU are found before it serves, and WASM serves: ${wrongValues}`, async ({
    faulty,
  }) => {
    test.skip(
      !IS_WHOLE,
      'each compiles all shaders for half a minute; unit tests have the verdict and what follows',
    );
    const { tab } = faulty;
    const warnings: string[] = [];
    tab.page.on('console', (message) => {
      if (message.type() === 'warning') warnings.push(message.text());
    });
    faulty.planNext = () => ({ ...HARDWARE, hardwareConcurrency: 2, wrongValues });
    await faulty.open('');
    const { backend, recovery } = await tab.ready();
    const reason = `This GPU computes wrong values (${FOUND[wrongValues]})`;
    expect(backend?.rung).toBe('wasm');
    expect(backend?.fallbackReason).toContain(reason);
    expect(recovery).toMatchObject({ kind: 'wrong-values', rung: 'webgpu-fp32', attempt: 1 });
    await expect(tab.page.locator('.site-header')).toContainText('the GPU computes wrong values');
    await expect(await tab.openStatus()).toContainText(reason);
    await expect.poll(() => warnings).toContainEqual(`${reason}. Using the CPU.`);
  });
}

test('where only WebGPU may run, wrong values are an error with a code and a remedy', async ({ faulty }) => {
  test.skip(
    !IS_WHOLE,
    'compiles all shaders for half a minute; no-adapter.spec.ts shows such an error in short',
  );
  const { tab } = faulty;
  faulty.planNext = () => ({ wrongValues: 'stale-cache' });
  await faulty.open('?backend=webgpu');
  await expect(tab.ready()).rejects.toThrow('GpuWrongValuesError');
  const { state, error } = await tab.status();
  expect(state).toBe('failed');
  expect(error?.code).toBe('GPU_WRONG_VALUES');
  expect(tab.errors.splice(0), 'what the console says, once').toEqual([
    expect.stringContaining('GPU_WRONG_VALUES'),
  ]);
  await expect(tab.page.getByRole('link', { name: 'Open the page with ?backend=wasm' })).toBeVisible();
});
