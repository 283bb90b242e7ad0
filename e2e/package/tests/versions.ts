import { basename, join } from 'node:path';
import type { Page } from 'playwright/test';

import { expect, expectTexts, statusOf, test, type AppWindow } from '../app-page.ts';
import { writeApp } from '../app.ts';
import { buildNextVersion } from '../next-version.ts';
import { serveFolders } from '../../support/serve-folders.ts';
import type { InstalledPackage } from '../installed-package.ts';

// One tab was opened before an update of the app, and another one after it, so the versions of their protocols differ.

interface Versions {
  readonly now: string;
  readonly next: string;
}

/** Folders, which both tests serve. */
let written: Promise<Versions> | undefined;

/** Serves the same app twice at one origin: with the installed package, and with its next version. */
async function serveBothVersions(
  place: InstalledPackage,
  serveApp: (app: ReturnType<typeof serveFolders>) => Promise<string>,
): Promise<Versions> {
  const { now, next } = await (written ??= writeBothVersions(place));
  const url = await serveApp(serveFolders([now, place.folder]));
  return { now: url, next: `${url}${basename(next)}/` };
}

async function writeBothVersions(place: InstalledPackage): Promise<Versions> {
  const app = `import { connect } from 'tabserve';
    window.serve = await connect({
      backend: 'wasm',
      model: '/node_modules/tabserve/dist/models/storyteller/',
      worker: () => new Worker(new URL('./my-worker.js', import.meta.url), { type: 'module' }),
    });`;
  const write = (packageUrl: string): Promise<string> =>
    writeApp(place, {
      app,
      head: `<script type="importmap">${JSON.stringify({ imports: { tabserve: `${packageUrl}/client.js` } })}</script>`,
      workerModule: `${packageUrl}/worker.js`,
      runtimeUrl: '/node_modules/tabserve/dist-package/onnxruntime/',
    });
  const now = await write('/node_modules/tabserve/dist-package');
  await buildNextVersion(join(now, 'next-package'));
  return { now, next: await write('/next-package') };
}

/** Resolves with the text or the code of the failure. */
function requestStory(page: Page): Promise<string> {
  return page.evaluate(() =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    (window as unknown as AppWindow).serve
      .getHandle('text-generator')
      .remote('Once', { maxNewTokens: 200, temperature: 0 })
      .result()
      .then(
        ({ text }) => text,
        (error: Error & { code: string }) => error.code,
      ),
  );
}

test('a tab of the next version waits for those of this one, and loses no request', async ({
  place,
  serveApp,
  openTab,
}) => {
  const { now, next } = await serveBothVersions(place, serveApp);
  const [leader, follower] = [await openTab(now), await openTab(now)];
  await expectTexts(leader, [0]);
  const newer = await openTab(next);
  const waiting = expectTexts(newer, [1, 2]);
  await expect.poll(async () => (await statusOf(newer)).error?.code).toBe('VERSION_MISMATCH');
  expect((await statusOf(newer)).error?.message).toContain('then this one continues by itself');
  expect(await statusOf(leader), 'the newer tab is not served').toMatchObject({ state: 'ready', numTabs: 2 });

  const continued = expectTexts(follower, [3, 4]);
  await leader.close();
  await continued;
  expect((await statusOf(follower)).role, 'the older tab was first in the queue').toBe('leader');

  await follower.close();
  await waiting;
  expect(await statusOf(newer)).toMatchObject({ state: 'ready', role: 'leader', numTabs: 1 });
});

test('a tab of this version that meets the next one is told to reload, and its request ends', async ({
  place,
  serveApp,
  openTab,
}) => {
  const { now, next } = await serveBothVersions(place, serveApp);
  const newer = await openTab(next);
  await expectTexts(newer, [0]);
  const continued = expectTexts(newer, [1, 2]);
  const older = await openTab(now);
  expect(await requestStory(older)).toBe('VERSION_MISMATCH');
  expect(await statusOf(older)).toMatchObject({
    state: 'failed',
    error: { message: expect.stringContaining('reload this tab') },
  });
  await continued;
  expect(await statusOf(newer), 'the older tab is not served').toMatchObject({ state: 'ready', numTabs: 1 });
});
