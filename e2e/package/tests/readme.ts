import { readFileSync } from 'node:fs';

import { expect, test } from '../app-page.ts';
import { serveFolders } from '../../support/serve-folders.ts';
import { buildWithVite } from '../tools.ts';

test('the first lines of the README on npm stream a story in a build by Vite, in one file', async ({
  place,
  serveApp,
  page,
}) => {
  const readme = readFileSync(place.pathOf('README.md'), 'utf8');
  const [, install, app = ''] =
    /^# Tabserve\n+```sh[^\n]*\n([^\n]*)\n```\n+```js[^\n]*\n(.*?)```/s.exec(readme) ?? [];
  expect(install).toBe('npm i tabserve');
  expect(app.trim().split('\n').filter(Boolean).length).toBeLessThanOrEqual(6);
  const folder = await buildWithVite(place, { app }, {});
  await page.goto(await serveApp(serveFolders([folder])));
  await expect(page.locator('body')).toContainText(/[a-z ]{40}/);
});
