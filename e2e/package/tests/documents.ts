import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright/test';

import { codeBlocksFor, placeOf, type Harness } from '../../../tools/documents/code-blocks.ts';
import { someOf } from '../../support/seeded-random.ts';
import { expect, test } from '../app-page.ts';
import { nodeProgramOf, serveDocumentedPage, serveViteApp, writeFilesOf } from '../documents.ts';
import { standInForHub } from '../hub-stand-in.ts';

const run = promisify(execFile);

const documentsWith = (harness: Harness): readonly string[] => [
  ...new Set(codeBlocksFor(harness).map(({ document }) => document)),
];

for (const document of someOf(documentsWith('vite'), 2)) {
  test(`the app of ${document} runs as Vite builds it`, async ({ place, serveApp, context }) => {
    const app = serveViteApp(place, document);
    const url = await serveApp(app);
    const close = await standInForHub(context);
    for (const entry of someOf((await app).entries, 4)) {
      await test.step(entry, async () => {
        const page = await context.newPage();
        const hasRun = watch(page);
        await page.goto(`${url}#${entry}`);
        await page.getByRole('button', { name: 'Run' }).click();
        await hasRun();
        await useComponent(page);
        await page.close();
      });
    }
    await close();
  });
}

for (const document of someOf(documentsWith('plain'), 1)) {
  test(`the page of ${document} runs without a bundler, under its policy`, async ({
    place,
    serveApp,
    page,
  }) => {
    const hasRun = watch(page);
    await page.goto(await serveApp(serveDocumentedPage(place, document)));
    await hasRun();
    await expect(page.locator('body')).toHaveText(/[a-z]{3}/);
  });
}

for (const block of someOf(codeBlocksFor('node'), 3)) {
  test(`the code of ${placeOf(block)} does what it says in Node`, async ({ place }) => {
    const folder = await writeFilesOf(place, { 'program.ts': nodeProgramOf(block) });
    const { stdout } = await run(process.execPath, [join(folder, 'program.ts')]);
    expect(stdout).toBe('It has run\n');
  });
}

/** Resolves with a function that waits until the page's script has ended, and fails with its errors. */
function watch(page: Page): () => Promise<void> {
  const errors: unknown[] = [];
  page.on('pageerror', (error) => errors.push(error));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  return () => expect.poll(async () => (errors.length > 0 ? errors : page.title())).toBe('It has run');
}

/** Presses the first button of a component, if the entry exports one, and waits for a text. */
async function useComponent(page: Page): Promise<void> {
  const component = page.getByRole('main');
  const button = component.getByRole('button').first();
  if ((await component.innerHTML()) === '') return;
  await button.click();
  await expect(component).toHaveText(/[a-z]{8}|[a-z ,.]{30}/);
}
