import type { BrowserContext, Page } from 'playwright';

import { openChats, openTab, type Stage } from './scene.ts';

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const QUALITY = 82;
/** For the charts to draw what was just done. */
const SETTLING_MS = 700;
/** A model is loaded for each picture. */
const PATIENCE_MS = 180_000;

/** Texts that go on for as long as a picture takes. */
const LONG = '#maxNewTokens=500&temperature=0.8&seed=7';

/** What a picture shows, by its name. Returns the tab that is drawn. */
const SCENES: Readonly<Record<string, (context: BrowserContext, stage: Stage) => Promise<Page>>> = {
  'first-visit': openTab,
  async run(context, stage) {
    const page = await openTab(context, stage, LONG);
    const other = await openTab(context, stage);
    await page.bringToFront();
    await other.evaluate(() => {
      for (const seed of [1, 2, 3, 4])
        void window.tabserve.generate('Once upon a time,', { maxNewTokens: 500, ignoreEos: true, seed });
    });
    await run(page);
    return page;
  },
  async handover(context, stage) {
    const leader = await openTab(context, stage);
    const page = await openTab(context, stage, LONG);
    await run(page);
    await leader.close();
    await page.getByRole('complementary', { name: 'Handover' }).waitFor();
    await page.locator('[data-status=running]').first().waitFor();
    return page;
  },
  async 'chat-three-settings'(context, stage) {
    const page = await openChats(context, stage, []);
    await page.getByRole('textbox', { name: 'Message to all chats' }).fill('Why do we dream?');
    await page.getByRole('button', { name: /^Ask at temperatures/ }).click();
    await page.waitForFunction(hasLongAnswers, { numAnswers: 3, numCharacters: 300 });
    return page;
  },
  async phone(context, stage) {
    const page = await openTab(context, stage, LONG);
    await page.getByRole('button', { name: 'Skip' }).click();
    await run(page);
    return page;
  },
};

/** Draws each scene, light and dark, as WebP files. */
export async function* takePictures(stage: Stage): AsyncGenerator<readonly [name: string, file: Buffer]> {
  for (const [name, play] of Object.entries(SCENES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const device = name === 'phone' ? PHONE : DESKTOP;
      const context = await stage.browser.newContext({ ...device, colorScheme });
      context.setDefaultTimeout(PATIENCE_MS);
      try {
        yield [`${name}-${colorScheme}.webp`, await draw(await play(context, stage))];
      } finally {
        await context.close();
      }
    }
  }
}

/** Runs the nine prompts, and returns in the middle of their texts. */
async function run(page: Page): Promise<void> {
  await page.locator('.run-button').click();
  await page.locator('[data-owner="this tab"][data-status=running]').nth(3).waitFor();
}

/** Playwright draws no WebP. */
async function draw(page: Page): Promise<Buffer> {
  await page.bringToFront();
  await page.waitForTimeout(SETTLING_MS);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  return Buffer.from(data, 'base64');
}

/** Runs in the page. */
function hasLongAnswers({
  numAnswers,
  numCharacters,
}: {
  numAnswers: number;
  numCharacters: number;
}): boolean {
  const answers = [...document.querySelectorAll('[data-testid=answer-text]')];
  return answers.filter(({ textContent }) => textContent.length > numCharacters).length >= numAnswers;
}
