import type { Browser } from 'playwright';

import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { startServer, type ServerOptions } from '../../bridge/server.ts';
import type { Chosen, Measure, Setup } from './bench-case.ts';
import { besideEachOther, builtPages } from './built-pages.ts';
import { launchBrowser } from './launch.ts';

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
  await using stack = new AsyncDisposableStack();
  const { browser, version } = await launchBrowser([...WEBGPU_ARGUMENTS, ...browserArgs]);
  stack.use(browser);
  const opened = [];
  for (const { name, root } of pages) {
    const { url } = stack.use(await startServer({ host: 'localhost', port: 0, ...site, root }));
    const setup = await open({ browser, url });
    opened.push({ name, setup, groups: setup.groups });
  }
  const [last] = opened.toReversed();
  if (last) await measure({ ...last.setup, browser: version, groups: besideEachOther(opened) });
}
