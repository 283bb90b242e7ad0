import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright/test';

import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

interface Exported {
  readonly trace: { readonly requests: readonly unknown[] };
  readonly trials: readonly {
    readonly label: string;
    readonly summary: Record<string, number>;
  }[];
}

const panelOf = (page: Page): Locator => page.locator('.lab');
const resultOf = (page: Page, run: string): Locator =>
  page.getByTestId('load-results').locator(`[data-run="${run}"]`);

async function openLoad(tab: Tab, fields: Readonly<Record<string, string>>, kind = 'poisson'): Promise<void> {
  const { page } = tab;
  await tab.openLab();
  await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption(kind);
  for (const [name, value] of Object.entries(fields))
    await panelOf(page).locator(`[name=${name}]`).fill(value);
}

async function startAndWait(page: Page): Promise<void> {
  const start = panelOf(page).getByRole('button', { name: 'Start' });
  await start.click();
  // A load test may end before a check of its Stop button.
  await expect(panelOf(page).locator('.load-progress output')).toBeEmpty();
  await expect(panelOf(page).locator('.load-progress output')).not.toBeEmpty({ timeout: 300_000 });
  await expect(start).toBeEnabled();
}

async function exportResults(page: Page): Promise<Exported> {
  return JSON.parse((await exportAs(page, 'Results as JSON')).toString('utf8'));
}

async function exportAs(page: Page, what: string): Promise<Buffer> {
  await panelOf(page).getByRole('button', { name: 'Export' }).click();
  const saving = page.waitForEvent('download');
  await panelOf(page).getByRole('button', { name: what }).click();
  const file = await readFile(await (await saving).path());
  await page.keyboard.press('Escape');
  return file;
}

/** For a run and a comparison, whose figures are drawn first. */
async function openTable(page: Page): Promise<void> {
  if (!(await page.getByTestId('load-results').isVisible())) await panelOf(page).getByText('Table').click();
}

/** The counters of the metrics, once the tab is idle. */
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
  await tab.openLab();
  await panelOf(tab.page).getByRole('button', { name: 'Close' }).click();
  await expect(panelOf(tab.page)).toBeHidden();
});

test(
  'the same Poisson arrivals under each policy come to the same texts and to the numbers of the metrics',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    // Warms up the page and the model.
    await tab.generate('Once upon a time,', { maxNewTokens: 2 });
    const before = await countsOf(tab);
    // Far more than `off` can serve, and mixed lengths: a static batch waits for its longest.
    await openLoad(tab, { rate: '60', durationSeconds: '0.6', seed: '5', outputMin: '2', outputMax: '40' });
    await panelOf(page).getByRole('combobox', { name: 'Spread' }).last().selectOption('long-tail');
    await panelOf(page).getByRole('radio', { name: 'Compare' }).check();
    await startAndWait(page);

    const { trace, trials } = await exportResults(page);
    const [off, , continuous] = trials;
    if (!off || !continuous) throw new Error('Three policies have three runs.');
    expect(trials.map(({ label }) => label)).toEqual(['off', 'static', 'continuous']);

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
    const rateOf = ({ summary }: typeof off): number => summary['tokensPerSecond'] ?? 0;
    const ratio = `${(rateOf(continuous) / rateOf(off)).toFixed(2)}×`;
    await openTable(page);
    await expect(resultOf(page, 'continuous')).toContainText(ratio);
    await expect(page.getByTestId('policy-multiples').locator('dl').last()).toContainText(ratio);
    await expect(page.locator('.cells > li'), 'requests of a test have no cells').toHaveCount(1);
    expect((await tab.status()).policy.policy, 'as it was before').toBe('continuous');

    // The seed alone makes the trace.
    await panelOf(page).getByRole('radio', { name: 'Measure' }).check();
    await startAndWait(page);
    expect((await exportResults(page)).trace).toEqual(trace);
  },
);

