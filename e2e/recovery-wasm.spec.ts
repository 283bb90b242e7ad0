import type { InjectedFault } from './faults/inject-faults.ts';
import { describeGaps, expect, survive, test, textOf } from './support/fault-test.ts';
import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import { IS_WHOLE } from './support/test.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';

/** Each so often in the whole suite; in short, all of them in turn. */
const NUM_FAULTS = {
  'worker-ended': 25,
  'wasm-abort': 10,
  'run-rejected': 50,
  'worker-throw': 10,
} as const;

const KINDS = ['worker-ended', 'wasm-abort', 'run-rejected', 'worker-throw'] as const;

const SERIES: readonly (readonly InjectedFault[])[] = IS_WHOLE
  ? KINDS.map((kind) => Array.from({ length: NUM_FAULTS[kind] }, () => kind))
  : [KINDS];

for (const faults of SERIES) {
  const name = `${faults.length} deaths under eight requests change no text: ${[...new Set(faults)].join(', ')}`;
  test(name, async ({ faulty, tab: calm }) => {
    test.setTimeout(120_000 + faults.length * 20_000);
    const random = seededRandom(runSeed());
    const gaps = await survive(faulty, { faults, query: '?backend=wasm', random, calm });
    console.log(`    ${faults.length} deaths: ${describeGaps(gaps)}`);
    expect(gaps.length, 'deaths that interrupted something').toBeGreaterThanOrEqual(faults.length / 2);
  });
}

// A rejected run names the requests of its step. After a throw, finding the request takes more workers: in the whole suite.
for (const fault of IS_WHOLE ? (['run-rejected', 'worker-throw'] as const) : (['run-rejected'] as const)) {
  test(`a request that ends every worker fails alone, and the others are answered: ${fault}`, async ({
    faulty,
  }) => {
    const { tab } = faulty;
    const requests = reference.prompts.slice(0, 4);
    const [poisoned, ...others] = requests;
    const taken = new Set(others.flatMap((other) => [...other.promptTokenIds, ...greedyTokenIds(other)]));
    const poisonedTokenId = poisoned?.promptTokenIds.find((id) => !taken.has(id));
    expect(poisonedTokenId, 'a token of one prompt alone').toBeDefined();
    faulty.planNext = () => ({ fault, poisonedTokenId: poisonedTokenId ?? 0 });
    await faulty.open('?backend=wasm');
    await tab.begin(
      requests.map(({ prompt }) => ({ prompt, options: { temperature: 0, maxNewTokens: 12 } })),
    );
    const outcomes = await tab.outcomesOfBegun();
    expect(outcomes.map(({ code }) => code)).toEqual(['MODEL_RUN_FAILED', undefined, undefined, undefined]);
    expect(outcomes.slice(1).map(({ value }) => withoutEnd(value?.tokenIds ?? []))).toEqual(
      others.map((other) => greedyTokenIds(other, 12)),
    );
    expect(outcomes[0]?.message).toContain('shorten the prompt');
  });
}

test('where memory runs out, half as many run together, all are answered, and the page says what has happened', async ({
  faulty,
  tab: calm,
}) => {
  const { tab } = faulty;
  faulty.planNext = (life) =>
    life === 0 ? { fault: 'wasm-out-of-memory', isAfterToken: true, atRun: 3 } : {};
  const requests = sampledRequests(8, 0, 16);
  const undisturbed = (await calm.generateAll(requests)).map(({ text }) => text);
  await faulty.open('?backend=wasm');
  await tab.ready();
  // All eight come into one batch.
  await tab.configure({ batchWaitTimeoutMs: 200 });
  await tab.begin(requests);
  expect((await tab.outcomesOfBegun()).map(textOf)).toEqual(undisturbed);
  const sizes = (await tab.steps('decode')).map(({ batchSize }) => batchSize);
  expect(Math.max(...sizes.slice(-8)), 'sequences that run together').toBe(4);
  const { recovery, backend } = await tab.status();
  expect(recovery).toMatchObject({ kind: 'out-of-memory', rung: backend?.rung, attempt: 1 });
  await expect(await tab.openStatus()).toContainText('Memory ran out. No request was lost.');
});

test('WASM with threads, and without them once it has failed twice, makes the reference’s text', async ({
  faulty,
}) => {
  const { tab } = faulty;
  const facts = { hardwareConcurrency: 4 };
  const [first] = reference.prompts;
  if (!first) throw new Error('There is no reference prompt.');
  const expected = greedyTokenIds(first, 16);
  const generate = async () =>
    withoutEnd((await tab.generate(first.prompt, { temperature: 0, maxNewTokens: 16 })).tokenIds);
  faulty.planNext = () => facts;
  await faulty.open('?backend=wasm');
  expect((await tab.ready()).backend).toMatchObject({
    rung: 'wasm-threads',
    adapter: expect.stringMatching(/^CPU, fp32, (relaxed|plain) SIMD, 2 threads$/),
  });
  expect(await generate()).toEqual(expected);

  const before = faulty.plans.length;
  faulty.planNext = (life) => (life < before + 2 ? { ...facts, fault: 'run-rejected', atRun: 1 } : facts);
  await faulty.open('?backend=wasm');
  expect(await generate()).toEqual(expected);
  const { backend } = await tab.status();
  expect(backend).toMatchObject({
    rung: 'wasm',
    adapter: expect.stringMatching(/^CPU, fp32, (relaxed|plain) SIMD, 1 thread$/),
  });
  expect(backend?.fallbackReason).toContain(
    'Gave up on the CPU with threads after 2 failures in a row (injected)',
  );
  await expect(await tab.openStatus()).toContainText(backend?.fallbackReason ?? '?');
});

test.describe('a worker that hangs', () => {
  test.skip(!IS_WHOLE, 'it takes a minute to be sure of a hang: in the whole suite');

  test('is replaced after a minute of silence, and its requests go on', async ({ faulty }) => {
    const { tab } = faulty;
    faulty.planNext = (life) => (life === 0 ? { fault: 'worker-hang', isAfterToken: true, atRun: 3 } : {});
    await faulty.open('?backend=wasm');
    const { usage } = await tab.generate('Once upon a time', { maxNewTokens: 8 });
    expect(usage.numOutputTokens).toBeGreaterThan(0);
    expect((await tab.status()).recovery?.kind).toBe('worker-hang');
  });

  test('over a prompt that never is read fails that request after the second time, and no other', async ({
    faulty,
  }) => {
    const { tab } = faulty;
    faulty.planNext = () => ({ endlessText: 'labyrinth' });
    await faulty.open('?backend=wasm');
    await tab.ready();
    await tab.begin([
      { prompt: 'Into the labyrinth' },
      { prompt: 'Once upon a time', options: { maxNewTokens: 8 } },
    ]);
    const [endless, other] = await tab.outcomesOfBegun();
    expect(endless).toMatchObject({
      code: 'MODEL_RUN_FAILED',
      message: expect.stringContaining('shorten the prompt'),
    });
    expect(other?.value?.usage.numOutputTokens).toBeGreaterThan(0);
    expect(faulty.plans).toHaveLength(3);
  });
});
