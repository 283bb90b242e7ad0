import { chromium } from 'playwright';

import { findBrowser } from '../tools/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../tools/browser/launch-arguments.ts';

export interface HeadlessTab {
  close(): Promise<void>;
}

/** Opens the page in a browser without a window, with WebGPU. It ends by itself with the process. */
export async function openHeadlessTab(url: string): Promise<HeadlessTab> {
  const { path } = await findBrowser();
  const browser = await chromium.launch({
    executablePath: path,
    args: [...WEBGPU_ARGUMENTS],
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const open = async (): Promise<void> => {
    const page = await browser.newPage();
    // A tab that has crashed leaves its requests to the one that comes after it.
    page.on('crash', () => void page.close().then(open));
    await page.goto(url);
  };
  await open();
  return { close: () => browser.close() };
}
