import { chromium } from 'playwright';

import { findBrowser } from '../tools/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../tools/browser/launch-arguments.ts';
import { BridgeError } from './errors.ts';
import { keepTab, type HeadlessTab, type KeepTabOptions } from './keep-tab.ts';

/**
 * Keeps the page open in a browser without a window, with WebGPU, until the signal aborts. It ends by itself with the process.
 *
 * @throws BridgeError where no browser can be had, or it fails again and again.
 */
export async function keepHeadlessTab(url: string, options: KeepTabOptions): Promise<void> {
  const { path } = await findBrowser().catch((error: unknown) => {
    throw BridgeError.noHeadlessTab(error);
  });
  await keepTab(() => openTab(path, url), options);
}

async function openTab(executablePath: string, url: string): Promise<HeadlessTab> {
  const browser = await chromium.launch({
    executablePath,
    args: [...WEBGPU_ARGUMENTS],
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  browser.once('disconnected', () => end('the browser has ended.'));
  try {
    const page = await browser.newPage();
    page.once('crash', () => end('the page has crashed.'));
    await page.goto(url);
  } catch (error) {
    await browser.close();
    throw error;
  }
  return { ended, close: () => browser.close() };
}
