import type { Locator, Page } from 'playwright/test';

/** More than there are stops on the page. */
const MAX_PRESSES = 150;

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < MAX_PRESSES; presses++) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`${MAX_PRESSES} presses of Tab did not reach the element`);
}

/** The keyboard starts where a page just opened does. */
export async function blur(page: Page): Promise<void> {
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
}
