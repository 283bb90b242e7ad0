import { launch } from 'puppeteer-core';

import { findFirefox } from './find-firefox.ts';
import type { DrivenBrowser } from './driven-browser.ts';

/** Over WebDriver BiDi, which Firefox speaks by itself. */
export async function launchFirefox(): Promise<DrivenBrowser> {
  const { path, version, source } = await findFirefox();
  console.log(`Browser: ${version} (${source}: ${path})`);
  const browser = await launch({ browser: 'firefox', executablePath: path, headless: true });
  return {
    version,
    async open(url) {
      const page = await browser.newPage();
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}
