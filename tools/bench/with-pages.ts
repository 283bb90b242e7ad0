import type { Browser } from 'playwright';

import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { startServer, type ServerOptions } from '../../bridge/server.ts';
import type { Chosen, Measure, Setup } from './bench-case.ts';
import { besideEachOther, builtPages } from './built-pages.ts';
import { withBrowser } from './with-browser.ts';

/** A page of the product, served. */
export interface ServedPage {
  readonly browser: Browser;
  readonly url: string;
}

/** Serves the built page, and that of the commit beside it, in one browser, and measures what `open` makes of each. */
export async function measurePages(
  { beside, browserArgs }: Chosen,
  site: Pick<ServerOptions, 'policy'>,
  open: (page: ServedPage) => Promise<Omit<Setup, 'browser'>>,
  measure: Measure,
): Promise<void> {
  const pages = await builtPages(beside);
  const own = pages.at(-1);
  if (!own) throw new Error('No page was built.');
  const args = [...WEBGPU_ARGUMENTS, ...browserArgs];
  await withBrowser({ ...site, root: own.root, args }, async ({ browser, version, url }) => {
    await using servers = new AsyncDisposableStack();
    const opened = [];
    for (const { name, root } of pages) {
      const isOwn = root === own.root;
      const other = isOwn
        ? undefined
        : servers.use(await startServer({ host: 'localhost', port: 0, ...site, root }));
      const setup = await open({ browser, url: other?.url ?? url });
      opened.push({ name, setup, groups: setup.groups });
    }
    const [last] = opened.toReversed();
    if (last) await measure({ ...last.setup, browser: version, groups: besideEachOther(opened) });
  });
}
