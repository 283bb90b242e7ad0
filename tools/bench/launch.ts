import { chromium, type Browser, type BrowserContext } from 'playwright';

import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { findFreePort } from '../../bridge/testing/listen.ts';

export interface LaunchedBrowser {
  readonly browser: Browser;
  readonly version: string;
}

export async function launchBrowser(args: readonly string[]): Promise<LaunchedBrowser> {
  const { path, version } = await findBrowser();
  return { browser: await chromium.launch({ executablePath: path, args: [...args] }), version };
}

/** With a window, whose tabs are the pages of the context. */
export interface WindowedBrowser extends LaunchedBrowser {
  readonly context: BrowserContext;
}

/** A browser with a new profile on disk, as people have it: an incognito window would keep its storage in memory. */
export async function launchProfile(browserArgs: readonly string[]): Promise<WindowedBrowser> {
  const { path: executablePath, version } = await findBrowser();
  const args = [...WEBGPU_ARGUMENTS, ...browserArgs];
  // Without a path, Playwright makes a folder, and removes it when the context is closed.
  const context = await chromium.launchPersistentContext('', { executablePath, args });
  const browser = context.browser();
  if (!browser) throw new Error('The profile has no browser.');
  return { browser, context, version };
}

/** Playwright's arguments that let a tab in the background run as fast as the one in front. */
const UNLIKE_USERS = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/**
 * A browser whose tabs behave as a user's do: the one in front is visible and draws, the others are hidden. Playwright makes every
 * page of a browser that it starts visible, so a second connection without its defaults drives the tabs.
 */
export async function launchTabs(browserArgs: readonly string[]): Promise<WindowedBrowser> {
  const { path: executablePath, version } = await findBrowser();
  const port = await findFreePort();
  const window = [`--remote-debugging-port=${port}`, '--window-size=1280,800'];
  const args = [...WEBGPU_ARGUMENTS, ...browserArgs, ...window];
  const browser = await chromium.launch({ executablePath, args, ignoreDefaultArgs: UNLIKE_USERS });
  const driven = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
  const [context] = driven.contexts();
  if (!context) throw new Error('The browser has no window.');
  return { browser, context, version };
}
