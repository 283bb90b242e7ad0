import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright/test';

import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

interface Exported {
  readonly trace: { readonly requests: readonly unknown[] };
  readonly trials: readonly { readonly label: string; readonly summary: Record<string, number> }[];
}

const panelOf = (page: Page): Locator => page.locator('.load');
const resultOf = (page: Page, run: string): Locator =>
  page.getByTestId('load-results').locator(`[data-run="${run}"]`);

async function openLoad(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('tab', { name: 'Load test' }).click();
  for (const [name, value] of Object.entries(fields))
    await panelOf(page).locator(`[name=${name}]`).fill(value);
}

async function startAndWait(page: Page): Promise<void> {
  const start = panelOf(page).getByRole('button', { name: 'Start' });
  await start.click();
  await expect(start).toBeDisabled();
  await expect(start).toBeEnabled({ timeout: 150_000 });
}

async function exportResults(page: Page): Promise<Exported> {
  const saving = page.waitForEvent('download');
  await panelOf(page).getByRole('button', { name: 'Export JSON' }).click();
  return JSON.parse(await readFile(await (await saving).path(), 'utf8'));
}

/** What the metrics have counted, once all is idle. */
async function countsOf(tab: Tab): Promise<Record<'outputTokens' | 'promptTokens' | 'finished', number>> {
  await tab.whenIdle();
  const text = await tab.page.evaluate(() => window.tabserve.metrics());
  const valueOf = (sample: string): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(sample))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  return {
    outputTokens: valueOf('vllm:generation_tokens_total'),
    promptTokens: valueOf('vllm:prompt_tokens_total'),
    finished: valueOf('vllm:request_success_total'),
  };
}

test.afterEach(async ({ tab }) => {
  await tab.page.getByRole('tab', { name: 'Watch' }).click();
});

test('the same Poisson arrivals under each policy come to the same texts and to the numbers of the metrics, more of them a second the more is batched', async ({
  tab,
  backend,
}) => {
  const { page } = tab;
  // What has to do with the page alone is warm by then.
  await tab.generate('Once upon a time,', { maxNewTokens: 2 });
  const before = await countsOf(tab);
  // Far more than `off` can serve, and mixed lengths: a static batch waits for its longest.
  const load =
    backend === 'webgpu' ? { rate: '12', durationSeconds: '1' } : { rate: '60', durationSeconds: '1' };
  await openLoad(page, { ...load, seed: '5', outputMin: '2', outputMax: '40' });
  await panelOf(page).getByRole('combobox', { name: 'Spread' }).last().selectOption('long-tail');
  await panelOf(page).getByRole('radio', { name: 'Compare' }).check();
  await startAndWait(page);

  const { trace, trials } = await exportResults(page);
  const [off, batched, continuous] = trials;
  if (!off || !batched || !continuous) throw new Error('Three policies have three runs.');
  expect(trials.map(({ label }) => label)).toEqual(['off', 'static', 'continuous']);
  const rates = trials.map(({ summary }) => summary['tokensPerSecond'] ?? 0);
  console.log(
    `${backend}, ${trace.requests.length} requests: off, static, continuous at ${rates.map((rate) => rate.toFixed(1)).join(', ')} tokens/s`,
  );
  const [offRate = 0, staticRate = 0, continuousRate = 0] = rates;
  // On WASM eight rows cost nearly eight times one: what a batch gains there is small. Nor can a machine tell that does
  // other things meanwhile; the long proofs have it alone.
  if (backend === 'webgpu' && IS_WHOLE) {
    expect(staticRate).toBeGreaterThan(offRate);
    expect(continuousRate).toBeGreaterThan(staticRate);
  }

  // The same texts under each policy, and the numbers of the metrics.
  for (const { summary } of trials) {
    expect(summary['numFinished']).toBe(trace.requests.length);
    expect(summary['numOutputTokens']).toBe(off.summary['numOutputTokens']);
  }
  const after = await countsOf(tab);
  const sum = (name: string): number =>
    trials.reduce((total, { summary }) => total + (summary[name] ?? 0), 0);
  expect(sum('numOutputTokens')).toBe(after.outputTokens - before.outputTokens);
  expect(sum('numPromptTokens')).toBe(after.promptTokens - before.promptTokens);
  expect(sum('numFinished')).toBe(after.finished - before.finished);
  const ratio = `${(continuousRate / offRate).toFixed(2)}×`;
  await expect(resultOf(page, 'continuous')).toContainText(ratio);
  await expect(page.getByTestId('compare-chart').locator('dl').first()).toContainText(ratio);
  expect((await tab.status()).policy.policy, 'as it was before').toBe('continuous');

  // The seed alone makes the trace.
  await panelOf(page).getByRole('radio', { name: 'Run' }).check();
  await startAndWait(page);
  expect((await exportResults(page)).trace).toEqual(trace);
});

