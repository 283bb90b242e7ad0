import type { Browser, BrowserContext, Page } from 'playwright';

export const SIZES = ['1280x800', '1440x900', '1920x1080', '820x1180', '360x780'] as const;
export const SCHEMES = ['light', 'dark'] as const;

interface PictureOptions {
  readonly size: (typeof SIZES)[number];
  readonly scheme: (typeof SCHEMES)[number];
  readonly folder: string;
  /** The folder of a model that takes chats. */
  readonly chatModel: string;
}

/** Long enough that a picture is taken in the middle of the run. */
const LONG = '#maxNewTokens=400&ignoreEos=true&seed=7';

/** Takes a picture of every state of the page: before a run, in its middle, after it, compared, in the lab, with three tabs, in chats. */
export async function takePictures(browser: Browser, url: string, options: PictureOptions): Promise<void> {
  const { size, scheme, folder, chatModel } = options;
  const [width = 0, height = 0] = size.split('x').map(Number);
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const shoot = async (page: Page, name: string): Promise<void> => {
    await page.screenshot({ path: `${folder}/${name}-${size}-${scheme}.jpeg`, quality: 72, type: 'jpeg' });
  };
  try {
    const page = await open(context, `${url}/?backend=wasm`);
    await shoot(page, 'before');
    await page.keyboard.press('Enter');
    await whenOver(page);
    await shoot(page, 'after');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText(/the same under each policy/).waitFor();
    await shoot(page, 'compare');

    const long = await open(context, `${url}/?backend=wasm${LONG}`);
    await long.locator('.run-button').click();
    await long.waitForTimeout(500);
    await shoot(long, 'middle');
    await whenOver(long);

    const others = [await open(context, `${url}/?backend=wasm${LONG}`), page];
    for (const other of others)
      await other.evaluate(() => {
        const generator = window.tabserve?.getHandle('text-generator');
        for (const seed of [1, 2, 3, 4])
          generator?.remote('Once upon a time,', { maxNewTokens: 300, ignoreEos: true, seed });
      });
    await long.bringToFront();
    await long.locator('.run-button').click();
    await long.waitForTimeout(500);
    await shoot(long, 'three-tabs');
    await whenOver(long);

    await long.getByRole('button', { name: 'Load lab' }).click();
    await long.locator('.lab [name=durationSeconds]').fill('2');
    await long.locator('.lab [name=durationSeconds]').press('Enter');
    await long.getByText(/The load test is over/).waitFor({ state: 'attached', timeout: 60_000 });
    await shoot(long, 'lab');

    for (const other of others) await other.close();
    await shootChats(long, chatModel, (name) => shoot(long, name));
  } finally {
    await context.close();
  }
}

/** The models to choose from, and three chats in the middle of their second turn. */
async function shootChats(
  page: Page,
  chatModel: string,
  shoot: (name: string) => Promise<void>,
): Promise<void> {
  await page.getByRole('tab', { name: 'Chat' }).click();
  await page.getByRole('list', { name: 'Suggested models' }).waitFor();
  await shoot('chat-models');
  await page.getByRole('button', { name: 'Another model…' }).click();
  await page.getByLabel('Or a folder').setInputFiles(chatModel);
  await page.getByRole('listitem', { name: 'Chat 1' }).waitFor();
  await page.keyboard.press('Escape');
  const message = page.getByRole('textbox', { name: 'Message to all chats' });
  await message.fill('Once upon a time, there was a fox.');
  await message.press('Enter');
  await whenOver(page);
  await message.fill('One day, it found a box.');
  await message.press('Enter');
  await page.waitForFunction(hasAnyBegun);
  await page.waitForTimeout(200);
  await shoot('chat');
}

/** Runs in the page. */
function hasAnyBegun(): boolean {
  const last = [...document.querySelectorAll('.exchange:last-child')];
  return last.some((exchange) => exchange.querySelector('.answer-text')?.textContent !== '');
}

async function open(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForFunction(() => window.tabserve?.status().state === 'ready');
  return page;
}

async function whenOver(page: Page): Promise<void> {
  await page.locator('[data-status=finished]').filter({ visible: true }).first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('[data-status=running], [data-status=waiting]') === null,
  );
  // The last steps come up to 100 ms after the texts.
  await page.waitForTimeout(300);
}
