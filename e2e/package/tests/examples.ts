import { join } from 'node:path';

import { expect, test } from '../app-page.ts';
import { standInForHub } from '../hub-stand-in.ts';
import { serveFolders } from '../../support/serve-folders.ts';

/** Languages of the page's lines. */
const LANGUAGES =
  'English German French Spanish Portuguese Italian Dutch Swedish Finnish Polish Czech Hungarian Turkish Vietnamese Indonesian Greek Russian Ukrainian Arabic Hebrew Hindi Chinese Japanese Korean'.split(
    ' ',
  );

test('classify-list names the language of each line, in batches', async ({ place, serveApp, page }) => {
  await place.runScript('classify-list', 'build');
  await page.goto(await serveApp(serveFolders([join(place.folder, 'examples/classify-list/dist')])));
  await page.getByRole('button', { name: 'Classify' }).click();
  // On a loaded machine the first of them may not wait for the last.
  await expect(page.getByRole('status')).toHaveText(
    /^24 texts in \d+ ms, in batches of \d+(?: \+ \d+){0,2}\.$/,
  );
  const answers = await page.locator('td:nth-child(2)').allTextContents();
  expect(answers).toEqual(LANGUAGES);

  await page.getByLabel('One text per line').fill('¡Buenos días a todos!\n1234');
  await page.getByRole('button', { name: 'Classify' }).click();
  await expect(page.locator('td:nth-child(2)')).toHaveText(['Spanish', /a text with letters/]);
});

test('static-page writes stories together, without a build', async ({ place, serveApp, page }) => {
  await page.goto(await serveApp(serveFolders([join(place.folder, 'examples/static-page'), place.folder])));
  const beginnings = ['Once upon a time,', 'In a small village', 'The old king'];
  const status = page.getByRole('status');
  await expect(status).toHaveText(/^Ready on wasm/);
  // In the page: a story may end before a click from here arrives.
  await page.evaluate((texts) => {
    const [input, button] = [document.querySelector('input'), document.querySelector('button')];
    for (const text of texts) {
      if (input) input.value = text;
      button?.click();
    }
  }, beginnings);
  await expect(status).toHaveText('Ready on wasm. Stories written together so far: 3.');
  for (const story of await page.getByRole('listitem').all()) await expect(story).toContainText(/.{40}/);
  const stories = await page.getByRole('listitem').allTextContents();
  expect(stories.map((story) => story.slice(0, 12))).toEqual(
    beginnings.toReversed().map((beginning) => beginning.slice(0, 12)),
  );
});

test('react-chat answers with a model that it has loaded, stops, and goes on', async ({
  place,
  serveApp,
  context,
  page,
}) => {
  await place.runScript('react-chat', 'build');
  const close = await standInForHub(context);
  await page.goto(await serveApp(serveFolders([join(place.folder, 'examples/react-chat/dist')])));
  const send = async (text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const answers = page.locator('.assistant');

  await send('Hello');
  await expect(page.getByRole('progressbar')).toBeVisible();
  // In the page: an answer may end before a click from here arrives.
  await page.waitForFunction(() => {
    if (!/[a-z ]{5}/.test(document.querySelector('.assistant')?.textContent ?? '')) return false;
    document.querySelector<HTMLElement>('button[type=button]')?.click();
    return true;
  });
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  const stopped = await answers.textContent();

  await send('And now?');
  await expect(answers.nth(1)).toHaveText(/[a-z ]{5}/);
  expect(await answers.first().textContent(), 'the first answer stays as it was').toBe(stopped);
  await expect(page.locator('.user')).toHaveText(['Hello', 'And now?']);
  await expect(page.getByRole('alert')).toHaveCount(0);
  await close();
});
