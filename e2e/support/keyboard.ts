import type { Locator, Page } from 'playwright/test';

/** More than there are stops on the page. */
const MAX_PRESSES = 250;

/** Presses Tab, or Shift+Tab where it lies behind, until the element has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const key = await target.evaluate((element) => {
    const { activeElement, body } = document;
    if (!activeElement || activeElement === body) return 'Tab';
    const isBehind = activeElement.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING;
    return isBehind ? 'Shift+Tab' : 'Tab';
  });
  // Found again only where the page has drawn it anew: to find an element by its name takes the names of all.
  let found = await target.elementHandle();
  for (let presses = 0; presses < MAX_PRESSES; presses++) {
    const state = await found?.evaluate(focusOf);
    if (state === 'has focus') return;
    if (state === 'gone') found = await target.elementHandle();
    else await page.keyboard.press(key);
  }
  throw new Error(`${MAX_PRESSES} presses of ${key} did not reach the element`);
}

/** Runs in the page. */
function focusOf(element: Element): 'gone' | 'has focus' | 'has none' {
  if (!element.isConnected) return 'gone';
  return element === document.activeElement ? 'has focus' : 'has none';
}

export async function pressOn(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('ControlOrMeta+A');
  if (text === '') await page.keyboard.press('Delete');
  else await page.keyboard.type(text);
}

export async function chooseWithArrows(page: Page, select: Locator, value: string): Promise<void> {
  await tabTo(page, select);
  await page.keyboard.press('Home');
  await pressUntil(page, 'ArrowDown', async () => (await select.inputValue()) === value);
}

/** Checks a radio button by keyboard. Tab stops once in its group, at the checked one. */
export async function checkWithArrows(page: Page, checked: Locator, target: Locator): Promise<void> {
  await tabTo(page, checked);
  await pressUntil(page, 'ArrowRight', () => target.isChecked());
}

async function pressUntil(page: Page, key: string, isThere: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; !(await isThere()); presses++) {
    if (presses > MAX_PRESSES) throw new Error(`${MAX_PRESSES} presses of ${key} don't lead there.`);
    await page.keyboard.press(key);
  }
}

/** The keyboard starts where a page just opened does. */
export async function blur(page: Page): Promise<void> {
  // If an earlier test left the pointer over a chart, the chart would show the values there instead of the keyboard's choice.
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
}
