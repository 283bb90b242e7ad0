import type { Locator, Page } from 'playwright/test';

import { reference } from './support/reference.ts';
import { openAdvanced } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

const END_TOKEN = 2047;
const PROMPT = 'In a galaxy far far away';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

declare global {
  interface Window {
    statuses: string[];
  }
}

function requestRows(page: Page): Locator {
  return page.getByRole('list', { name: 'Requests' }).locator('[data-request-id]');
}

/** The cell of the last request. Cells of a run are in the order of submission. */
function newestRow(page: Page): Locator {
  return requestRows(page).last();
}

test.beforeEach(({ tab }) => openAdvanced(tab.page));

test.afterEach(async ({ tab }) => {
  for (const name of ['Max new tokens', 'Logit bias']) await tab.page.getByRole('textbox', { name }).fill('');
});

test(
  'Enter sends the prompt, and its cell streams from waiting over running to finished',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    // Hold the batch until the test releases it: WASM would finish before the test could check.
    await tab.configure({ batchWaitTimeoutMs: HELD_MS });
    // Long enough for the page to see it run, so its end token is banned.
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('400');
    await page.getByRole('textbox', { name: 'Logit bias' }).fill(`${END_TOKEN}: -100`);
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await prompt.fill(PROMPT);
    await prompt.press('Enter');
    await prompt.press('Enter');
    await expect(requestRows(page)).toHaveCount(2);
    for (const row of await requestRows(page).all())
      await expect(row).toHaveAttribute('data-status', 'waiting');

    await page.evaluate(recordStatuses);
    await tab.configure({ batchWaitTimeoutMs: 0 });
    for (const row of await requestRows(page).all()) {
      await expect(row).toHaveAttribute('data-status', 'finished');
      await expect(row.getByTestId('request-text')).toContainText(PROMPT);
      await expect(row).toContainText(/TTFT\s*[\d.,]+\s*m?s/);
      await expect(row).toContainText(/[\d.,]+\/s/);
      await expect(row).toContainText('400 tokens');
    }
    expect(await page.evaluate(() => window.statuses)).toEqual([
      'running',
      'running',
      'finished',
      'finished',
    ]);
    const belowEdge = page
      .getByTestId('document')
      .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    expect(await belowEdge, 'the prompt box has followed the text to its end').toBeLessThanOrEqual(1);
  },
);

test('a request of the console has its cell too', { tag: ANY_BACKEND }, async ({ tab }) => {
  const prompt = 'Today I accidentally';
  const { text } = await tab.generate(prompt, { maxNewTokens: 4 });
  await expect(newestRow(tab.page).getByTestId('request-text')).toHaveText(text, { useInnerText: false });
});

test(
  'the cancel button ends a running request and leaves the others alone',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    await tab.configure({ maxBatchSize: 2, batchWaitTimeoutMs: HELD_MS });
    // They go on past the model's end, so that the page draws the first one while it runs.
    const request = { prompt: PROMPT, options: { maxNewTokens: 400, ignoreEos: true } };
    await tab.begin([request]);
    await expect(requestRows(page)).toHaveCount(1);
    await page.evaluate(cancelOnceRunning);
    // It fills the batch, which starts then.
    await tab.begin([request]);
    const [first, second] = [requestRows(page).nth(0), requestRows(page).nth(1)];
    await expect(first).toHaveAttribute('data-status', 'cancelled');
    await expect(first.getByRole('button', { name: /^Cancel/ })).toHaveCount(0);
    await expect(second).toHaveAttribute('data-status', 'finished');
  },
);

test('an empty prompt is refused at the prompt box', { tag: ANY_BACKEND }, async ({ tab }) => {
  const { page } = tab;
  const prompt = page.getByRole('textbox', { name: 'Prompt' });
  await prompt.fill('');
  await prompt.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'EMPTY_PROMPT' })).toBeVisible();
  await expect(prompt).toHaveAttribute('aria-invalid', 'true');
  await prompt.fill(PROMPT);
  await expect(requestRows(page)).toHaveCount(0);
});

test(
  'a refused knob says why at its field, and the value in force comes back with Escape',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const field = tab.page.getByRole('textbox', { name: 'Max batch size' });
    await field.fill('0');
    await field.press('Enter');
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(field).toHaveAccessibleDescription(/Expected an integer >= 1.*“0”/);
    await field.press('Escape');
    await expect(field).toHaveValue('8');
    await expect(field).toHaveAttribute('aria-invalid', 'false');
    expect((await tab.status()).policy.maxBatchSize).toBe(8);
  },
);

