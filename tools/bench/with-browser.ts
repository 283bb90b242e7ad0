import { chromium, type Browser } from 'playwright';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../../bridge/browser/find-browser.ts';

export interface SiteInBrowser {
  readonly browser: Browser;
  /** As it names itself. */
  readonly version: string;
  readonly url: string;
}

export interface SiteOptions {
  /** Folder of the built page. */
  readonly root: string;
  /** The browser's. */
  readonly args: readonly string[];
  /** The page's Content-Security-Policy, where it is another one than that of our own page. */
  readonly policy?: string;
}

/** Serves a built page on a free port, and starts a browser for it; both end with `run`. */
export async function withBrowser<Result>(
  { args, ...page }: SiteOptions,
  run: (site: SiteInBrowser) => Promise<Result>,
): Promise<Result> {
  const { path, version } = await findBrowser();
  const server = await startServer({ host: 'localhost', port: 0, ...page });
  const browser = await chromium.launch({ executablePath: path, args: [...args] });
  try {
    return await run({ browser, version, url: server.url });
  } finally {
    await browser.close();
    await server.close();
  }
}
