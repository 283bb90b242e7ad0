import type { Browser, CDPSession, Page } from 'playwright';

import type { Samples } from '../bench-case.ts';

/** Lighthouse's mobile preset: slow 4G, and a processor four times slower. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8 };
const CPU_SLOWDOWN = 4;
const PHONE = { width: 412, height: 823 };

/** Loads the page as on a slow phone. Returns the values of the columns. */
export async function measurePageLoad(browser: Browser, url: string): Promise<Samples> {
  await using context = await browser.newContext({
    viewport: PHONE,
    deviceScaleFactor: 1.75,
    hasTouch: true,
    isMobile: true,
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', NETWORK);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await page.addInitScript(observePage);
  await page.goto(`${url}/?backend=wasm`, { waitUntil: 'commit' });
  await page.getByRole('textbox', { name: 'Prompt' }).waitFor();
  await generateText(page, session);
  const { firstContentfulPaintMs, interactiveMs, layoutShift } = await page.evaluate(
    () => window.pageFigures,
  );
  return {
    'first contentful paint': firstContentfulPaintMs,
    'until a prompt can be written': interactiveMs,
    'layout shift': layoutShift,
  };
}

/** Sends the first prompt once the model is ready, without a limit of the network: 5 MB take long on slow 4G. */
async function generateText(page: Page, session: CDPSession): Promise<void> {
  const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
  await session.send('Network.emulateNetworkConditions', { ...NETWORK, ...unlimited });
  await page.waitForFunction(() => window.tabserve?.status().state === 'ready', undefined, {
    timeout: 120_000,
  });
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('[data-status=finished]').waitFor();
}

declare global {
  interface Window {
    pageFigures: { firstContentfulPaintMs: number; interactiveMs: number; layoutShift: number };
  }
}

/** Runs in the page before its scripts. */
function observePage(): void {
  const figures = { firstContentfulPaintMs: Number.NaN, interactiveMs: Number.NaN, layoutShift: 0 };
  window.pageFigures = figures;
  // Observed in the page: a test of its elements from outside comes a quarter of a second late.
  const observer = new MutationObserver(() => {
    if (!document.querySelector('textarea')) return;
    figures.interactiveMs = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries())
      if (name === 'first-contentful-paint') figures.firstContentfulPaintMs = startTime;
  }).observe({ type: 'paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // TypeScript's library does not know this kind of entry.
      if (!('value' in entry) || !('hadRecentInput' in entry) || entry.hadRecentInput) continue;
      figures.layoutShift += Number(entry.value);
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
