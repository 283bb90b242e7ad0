import type { Locator, Page } from 'playwright/test';

/** More than an arrow key needs to go through a list. */
const MAX_PRESSES = 250;

/** Boxes that scroll are stops, too, and may lie between. */
const MAX_STOPS_BETWEEN = 5;

/** Moves the focus to the element by Tab or Shift+Tab from the stop beside it. A test of the layout shows that Tab reaches all. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const key = await target.evaluate(focusBeside);
  for (let presses = 0; presses <= MAX_STOPS_BETWEEN; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${MAX_STOPS_BETWEEN} presses of ${key} did not reach the element`);
}

/** Runs in the page: focuses the last stop on the way to the element. Returns the key that leads on from there. */
function focusBeside(element: Element): 'Tab' | 'Shift+Tab' {
  const { activeElement } = document;
  if (activeElement === element) return 'Tab';
  const stops = document.querySelectorAll<HTMLElement>(
    'a[href], button, input:not([type=radio]), select, textarea, summary, [tabindex="0"]',
  );
  const placeOf = (other: Element): number => element.compareDocumentPosition(other);
  const focusFirst = (way: readonly HTMLElement[], side: number): boolean =>
    way.some((stop) => {
      if (stop.tabIndex >= 0 && placeOf(stop) & side) stop.focus();
      return stop === document.activeElement;
    });
  const isBehind = activeElement && placeOf(activeElement) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (!isBehind && focusFirst([...stops].toReversed(), Node.DOCUMENT_POSITION_PRECEDING)) return 'Tab';
  return focusFirst([...stops], Node.DOCUMENT_POSITION_FOLLOWING) ? 'Shift+Tab' : 'Tab';
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
