import { launch } from 'puppeteer-core';

import { findOnPath } from '../../bridge/browser/commands.ts';
import { inspect } from '../../bridge/browser/find-browser.ts';
import { findProgram } from '../support/find-program.ts';
import type { DrivenBrowser } from './driven-tab.ts';

/** Over WebDriver BiDi, which Firefox speaks by itself. */
export async function launchFirefox(): Promise<DrivenBrowser> {
  const given = process.env['FIREFOX_PATH'];
  const path = given ?? findOnPath('firefox') ?? (await findProgram('firefox-esr'));
  const found = await inspect(path, given === undefined ? 'installed' : 'FIREFOX_PATH');
  if (!found) throw new Error(`${path} does not start: set FIREFOX_PATH to the executable of a Firefox.`);
  console.log(`Browser: ${found.version} (${found.source}: ${path})`);
  const browser = await launch({ browser: 'firefox', executablePath: path, headless: true });
  return {
    version: found.version,
    async open(url) {
      const page = await browser.newPage();
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}
