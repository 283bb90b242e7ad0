import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright/test';

import { QUIET_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { requireEnvironment } from '../../support/environment.ts';
import { expect, test } from '../app-page.ts';
import { expectTextToOutliveItsLeader } from '../story.ts';

test('extension: popups write in an offscreen document, which outlives them', async ({ place }) => {
  await place.runScript('extension', 'build');
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-extension-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: requireEnvironment().browserPath,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [...QUIET_ARGUMENTS, '--enable-unsafe-extension-debugging'],
  });
  const popup = await loadExtension(context, join(place.folder, 'examples/extension/dist'));
  await expectTextToOutliveItsLeader(context, popup);
  const workers = context.pages().flatMap((page) => page.workers());
  expect(workers, 'workers of the popup').toEqual([]);
  await context.close();
  await rm(profile, { recursive: true });
});

/** Resolves with the address of its popup. The switch `--load-extension` works in Chromium alone, this in Chrome, too. */
async function loadExtension(context: BrowserContext, path: string): Promise<string> {
  const session = await context.browser()?.newBrowserCDPSession();
  const { id } = (await session?.send('Extensions.loadUnpacked', { path })) ?? {};
  return `chrome-extension://${id}/popup.html`;
}
