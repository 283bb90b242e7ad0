import type { BrowserContext, BrowserType } from 'playwright-core';
import { findBrowser } from '../browser/find-browser.ts';
import { SERVING_ARGUMENTS } from '../browser/launch-arguments.ts';
import { BridgeError, reasonOf, codeOf } from '../base/errors.ts';
import { createProfile } from './profile-folder.ts';
import { keepTab, type HeadlessTab, type KeepTabOptions } from './keep-tab.ts';
import type { OwnBrowser } from '../tabs/own-browser.ts';

export interface HeadlessOptions extends KeepTabOptions {
  /** Host and port of the server. */
  readonly server: string;
  /** Marks the browser as the bridge's own. */
  readonly cookie: OwnBrowser['cookie'];
  /** Folder of the browser's profile; a temporary one if it is empty. */
  readonly profile: string;
}

/** The page's origin in the server's own browser, on any port: browsers store models by origin. */
export const OWN_ORIGIN = 'http://tabserve.localhost';

/**
 * Keeps the page open in a browser without a window, with WebGPU, until the signal aborts. The browser ends with the process.
 *
 * @param url The page's address at `OWN_ORIGIN`.
 * @throws BridgeError if playwright-core isn't installed, no browser is found, it does not start, its profile is in use or can't be
 *   written, or it fails too many times in a row.
 */
export async function keepHeadlessTab(url: string, options: HeadlessOptions): Promise<void> {
  const chromium = await importChromium();
  if (options.profile !== '') await createProfile(options.profile, OWN_ORIGIN);
  const { path } = await findBrowser().catch((error: unknown) => {
    const message = `${reasonOf(error)} Or start the server without --headless, and open its page in your own browser.`;
    throw new BridgeError('NO_HEADLESS_TAB', message, error);
  });
  await keepTab(async () => openTab(await launch(chromium, path, options), url, options), options);
}

async function openTab(
  context: BrowserContext,
  url: string,
  { cookie }: HeadlessOptions,
): Promise<HeadlessTab> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  context.once('close', () => end('the browser has ended.'));
  try {
    await context.addCookies([{ ...cookie, url, httpOnly: true, sameSite: 'Strict' }]);
    const [page = await context.newPage()] = context.pages();
    page.once('crash', () => end('the page has crashed.'));
    await page.goto(url);
  } catch (error) {
    await context.close();
    throw error;
  }
  return { ended, close: () => context.close() };
}

/** Chromium has no sandbox for root, or on systems that deny it user namespaces. */
async function launch(
  chromium: BrowserType,
  executablePath: string,
  { server, profile, print }: HeadlessOptions,
): Promise<BrowserContext> {
  const start = (chromiumSandbox: boolean): Promise<BrowserContext> =>
    chromium.launchPersistentContext(profile, {
      executablePath,
      chromiumSandbox,
      args: [...SERVING_ARGUMENTS, `--host-resolver-rules=MAP ${new URL(OWN_ORIGIN).host} ${server}`],
      handleSIGINT: false,
      handleSIGTERM: false,
    });
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

/** A peer of the package, which most of its users don't need: browsers are driven for `--headless` alone. */
async function importChromium(): Promise<BrowserType> {
  try {
    const { chromium } = await import('playwright-core');
    return chromium;
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message =
      '--headless needs playwright-core: run `npm install playwright-core@1` where tabserve is installed, or start both ' +
      'with `npx -p tabserve -p playwright-core@1 tabserve --headless`.';
    throw new BridgeError('NO_PLAYWRIGHT', message, error);
  }
}