test.describe('a load test', { tag: ANY_BACKEND }, () => {
  test('is stopped at once, and leaves the policy as it was', async ({ tab }) => {
    const { page } = tab;
    await openLoad(tab, { rate: '20', durationSeconds: '60', seed: '5' });
    await panelOf(page).getByRole('radio', { name: 'Compare' }).check();
    await panelOf(page).getByRole('button', { name: 'Start' }).click();
    await expect(panelOf(page).getByRole('progressbar')).toBeVisible();
    await expect(panelOf(page).locator('.load-progress')).toContainText(/off · run 1 of 3 · .* left/);
    await expect.poll(async () => (await tab.status()).policy.policy).toBe('off');
    await panelOf(page).getByRole('button', { name: 'Stop' }).click();
    await expect(panelOf(page).getByRole('button', { name: 'Start' })).toBeEnabled();
    await openTable(page);
    await expect(page.getByTestId('load-results').getByRole('row')).toHaveCount(2);
    await expect.poll(async () => (await tab.status()).policy.policy).toBe('continuous');
  });

  test('counts what a full queue refuses', async ({ tab }) => {
    const { page } = tab;
    await tab.configure({ maxQueuedRequests: 2, maxBatchSize: 1 });
    // Two bursts, so that it lasts for longer than a glance.
    const bursts = { burstSize: '20', everySeconds: '0.6', durationSeconds: '1' };
    await openLoad(tab, { ...bursts, seed: '5' }, 'burst');
    await panelOf(page).getByRole('radio', { name: 'Measure' }).check();
    await startAndWait(page);
    const { trials } = await exportResults(page);
    const { numFinished = 0, numRejected = 0 } = trials[0]?.summary ?? {};
    expect(numRejected).toBeGreaterThan(0);
    expect(numFinished + numRejected).toBe(40);
    await panelOf(page).getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
  });

  test('shows its results in a drawer that is no wider than the window, below the charts, and exports them', async ({
    tab,
  }) => {
    const { page } = tab;
    const lengths = { outputMin: '2', outputMax: '4', seed: '5', durationSeconds: '0.5' };
    await openLoad(tab, { ...lengths, rate: '8' });
    await panelOf(page).getByRole('radio', { name: 'Compare' }).check();
    await startAndWait(page);
    for (const width of [360, 780, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const overflows = await page.evaluate(() =>
        ['html', '.lab', '.lab-results'].map((selector) => {
          const element = document.querySelector(selector);
          return element ? element.scrollWidth - element.clientWidth : Number.NaN;
        }),
      );
      expect(overflows, `page, drawer and results at ${width}`).toEqual([0, 0, 0]);
      const drawer = await panelOf(page).boundingBox();
      const charts = await page.locator('.main-charts').boundingBox();
      expect((charts?.y ?? 0) + (charts?.height ?? 0), `the charts at ${width}`).toBeLessThanOrEqual(
        (drawer?.y ?? 0) + 1,
      );
    }
    await page.setViewportSize({ width: 1280, height: 900 });

    const rows = (await exportAs(page, 'Results as CSV')).toString('utf8').trimEnd().split('\n');
    expect(rows.map((row) => row.split(',')[0])).toEqual(['"Run"', '"off"', '"static"', '"continuous"']);
    const picture = await exportAs(page, 'Picture as PNG');
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
  });

  test('goes on while the drawer is closed; Escape closes it, with the focus back on its button', async ({
    tab,
  }) => {
    const { page } = tab;
    await openLoad(tab, { rate: '8', outputMin: '2', outputMax: '4', seed: '5', durationSeconds: '1' });
    await panelOf(page).getByRole('radio', { name: 'Measure' }).check();
    await panelOf(page).getByRole('button', { name: 'Start' }).press('Enter');
    await expect(panelOf(page).getByRole('button', { name: 'Stop' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(panelOf(page)).toBeHidden();
    await expect(page.locator('.lab-button')).toBeFocused();
    await expect(panelOf(page).locator('.load-progress output')).not.toBeEmpty({ timeout: 60_000 });
    await page.keyboard.press('Enter');
    await expect(panelOf(page)).toBeVisible();
    await expect(panelOf(page).getByRole('radio', { name: 'Measure' })).toBeFocused();
  });

  test('saturates by default, and replays the trace that another one exported', async ({ tab, backend }) => {
    const { page } = tab;
    // A page that has tested nothing and has no trace yet, whatever the tests before have loaded.
    await tab.open(`?backend=${backend}`);
    await tab.ready();
    await tab.openLab();
    const short = { durationSeconds: '0.5', outputMin: '2', outputMax: '8' };
    for (const [name, value] of Object.entries(short))
      await panelOf(page).locator(`[name=${name}]`).fill(value);
    await startAndWait(page);
    const { trace } = await exportResults(page);
    expect(trace, 'twice as many users as a batch has room for').toMatchObject({
      closedLoop: { numUsers: 16 },
    });
    await openLoad(tab, { rate: '20', durationSeconds: '0.5', seed: '9', outputMin: '2', outputMax: '8' });
    await panelOf(page).getByRole('radio', { name: 'Measure' }).check();
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
