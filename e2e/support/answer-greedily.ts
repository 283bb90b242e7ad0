import type { Page } from 'playwright/test';

/** Chats are sampled by default, and answers that repeat themselves are stopped: the generated model's do, at a moment of their own. */
export async function answerGreedily(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Stop answers that repeat themselves' }).uncheck();
  const advanced = page.locator('summary').filter({ hasText: 'Advanced' });
  await advanced.click();
  await page.getByRole('textbox', { name: 'Temperature', exact: true }).fill('0');
  await advanced.click();
}
