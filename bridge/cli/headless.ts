import type { Browser, BrowserType } from 'playwright-core';

import { findBrowser } from '../browser/find-browser.ts';
import { importChromium } from './import-chromium.ts';
import { SERVING_ARGUMENTS } from '../browser/launch-arguments.ts';
import { BridgeError, reasonOf } from '../errors.ts';
import { keepTab, type HeadlessTab, type KeepTabOptions } from './keep-tab.ts';
import type { OwnBrowser } from '../tabs/own-browser.ts';

export interface HeadlessOptions extends KeepTabOptions {
  /** Marks the browser as the bridge's own. */
  readonly cookie: OwnBrowser['cookie'];
}

/**
 * Keeps the page open in a browser without a window, with WebGPU, until the signal aborts. The browser ends with the process.
 *
 * @throws BridgeError if playwright-core isn't installed, no browser is found, or it does not start, or it fails too many times in a row.
 */
export async function keepHeadlessTab(url: string, options: HeadlessOptions): Promise<void> {
  const chromium = await importChromium();
  const { path } = await findBrowser().catch((error: unknown) => {
    const message = `${reasonOf(error)} Or leave out --headless to use your own browser.`;
    throw new BridgeError('NO_HEADLESS_TAB', message, error);
  });
  await keepTab(() => openTab(chromium, path, url, options), options);
}

async function openTab(
  chromium: BrowserType,
  executablePath: string,
  url: string,
  { cookie, print }: HeadlessOptions,
): Promise<HeadlessTab> {
  const browser = await launch(chromium, executablePath, print);
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  browser.once('disconnected', () => end('the browser has ended.'));
  try {
    const context = await browser.newContext();
    await context.addCookies([{ ...cookie, url, httpOnly: true, sameSite: 'Strict' }]);
    const page = await context.newPage();
    page.once('crash', () => end('the page has crashed.'));
    await page.goto(url);
  } catch (error) {
    await browser.close();
    throw error;
  }
  return { ended, close: () => browser.close() };
}

/** Chromium has no sandbox for root, or on systems that deny it user namespaces. */
async function launch(
  chromium: BrowserType,
  executablePath: string,
  print: (line: string) => void,
): Promise<Browser> {
  const start = (chromiumSandbox: boolean): Promise<Browser> =>
    chromium.launch({
      executablePath,
      chromiumSandbox,
      args: [...SERVING_ARGUMENTS],
      handleSIGINT: false,
      handleSIGTERM: false,
    });
  try {
    return await start(true);
  } catch (error) {
    if (!reasonOf(error).includes('sandboxing failed')) throw error;
    print('Chromium has no sandbox for this user on this machine: it runs without.');
    return start(false);
  }
}
