import { expect, type BrowserContext, type Locator, type Page } from 'playwright/test';

const write = (page: Page): Promise<void> => page.getByRole('button', { name: 'Write' }).click();
const textOf = (page: Page): Locator => page.getByRole('paragraph');

/** Opens an app in two tabs. The first one leads and is closed while the second one's text runs, which then ends as it would have. */
export async function expectTextToOutliveItsLeader(context: BrowserContext, url: string): Promise<void> {
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  const first = await open();
  await write(first);
  await expect(first.getByRole('button', { name: 'Write' })).toBeEnabled();
  const whole = await textOf(first).textContent();
  expect(whole?.length).toBeGreaterThan(200);

  const second = await open();
  await expect(second.getByRole('button', { name: 'Write' })).toBeEnabled();
  const begun = await second.evaluate(beginToWrite);
  await first.close();
  expect(begun, 'the text runs when the leader is closed').not.toBe(whole);
  await expect(textOf(second)).toHaveText(whole ?? '');
}

/** Runs in the page, as the text may end before a question from here arrives. Resolves with what there is of it when it begins. */
async function beginToWrite(): Promise<string> {
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
  const text = (): string => document.querySelector('p')?.textContent ?? '';
  document.querySelector('button')?.click();
  const { length } = text();
  while (text().length <= length) await new Promise(requestAnimationFrame);
  return text();
}
