import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../browser/find-browser.ts';
import { QUIET_ARGUMENTS } from '../browser/launch-arguments.ts';

// The README's picture: the page itself, with two tabs at work.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PICTURE = `${ROOT}.github/page.png`;
const NUM_REQUESTS = 24;
/** By then the timeline is full, and both tabs still have some running. */
const NUM_FINISHED = 24;

await build({ root: ROOT, logLevel: 'warn' });
const found = await findBrowser();
const server = await startServer({ host: 'localhost', port: 0, root: `${ROOT}/dist` });
const browser = await chromium.launch({ executablePath: found.path, args: [...QUIET_ARGUMENTS] });
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
  const [page, other] = [await context.newPage(), await context.newPage()];
  for (const tab of [page, other]) await open(tab);
  await page.bringToFront();
  await other.evaluate(begin, { numRequests: NUM_REQUESTS, maxNewTokens: 180 });
  await page.evaluate(begin, { numRequests: NUM_REQUESTS, maxNewTokens: 240 });
  // Both tabs have come and gone, and the document is being continued.
  await page.waitForFunction(
    (count) => document.querySelectorAll('[data-status=finished]').length >= count,
    NUM_FINISHED,
  );
  await page.getByRole('textbox', { name: 'Prompt' }).press('Control+Enter');
  await page.getByTestId('document').locator('mark').waitFor();
  await page.screenshot({ path: PICTURE });
  console.log(`Drawn: ${PICTURE}`);
} finally {
  await browser.close();
  await server.close();
}

async function open(tab: Page): Promise<void> {
  await tab.goto(`${server.url}/?backend=wasm`);
  await tab.waitForFunction(() => window.tabserve?.status().state === 'ready');
}

/** Runs in the page. */
function begin({ numRequests, maxNewTokens }: { numRequests: number; maxNewTokens: number }): void {
  const generator = window.tabserve?.getHandle('text-generator');
  for (let request = 0; request < numRequests; request += 1) {
    const lengths = maxNewTokens - request * 6;
    generator?.remote('Once upon a time, there was', {
      maxNewTokens: lengths,
      temperature: 0.8,
      seed: request,
    });
  }
}
