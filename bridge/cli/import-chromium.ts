import type { BrowserType } from 'playwright-core';

import { BridgeError, codeOf } from '../base/errors.ts';

/** A peer of the package, which most of its users don't need: browsers are driven for `--headless` alone. */
export async function importChromium(): Promise<BrowserType> {
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
