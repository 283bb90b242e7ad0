import { chromium, type Browser } from 'playwright';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../browser/find-browser.ts';

export interface SiteInBrowser {
  readonly browser: Browser;
  /** As it names itself. */
  readonly version: string;
  readonly url: string;
}

/** Serves the page built in `root` on a free port, and starts a browser for it; both end with `run`. */
export async function withBrowser<Result>(
  root: string,
  args: readonly string[],
  run: (site: SiteInBrowser) => Promise<Result>,
): Promise<Result> {
  const { path, version } = await findBrowser();
  const server = await startServer({ host: 'localhost', port: 0, root });
  const browser = await chromium.launch({ executablePath: path, args: [...args] });
  try {
    return await run({ browser, version, url: server.url });
  } finally {
    await browser.close();
    await server.close();
  }
}
