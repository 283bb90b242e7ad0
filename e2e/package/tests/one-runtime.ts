import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../../tools/package/build/paths.ts';
import { expect, expectTexts, statusOf, test } from '../app-page.ts';
import { serveFolders } from '../../support/serve-folders.ts';
import { buildWithVite } from '../tools.ts';

/** The table of "The runtime's files": an entry, and the `.wasm` files of an app that imports it, in MB. */
const DOCUMENTED = new Map(
  Array.from(
    readFileSync(join(ROOT, 'docs/bundlers.md'), 'utf8').matchAll(
      /^\| `(tabserve\/worker[\w-]*)` +\| ((?:[\d.]+ MB(?: and )?)+) +\|/gm,
    ),
    ([, entry, sizes]) => [entry, sizes],
  ),
);

for (const entry of ['tabserve/worker', 'tabserve/worker-webgpu', 'tabserve/worker-wasm']) {
  test(`an app with ${entry} ships the .wasm files that the document says, and runs on the CPU`, async ({
    place,
    serveApp,
    openTab,
  }) => {
    const folder = await buildWithVite(place, { workerModule: entry });
    const bytes = globSync('**/*.wasm', { cwd: folder }).map((path) => statSync(join(folder, path)).size);
    const shipped = bytes.toSorted((a, b) => b - a).map((size) => `${(size / 1e6).toFixed(1)} MB`);
    expect(shipped.join(' and ')).toBe(DOCUMENTED.get(entry));
    const page = await openTab(await serveApp(serveFolders([folder])));
    await expectTexts(page, [0, 1, 2]);
    expect((await statusOf(page)).backend?.name).toBe('wasm');
  });
}

test('an app with tabserve/worker-webgpu runs on the CPU in a browser without JSPI, and asks for no .wasm file', async ({
  place,
  serveApp,
  context,
  openTab,
}) => {
  const folder = await buildWithVite(place, { workerModule: 'tabserve/worker-webgpu' });
  const url = await serveApp(serveFolders([folder]));
  const asked: string[] = [];
  await context.route('**/*.wasm', (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
  await context.route('**/my-worker*.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `delete WebAssembly.Suspending;\n${await response.text()}` });
  });
  await expectTexts(await openTab(url), [0]);
  expect(asked).toEqual([]);
});
