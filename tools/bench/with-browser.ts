import { chromium, type Browser } from 'playwright';

import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { startServer, type ServerOptions } from '../../bridge/server.ts';

export interface SiteInBrowser {
  readonly browser: Browser;
  /** Name and version, as the browser reports them. */
  readonly version: string;
  readonly url: string;
}

export interface SiteOptions extends Pick<ServerOptions, 'root' | 'policy'> {
  /** Arguments of the browser. */
  readonly args: readonly string[];
}

/** Serves a built page on a free port and starts a browser. Both end with `run`. */
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
