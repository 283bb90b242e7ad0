import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { codeBlocksFor, placeOf } from '../../../tools/documents/code-blocks.ts';
import { expect, test } from '../app-page.ts';
import { entriesOf, filesOf, nodeProgramOf, serveViteApp, writeFilesOf } from '../documents.ts';
import { standInForHub } from '../hub-stand-in.ts';

const run = promisify(execFile);

const documentsWith = (harness: 'vite' | 'plain' | 'node'): readonly string[] => [
  ...new Set(codeBlocksFor(harness).map(({ document }) => document)),
];

for (const document of documentsWith('vite')) {
  test(`the app of ${document} runs as Vite builds it`, async ({ place, serveApp, context }) => {
    const files = filesOf(document, 'vite');
    const url = await serveApp(serveViteApp(place, files));
    const close = await standInForHub(context);
    for (const entry of entriesOf(files)) {
      await test.step(entry, async () => {
        const page = await context.newPage();
        const errors: unknown[] = [];
        page.on('pageerror', (error) => errors.push(error));
        page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
        await page.goto(`${url}#${entry}`);
        await page.getByRole('button', { name: 'Run' }).click();
        await expect.poll(async () => (errors.length > 0 ? errors : page.title())).toBe('It has run');
        await page.close();
      });
    }
    await close();
  });
}

for (const block of codeBlocksFor('node')) {
  test(`the code of ${placeOf(block)} does what it says in Node`, async ({ place }) => {
    const folder = await writeFilesOf(place, { 'program.ts': nodeProgramOf(block) });
    const { stdout } = await run(process.execPath, [join(folder, 'program.ts')]);
    expect(stdout).toBe('It has run\n');
  });
}
