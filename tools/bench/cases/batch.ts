import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright';
import { build } from 'vite';

import { QUIET_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import type { BenchCase, Samples } from '../bench-case.ts';
import { LIBRARIES_ROOT as ROOT } from '../libraries/build-libraries.ts';
import { withBrowser } from '../with-browser.ts';
import { CONTENDERS } from './batcher/contenders.ts';

const PAGE = fileURLToPath(new URL('batcher/page', import.meta.url));

export const bench: BenchCase = {
  summary: 'the request batcher by itself, beside dataloader and p-limit',
  rounds: 15,
  async run({ isShort, browserArgs }, measure) {
    await build({
      root: PAGE,
      logLevel: 'warn',
      build: { target: 'es2024', outDir: ROOT, emptyOutDir: true },
    });
    const numItems = isShort ? 1e4 : 1e5;
    const site = { root: ROOT, args: [...QUIET_ARGUMENTS, ...browserArgs] };
    await withBrowser(site, ({ browser, url, version }) =>
      measure({
        key: 'batcher',
        browser: version,
        note: 'Each measurement has a process of its own.',
        groups: [
          {
            caption: `${numItems} items submitted in one turn, 15 times over`,
            labels: [''],
            columns: [{ name: 'items/s', digits: 0, shows: 'p50' }],
            ratio: { header: 'over batch', column: 'items/s' },
            subjects: CONTENDERS.map(({ name }) => ({
              labels: [name],
              measure: () => measureInNewPage(browser, url, name, numItems),
            })),
          },
        ],
      }),
    );
  },
};

/** Contexts share no renderer process, so no contender pays for another's garbage or profits from its warm code. */
async function measureInNewPage(
  browser: Browser,
  url: string,
  name: string,
  numItems: number,
): Promise<Samples> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'measureBatcher' in window);
  const rate = await page.evaluate((given) => window.measureBatcher(...given), [name, numItems] as const);
  await context.close();
  return { 'items/s': rate };
}