test(
  'policy and knobs set in the page are those of the engine, and the other way round',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    await page.getByRole('radio', { name: 'static' }).check();
    const field = page.getByRole('textbox', { name: 'Max batch size' });
    await field.fill('3');
    await field.press('Enter');
    await expect
      .poll(async () => (await tab.status()).policy)
      .toMatchObject({ policy: 'static', maxBatchSize: 3 });
    await tab.configure({ policy: 'continuous', maxBatchSize: 8 });
    await expect(page.getByRole('radio', { name: 'continuous' })).toBeChecked();
    await expect(field).toHaveValue('8');
  },
);

test('model, backend and adapter are named, a software adapter as such', async ({ tab }) => {
  const { page } = tab;
  const { model, backend } = await tab.status();
  await expect(page.getByTestId('serve-state')).toHaveText('Ready');
  const box = await tab.openStatus();
  await expect(box.getByText(model?.id ?? '?', { exact: true })).toBeVisible();
  await expect(box.getByText(backend?.name === 'webgpu' ? 'WebGPU ·' : 'CPU, ')).toBeVisible();
  await expect(box.getByText(backend?.adapter ?? '?', { exact: true })).toBeVisible();
  if (backend?.isSoftwareAdapter) await expect(box.getByText('Software adapter')).toBeVisible();
});

test('the charts draw what the engine did', { tag: ANY_BACKEND }, async ({ tab }) => {
  const { page } = tab;
  await tab.generateAll(
    reference.prompts.slice(0, 3).map(({ prompt }) => ({ prompt, options: { maxNewTokens: 6 } })),
  );
  for (const chart of ['batch-size-chart', 'latency-chart']) {
    await expect(page.getByTestId(chart).locator('canvas')).toBeVisible();
    await expect.poll(() => numInkedPixels(page.getByTestId(chart).locator('canvas'))).toBeGreaterThan(100);
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the page is ${colorScheme} where the system is`, { tag: ANY_BACKEND }, async ({ tab }) => {
    const { page } = tab;
    await page.emulateMedia({ colorScheme });
    const { background, text } = await page.evaluate(colorsOfBody);
    if (colorScheme === 'dark') expect(background).toBeLessThan(0.2);
    else expect(background).toBeGreaterThan(0.8);
    expect(Math.abs(text - background), 'text stands out').toBeGreaterThan(0.6);
    await page.emulateMedia({ colorScheme: null });
  });
}

test(
  'nothing scrolls sideways at 360 pixels, with requests in the list',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    const desktop = page.viewportSize();
    await page.setViewportSize({ width: 360, height: 740 });
    await tab.outcomesOf([
      { prompt: 'My name is Clara and I am', options: { maxNewTokens: 4 } },
      { prompt: 'w'.repeat(400), options: { maxNewTokens: -1 } },
    ]);
    await expect(requestRows(page)).toHaveCount(2);
    await expect(newestRow(page), 'why it failed').toContainText('INVALID_OPTION');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
    if (desktop) await page.setViewportSize(desktop);
  },
);

/** Runs in the page: notes each status that a row changes to. */
function recordStatuses(): void {
  window.statuses = [];
  const observer = new MutationObserver((mutations) => {
    for (const { target } of mutations) {
      if (target instanceof HTMLElement) window.statuses.push(target.dataset['status'] ?? '');
    }
  });
  observer.observe(document.body, { subtree: true, attributeFilter: ['data-status'] });
}

/** Runs in the page: presses the cancel button of the only request as soon as it runs. */
function cancelOnceRunning(): void {
  const row = document.querySelector('[data-request-id]');
  if (!row) throw new Error('There is no request to cancel.');
  const observer = new MutationObserver(() => {
    if (row.getAttribute('data-status') !== 'running') return;
    observer.disconnect();
    row.querySelector<HTMLButtonElement>('button[aria-label^=Cancel]')?.click();
  });
  observer.observe(row, { attributes: true });
}

/** Runs in the page: luminance of its background and text, 0 (black) to 1. */
function colorsOfBody(): { background: number; text: number } {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  const { backgroundColor, color } = getComputedStyle(document.body);
  const [background = Number.NaN, text = Number.NaN] = [backgroundColor, color].map((name) => {
    if (!canvas) return Number.NaN;
    canvas.fillStyle = name;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  });
  return { background, text };
}

/** Pixels that something was drawn on. */
function numInkedPixels(canvas: Locator): Promise<number> {
  return canvas.evaluate((element) => {
    if (!(element instanceof HTMLCanvasElement)) return 0;
    const pixels = element.getContext('2d')?.getImageData(0, 0, element.width, element.height).data ?? [];
    return pixels.filter((value, index) => index % 4 === 3 && value > 0).length;
  });
}
