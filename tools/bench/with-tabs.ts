import { chromium, type BrowserContext } from 'playwright';

import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { findFreePort } from '../listen.ts';

export interface TabbedBrowser {
  /** Its pages are the tabs of one window. */
  readonly context: BrowserContext;
  /** Name and version, as the browser reports them. */
  readonly version: string;
}

/** Playwright's arguments that let a tab in the background run as fast as the one in front. */
const UNLIKE_USERS = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/** The size of a window on a laptop. */
const WINDOW_SIZE = '1280,800';

/**
 * Starts a browser whose tabs behave as a user's do: the one in front is visible and draws, the others are hidden. Playwright
 * makes every page of a browser that it starts visible, so a second connection without its defaults drives the tabs.
 */
export async function withTabs<Result>(
  browserArgs: readonly string[],
  run: (browser: TabbedBrowser) => Promise<Result>,
): Promise<Result> {
  const { path, version } = await findBrowser();
  const port = await findFreePort();
  const args = [
    ...WEBGPU_ARGUMENTS,
    ...browserArgs,
    `--remote-debugging-port=${port}`,
    `--window-size=${WINDOW_SIZE}`,
  ];
  const launched = await chromium.launch({ executablePath: path, args, ignoreDefaultArgs: UNLIKE_USERS });
  try {
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
    const [context] = browser.contexts();
    if (!context) throw new Error('The browser has no window.');
    return await run({ context, version });
  } finally {
    await launched.close();
  }
}
