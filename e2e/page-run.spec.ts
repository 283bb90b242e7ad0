import type { Locator, Page } from 'playwright/test';

import { openAdvanced } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

const PROMPT = 'In a galaxy far far away';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

function requestRows(page: Page): Locator {
  return page.getByRole('list', { name: 'Requests' }).locator('[data-request-id]');
}

test.beforeEach(({ tab }) => openAdvanced(tab.page));

test.afterEach(async ({ tab }) => {
  await tab.page.getByRole('textbox', { name: 'Max new tokens' }).fill('');
});

test(
  'Stop all ends every request of the run, and Clear finished takes their cells and the earlier ones away',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    await tab.generate(PROMPT, { maxNewTokens: 4 });
    await tab.configure({ maxBatchSize: 16, batchWaitTimeoutMs: HELD_MS });
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await expect(requestRows(page), 'a run of its own').toHaveCount(9);
    await expect(page.getByText('9 waiting', { exact: true })).toBeVisible();
    await page.locator('summary').filter({ hasText: 'Earlier requests' }).click();
    const earlier = page.getByRole('list', { name: 'Earlier requests' }).locator('[data-request-id]');
    await expect(earlier).toHaveCount(1);
    await page.getByRole('button', { name: 'Stop all' }).click();
    await expect(requestRows(page).and(page.locator('[data-status=cancelled]'))).toHaveCount(9);
    await expect(requestRows(page).first()).toContainText('Stopped');
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await expect(page.locator('[data-request-id]')).toHaveCount(0);
    await expect(page.getByText(/^Nine texts will stream here/)).toBeVisible();
    await expect(page.getByText('Earlier requests', { exact: true })).toHaveCount(0);
  },
);

test(
  'a run says how long it took, and Compare how long one prompt at a time takes',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    const run = page.getByRole('button', { name: 'Run 9 prompts at once' });
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('32');
    await run.click();
    const line = page.locator('.run-text');
    await expect(line).toHaveText(/^9 prompts in .* m?s, up to 8 together\./);
    await page.getByRole('button', { name: 'Compare' }).click();
    const comparison = page.getByRole('region', { name: 'The same prompts under each policy' });
    await expect(comparison).toBeVisible({ timeout: 60_000 });
    await expect(comparison.getByRole('figure')).toHaveCount(3);
    await expect(comparison).toContainText('All 9 texts are the same under each policy.');
    await expect(requestRows(page), 'its requests are no cells').toHaveCount(9);
    expect((await tab.status()).policy.policy, 'the policy is given back').toBe('continuous');
    await expect(line).toContainText(/one at a time/i);
    const second = page.getByRole('button', { name: 'Open a second tab' }).filter({ visible: true });
    await expect(second, 'in the hint or in the line').toHaveCount(1);
    await comparison.getByRole('button', { name: 'Close' }).click();
    await expect(comparison).toHaveCount(0);
    await expect(line).toContainText(/one at a time/i);

    await tab.forget();
    await run.click();
    // Requests that come within a second of each other form one run.
    await expect
      .poll(async () => (await tab.updates()).filter(({ type }) => type === 'finished').length)
      .toBe(9);
    await expect(line, 'another run was not compared').toHaveText(/^9 prompts in .* m?s, up to 8 together\./);
    const clipped = requestRows(page).locator('[data-clipped]');
    await expect(clipped).not.toHaveCount(0);
    await page.getByRole('button', { name: 'Whole texts' }).click();
    await expect(clipped, 'texts that are cut').toHaveCount(0);
    await run.click();
    await expect(clipped, 'the next run has the places of before').not.toHaveCount(0);
  },
);

test('a cell under the pointer is marked', { tag: ANY_BACKEND }, async ({ tab }) => {
  const { page } = tab;
  await tab.generateAll([1, 2].map((seed) => ({ prompt: PROMPT, options: { maxNewTokens: 2, seed } })));
  const marked = page.locator('[data-highlighted]');
  await requestRows(page).nth(1).hover();
  await expect(marked).toHaveCount(1);
  await expect(requestRows(page).nth(1)).toHaveAttribute('data-highlighted');
  await page.mouse.move(0, 0);
  await expect(marked).toHaveCount(0);
});
