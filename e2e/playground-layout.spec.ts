import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page, TestInfo } from 'playwright/test';

import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

// Pictures are compared where the fonts are those that they were drawn with: each set of fonts has a folder of its own, and
// `npx playwright test -c e2e playground-layout --project wasm --update-snapshots` draws it. Everywhere else the layout is judged.

const WIDTHS = [360, 1280, 2560] as const;
const SCHEMES = ['light', 'dark'] as const;

const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<void>>> = {
  watch: async (tab) => {
    const prompts = ['Once upon a time,', 'My best talent is', 'In a galaxy far far away'];
    await tab.generateAll(prompts.map((prompt) => ({ prompt, options: { maxNewTokens: 24, seed: 7 } })));
  },
  load: async ({ page }) => {
    await page.getByRole('tab', { name: 'Load test' }).click();
    await page.locator('.load').scrollIntoViewIfNeeded();
  },
  adder: async ({ page }) => {
    await page.getByRole('tab', { name: 'Adder' }).click();
  },
  'house-price': async ({ page }) => {
    await page.getByRole('tab', { name: 'House price' }).click();
  },
};

const DIALOGS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  history: async (page) => {
    await page.getByRole('button', { name: 'History' }).click();
    await expect(page.getByText('Nothing yet')).toBeVisible();
  },
};

test.describe('looks as it should', { tag: ANY_BACKEND }, () => {
  for (const [name, show] of Object.entries(VIEWS)) {
    test(`${name} at ${WIDTHS.join(', ')} pixels, light and dark`, async ({ site }, info) => {
      const [tab] = await site.openReady(1);
      if (!tab) throw new Error('No tab');
      const { page } = tab;
      await show(tab);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await expectToLookRight(page, `${name}-${width}-${colorScheme}`, info);
        }
      }
    });
  }

  for (const [name, show] of Object.entries(DIALOGS)) {
    test(`the ${name}, light and dark`, async ({ site }, info) => {
      const [tab] = await site.openReady(1);
      if (!tab) throw new Error('No tab');
      const { page } = tab;
      await show(page);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await expectToLookRight(page, `${name}-1280-${colorScheme}`, info);
      }
    });
  }

  test('nothing moves while the page loads and generates', async ({ site }) => {
    const tab = await site.open();
    await tab.page.addInitScript(sumLayoutShifts);
    await site.reload(tab);
    await tab.ready();
    await tab.generateAll(
      Array.from({ length: 4 }, () => ({ prompt: 'Once upon a time,', options: { maxNewTokens: 30 } })),
    );
    await tab.whenIdle();
    expect(await tab.page.evaluate(() => window.layoutShift)).toBe(0);
  });
});

async function expectToLookRight(page: Page, name: string, info: TestInfo): Promise<void> {
  await page.mouse.move(0, 0);
  const overflow = await page.evaluate(findOverflow);
  expect(overflow, `${name}: what is wider than its place`).toEqual([]);
  const fonts = await page.evaluate(fontsInUse);
  const folder = fileURLToPath(new URL(`screenshots/${fonts}`, import.meta.url));
  const isDrawing = info.config.updateSnapshots === 'all' || info.config.updateSnapshots === 'changed';
  if (!isDrawing && !existsSync(folder)) return;
  await page.evaluate(adoptStyle, readFileSync(new URL('support/still.css', import.meta.url), 'utf8'));
  await expect(page).toHaveScreenshot([fonts, `${name}.png`], { maxDiffPixelRatio: 0.005 });
}

/** Runs in the page, once: its policy allows no style in an element, a sheet that a script makes is none. */
function adoptStyle(css: string): void {
  if (document.adoptedStyleSheets.length > 0) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}

/** Runs in the page: the width of a line in each of its fonts, which differs with the fonts of the machine. */
function fontsInUse(): string {
  const context = document.createElement('canvas').getContext('2d');
  const widths = ['system-ui', 'ui-monospace, Consolas, monospace'].map((family) => {
    if (!context) return 0;
    context.font = `100px ${family}`;
    return Math.round(context.measureText('Tabserve 0123456789 ÄÖ').width);
  });
  return `fonts-${widths.join('-')}`;
}

/** Runs in the page: text that is cut off, and anything that makes the page scroll sideways. */
function findOverflow(): string[] {
  const found: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    for (const element of document.querySelectorAll('body *')) {
      const { right } = element.getBoundingClientRect();
      if (right > innerWidth + 1 && !element.closest('.chips, .load-scroll, .scroll-box, .visually-hidden'))
        found.push(`${element.tagName} .${element.className} reaches to ${Math.round(right)}`);
    }
  }
  for (const element of document.querySelectorAll('button, h1, h2, h3, legend, .segments span, dd, dt')) {
    if (element.closest('.visually-hidden')) continue;
    if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
      found.push(`${element.tagName} “${element.textContent}” is cut off`);
  }
  return found;
}

declare global {
  interface Window {
    layoutShift: number;
  }
}

/** Runs in the page before its scripts. */
function sumLayoutShifts(): void {
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // TypeScript's library does not know this kind of entry.
      if (!('value' in entry) || !('hadRecentInput' in entry) || entry.hadRecentInput) continue;
      window.layoutShift += Number(entry.value);
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
