import { chromium, type BrowserContext, type Page } from 'playwright';

import { findBrowser } from '../browser/find-browser.ts';
import { SERVING_ARGUMENTS } from '../browser/launch-arguments.ts';
import { BridgeError, reasonOf } from '../errors.ts';
import { keepTab, type HeadlessTab, type KeepTabOptions } from './keep-tab.ts';
import type { OwnBrowser } from '../tabs/tab-sockets.ts';

export interface HeadlessOptions extends KeepTabOptions {
  /** Marks the browser as the bridge's own. */
  readonly cookie: OwnBrowser['cookie'];
  /** Folder of the browser's profile; a temporary one if it is empty. */
  readonly profile: string;
}

/**
 * The origin of the page in the server's own browser, whatever the server's port is: the browser stores models by origin.
 */
export const OWN_ORIGIN = 'http://tabserve.localhost';

/**
 * Keeps the page open in a browser without a window, with WebGPU, until the signal aborts. The browser ends with the process.
 *
 * @param url The page's address at `OWN_ORIGIN`.
 * @param server The server's host and port.
 * @throws BridgeError if no browser is found, or it does not start, or it fails too many times in a row.
 */
export async function keepHeadlessTab(url: string, server: string, options: HeadlessOptions): Promise<void> {
  const { path } = await findBrowser().catch((error: unknown) => {
    const message = `${reasonOf(error)} Or leave out --headless to use your own browser.`;
    throw new BridgeError('NO_HEADLESS_TAB', message, error);
  });
  await keepTab(() => openTab(path, url, server, options), options);
}

async function openTab(
  executablePath: string,
  url: string,
  server: string,
  { cookie, profile, print }: HeadlessOptions,
): Promise<HeadlessTab> {
  const context = await launch(profile, print, {
    executablePath,
    args: [...SERVING_ARGUMENTS, `--host-resolver-rules=MAP ${new URL(OWN_ORIGIN).host} ${server}`],
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  context.once('close', () => end('the browser has ended.'));
  try {
    await context.addCookies([{ ...cookie, url, httpOnly: true, sameSite: 'Strict' }]);
    const [page = await context.newPage()] = context.pages();
    page.once('crash', () => end('the page has crashed.'));
    await allowStorage(context, page);
    await page.goto(url);
  } catch (error) {
    await context.close();
    throw error;
  }
  return { ended, close: () => context.close() };
}

/** Without the permission, a browser that no person uses evicts stored models when the disk is full. */
async function allowStorage(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('Browser.grantPermissions', { origin: OWN_ORIGIN, permissions: ['durableStorage'] });
  await session.detach();
}

type LaunchOptions = NonNullable<Parameters<typeof chromium.launchPersistentContext>[1]>;

/** Chromium has no sandbox for root, or on systems that deny it user namespaces. */
async function launch(
  profile: string,
  print: (line: string) => void,
  options: LaunchOptions,
): Promise<BrowserContext> {
  const start = (chromiumSandbox: boolean): Promise<BrowserContext> =>
    chromium.launchPersistentContext(profile, { ...options, chromiumSandbox });
  try {
    return await start(true).catch((error: unknown) => {
      if (!reasonOf(error).includes('sandboxing failed')) throw error;
      print('Chromium has no sandbox for this user on this machine: it runs without.');
      return start(false);
    });
  } catch (error) {
    throw reasonOf(error).includes('ProcessSingleton') ? BridgeError.profileInUse(profile, error) : error;
  }
}
