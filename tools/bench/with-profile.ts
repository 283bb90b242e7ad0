import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext } from 'playwright';

import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';

export interface ProfiledBrowser {
  readonly browser: Browser;
  readonly context: BrowserContext;
}

/** Starts a browser with a new profile on disk, as people have it. An incognito window would keep its storage in memory. */
export async function withProfile<Result>(
  browserArgs: readonly string[],
  run: (browser: ProfiledBrowser) => Promise<Result>,
): Promise<Result> {
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-bench-'));
  const { path: executablePath } = await findBrowser();
  const args = [...WEBGPU_ARGUMENTS, ...browserArgs];
  const context = await chromium.launchPersistentContext(profile, { executablePath, args });
  try {
    const browser = context.browser();
    if (!browser) throw new Error('The profile has no browser.');
    return await run({ browser, context });
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}
