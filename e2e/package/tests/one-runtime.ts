import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, expectTexts, failureOf, statusOf, test } from '../app-page.ts';
import { serveFolders } from '../serve-folders.ts';
import { buildWithVite } from '../tools.ts';

/** The `.wasm` files of an app that imports the entry in its worker, by their sizes in MB. */
const RUNTIMES: Readonly<Record<string, readonly [string, number][]>> = {
  'tabserve/worker': [
    ['ort-wasm-simd-threaded', 14.2],
    ['ort-wasm-simd-threaded.jspi', 16.8],
  ],
  'tabserve/worker-webgpu': [['ort-wasm-simd-threaded.jspi', 16.8]],
  'tabserve/worker-wasm': [['ort-wasm-simd-threaded', 14.2]],
};

for (const [entry, runtimes] of Object.entries(RUNTIMES)) {
  test(`an app with ${entry} ships ${runtimes.length} .wasm, and runs on the CPU`, async ({
    place,
    serveApp,
    openTab,
  }) => {
    const folder = await buildWithVite(place, { workerModule: entry });
    const shipped = globSync('**/*.wasm', { cwd: folder }).map((path) => [
      path.replace(/^.*\/|-[\w-]{8}\.wasm$/g, ''),
      Number((statSync(join(folder, path)).size / 1e6).toFixed(1)),
    ]);
    expect(shipped.toSorted()).toEqual(runtimes);
    const page = await openTab(await serveApp(serveFolders([folder])));
    await expectTexts(page, [0, 1, 2]);
    expect((await statusOf(page)).backend?.name).toBe('wasm');
  });
}

test('an app with tabserve/worker-webgpu says what it needs in a browser without JSPI', async ({
  place,
  serveApp,
  context,
  openTab,
}) => {
  const folder = await buildWithVite(place, { workerModule: 'tabserve/worker-webgpu' });
  const url = await serveApp(serveFolders([folder]));
  await context.route('**/my-worker*.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `delete WebAssembly.Suspending;\n${await response.text()}` });
  });
  expect(await failureOf(await openTab(url))).toMatch(/^NO_RUNTIME: .*Chrome 137/);
});
