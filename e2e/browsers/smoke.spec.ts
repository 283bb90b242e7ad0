import { digestOf, RECORDED } from '../../tools/reference/cpu-logits.ts';
import { greedyTokenIds, reference, withoutEnd } from '../support/reference.ts';
import { DrivenTab } from './driven-tab.ts';
import { expect, test } from './test.ts';

const MAX_NEW_TOKENS = 24;
const GREEDY = { temperature: 0, maxNewTokens: MAX_NEW_TOKENS };

const PROMPTS = reference.prompts.map(({ prompt }) => prompt);
const EXPECTED = reference.prompts.map((entry) => greedyTokenIds(entry, MAX_NEW_TOKENS));

test('the page loads, says on which rung it runs and why, and generates what PyTorch does', async ({
  driven,
  openTab,
}) => {
  const tab = await openTab();
  const { state, backend } = await tab.ready();
  expect(state).toBe('ready');
  console.log(
    `${driven.version} runs on ${backend?.name} ${backend?.precision}, ${backend?.adapter}: ${backend?.fallbackReason || 'its best'}`,
  );
  const hasWebGpu = await tab.evaluate(() => 'gpu' in navigator);
  if (!hasWebGpu) expect(backend).toMatchObject({ name: 'wasm', precision: 'fp32' });
  const tokenIds = await tab.generateAll(PROMPTS, GREEDY);
  expect(tokenIds.map(withoutEnd)).toEqual(EXPECTED);
});

test('two tabs share one worker, or say why not, and either serves when the other is closed', async ({
  openTab,
}) => {
  const [first, second] = [await openTab(), await openTab()];
  await Promise.all([first.ready(), second.ready()]);
  const { isolationReason } = await first.status();
  console.log(isolationReason || 'Two tabs share one worker.');
  const roles = [(await first.status()).role, (await second.status()).role];
  expect(roles.toSorted()).toEqual(isolationReason ? ['leader', 'leader'] : ['follower', 'leader']);
  for (const tab of [first, second]) {
    expect((await tab.generateAll(PROMPTS.slice(0, 2), GREEDY)).map(withoutEnd)).toEqual(
      EXPECTED.slice(0, 2),
    );
  }
  const [leader, other] = roles[0] === 'leader' ? [first, second] : [second, first];
  await leader.close();
  expect((await other.generateAll(PROMPTS.slice(0, 2), GREEDY)).map(withoutEnd)).toEqual(
    EXPECTED.slice(0, 2),
  );
  expect((await other.status()).role).toBe('leader');
});

test('a request that is cancelled ends at once, and leaves its slot to others', async ({ openTab }) => {
  const tab = await openTab();
  await tab.ready();
  const outcome = await tab.evaluate(async () => {
    await window.tabserve.configure('text-generator', { maxBatchSize: 1 });
    const response = window.tabserve.getHandle('text-generator').remote('Once', { maxNewTokens: 500 });
    let numTokens = 0;
    try {
      for await (const { tokenIds } of response) {
        numTokens += tokenIds.length;
        response.cancel();
      }
      return { numTokens, code: '' };
    } catch (error) {
      return { numTokens, code: error instanceof Error && 'code' in error ? String(error.code) : '' };
    }
  });
  expect(outcome.code).toBe('REQUEST_CANCELLED');
  expect(outcome.numTokens).toBeLessThan(500);
  expect((await tab.generateAll(PROMPTS.slice(0, 1), GREEDY)).map(withoutEnd)).toEqual(EXPECTED.slice(0, 1));
});

test('the CPU computes the bits that it does in Chromium and Node', async ({ driven, probeUrl }) => {
  const page = await driven.open(probeUrl);
  const tab = new DrivenTab(page);
  await tab.evaluate(async () => {
    while (!('probe' in window)) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  for (const { id, dtype, prompts, sha256 } of RECORDED) {
    const [logits = []] = await tab.evaluate((input) => window.probe.logitsAfter(...input), [
      { backend: 'wasm', id, dtype },
      prompts,
    ] as const);
    expect(digestOf(logits), `${id} in ${dtype}`).toBe(sha256);
  }
  await tab.close();
});