test.describe('a load test', { tag: ANY_BACKEND }, () => {
  test('is stopped at once, and leaves the policy as it was', async ({ tab }) => {
    const { page } = tab;
    await openLoad(page, { rate: '20', durationSeconds: '60', seed: '5' });
    await panelOf(page).getByRole('radio', { name: 'Compare' }).check();
    await panelOf(page).getByRole('button', { name: 'Start' }).click();
    await expect(panelOf(page).getByRole('progressbar')).toBeVisible();
    await expect.poll(async () => (await tab.status()).policy.policy).toBe('off');
    await panelOf(page).getByRole('button', { name: 'Stop' }).click();
    await expect(panelOf(page).getByRole('button', { name: 'Start' })).toBeEnabled();
    await expect(page.getByTestId('load-results').getByRole('row')).toHaveCount(2);
    await expect.poll(async () => (await tab.status()).policy.policy).toBe('continuous');
  });

  test('counts what a full queue refuses', async ({ tab }) => {
    const { page } = tab;
    await tab.configure({ maxQueuedRequests: 2, maxBatchSize: 1 });
    await openLoad(page, { seed: '5' });
    await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('burst');
    // Two bursts, so that it lasts for longer than a glance.
    await openLoad(page, { burstSize: '20', everySeconds: '0.6', durationSeconds: '1' });
    await panelOf(page).getByRole('radio', { name: 'Run' }).check();
    await startAndWait(page);
    const { trials } = await exportResults(page);
    const { numFinished = 0, numRejected = 0 } = trials[0]?.summary ?? {};
    expect(numRejected).toBeGreaterThan(0);
    expect(numFinished + numRejected).toBe(40);
    await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
  });

  test('proposes the batch size that serves the most within the limit, and applies it', async ({ tab }) => {
    const { page } = tab;
    await openLoad(page, {
      rate: '16',
      durationSeconds: '0.5',
      latencyLimitMs: '60000',
      seed: '5',
      outputMin: '2',
      outputMax: '32',
    });
    await panelOf(page).getByRole('radio', { name: 'Suggest' }).check();
    await startAndWait(page);
    await expect(page.getByTestId('load-results').locator('tbody tr')).toHaveCount(8);
    await expect(page.getByTestId('latency-curve').locator('canvas')).toBeVisible();
    const { trials } = await exportResults(page);
    const goodputs = trials.map(({ summary }) => summary['goodputPerSecond'] ?? 0);
    const best = trials[goodputs.indexOf(Math.max(...goodputs))]?.label ?? '';
    const [size = '', waitMs = ''] = best.split(/ \/ | ms/);
    const suggestion = page.getByTestId('suggestion');
    await expect(suggestion).toContainText(`Max batch size ${size}, batch wait timeout ${waitMs} ms`);
    await suggestion.getByRole('button', { name: 'Apply' }).click();
    await expect
      .poll(async () => (await tab.status()).policy)
      .toMatchObject({ maxBatchSize: Number(size), batchWaitTimeoutMs: Number(waitMs) });
  });

  test('replays the trace that another one exported', async ({ tab, backend }) => {
    const { page } = tab;
    // A page that has no trace yet, whatever the tests before have loaded.
    await tab.open(`?backend=${backend}`);
    await tab.ready();
    await openLoad(page, { rate: '20', durationSeconds: '0.5', seed: '9', outputMin: '2', outputMax: '8' });
    await panelOf(page).getByRole('radio', { name: 'Run' }).check();
    await startAndWait(page);
    const exported = await exportResults(page);
    await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('replay');
    await panelOf(page).getByRole('button', { name: 'Start' }).click();
    await expect(panelOf(page).getByRole('alert')).toContainText('NO_TRACE');
    const file = {
      name: 'trace.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(exported)),
    };
    await panelOf(page).locator('input[type=file]').setInputFiles(file);
    await expect(panelOf(page)).toContainText(`trace.json: ${exported.trace.requests.length} requests`);
    await startAndWait(page);
    const replayed = await exportResults(page);
    expect(replayed.trace).toEqual(exported.trace);
    expect(replayed.trials[0]?.summary['numOutputTokens']).toBe(
      exported.trials[0]?.summary['numOutputTokens'],
    );
    await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
  });
});
