import { writeFile } from 'node:fs/promises';
import type { Page } from 'playwright';

import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { startServer } from '../../bridge/server.ts';
import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';
import { buildPage } from '../bench/built-pages.ts';
import { launchBrowser } from '../bench/launch.ts';
import { openReady } from '../bench/open-ready.ts';
import { pathOf } from '../paths.ts';
import { loadSmollm2, startSmollm2Hub } from '../bench/smollm2.ts';

// Takes the pictures of the documents, light and dark, or records the README's film with Playwright's ffmpeg
// (`npx playwright install ffmpeg`).

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
/** Texts that go on for as long as a picture takes. */
const LONG = '#maxNewTokens=500&temperature=0.8&seed=7';
const CHAT = '&view=chat#seed=7';

/** Opens the page in a tab of its own, with its model ready: SmolLM2 for chats. */
type Open = (address?: string) => Promise<Page>;

const SCENES: Readonly<Record<string, (open: Open) => Promise<Page>>> = {
  async 'first-visit'(open) {
    const page = await open();
    await page.getByText(/the one that waited joined/).waitFor();
    return page;
  },
  async run(open) {
    const page = await open(LONG);
    const other = await open();
    await page.bringToFront();
    await other.evaluate(() => {
      for (const seed of [1, 2, 3, 4])
        void window.tabserve.generate('Once upon a time,', { maxNewTokens: 500, ignoreEos: true, seed });
    });
    return run(page);
  },
  async handover(open) {
    const leader = await open();
    const page = await run(await open(LONG));
    await leader.close();
    await page.getByRole('complementary', { name: 'Handover' }).waitFor();
    await page.locator('[data-status=running]').first().waitFor();
    return page;
  },
  async 'chat-three-settings'(open) {
    const page = await open(CHAT);
    await page.getByRole('textbox', { name: 'Message to all chats' }).fill('Why do we dream?');
    await page.getByRole('button', { name: 'Show charts' }).click();
    await page.getByRole('button', { name: 'More ways to ask' }).click();
    await page.getByRole('button', { name: /^Ask at temperatures/ }).click();
    for (const index of [0, 1, 2])
      await page
        .getByTestId('answer-text')
        .nth(index)
        .filter({ hasText: /[^]{300}/ })
        .waitFor();
    return page;
  },
  async phone(open) {
    const page = await open(LONG);
    await page.getByRole('button', { name: 'Skip' }).click();
    return run(page);
  },
};

/** Runs the nine prompts, and returns in the middle of their texts. */
async function run(page: Page): Promise<Page> {
  await page.locator('.run-button').click();
  await page.locator('[data-owner="this tab"][data-status=running]').nth(3).waitFor();
  return page;
}

/** A tab asks SmolLM2. The tab that runs it is closed, and the answer goes on in the filmed one. */
async function film(open: Open): Promise<Page> {
  const leader = await open(CHAT);
  const page = await open(CHAT);
  await page.bringToFront();
  await page.screencast.start({ path: pathOf('.github/run.webm'), size: DESKTOP });
  await page.getByRole('textbox', { name: /^Message to Chat 1/ }).fill('Write a story about a robot.');
  await page.keyboard.press('Enter');
  await page
    .getByTestId('answer-text')
    .filter({ hasText: /[^]{100}/ })
    .waitFor();
  await leader.close();
  await page.getByText(/went on here/).waitFor();
  await page.waitForTimeout(4000);
  await page.screencast.stop();
  return page;
}

async function takePicture(page: Page, file: string): Promise<void> {
  await page.bringToFront();
  await page.waitForTimeout(700); // for the charts to draw what was just done
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  await writeFile(pathOf(`docs/pictures/${file}.webp`), Buffer.from(data, 'base64'));
}

const isFilm = process.argv[2] === 'film';
await using hub = await startSmollm2Hub();
const policy = contentSecurityPolicy([hub.url]);
await using site = await startServer({ host: 'localhost', port: 0, root: await buildPage(), policy });
const launched = await launchBrowser(QUIET_ARGUMENTS);
await using browser = launched.browser;
for (const [name, scene] of isFilm ? [['film', film] as const] : Object.entries(SCENES))
  for (const colorScheme of isFilm ? (['light'] as const) : (['light', 'dark'] as const)) {
    const device = name === 'phone' ? PHONE : { viewport: DESKTOP };
    await using context = await browser.newContext({ ...device, colorScheme });
    const page = await scene(async (address = '') => {
      const { page: opened } = await openReady(context, `${site.url}/?backend=wasm${address}`);
      if (address === CHAT) await loadSmollm2(opened, hub.url, 'q8');
      return opened;
    });
    if (!isFilm) await takePicture(page, `${name}-${colorScheme}`);
  }
