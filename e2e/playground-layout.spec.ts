import { existsSync } from 'node:fs';
import type { Locator, Page, TestInfo } from 'playwright/test';

import { fontsInUse, SCREENSHOTS, standStill } from './support/screenshots.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

// Pictures are compared where the fonts are those that they were drawn with: each set of fonts has a folder of its own, and
// `npx playwright test -c e2e playground-layout --project wasm --update-snapshots` draws it. Everywhere else the layout is judged.

const WIDTHS = [360, 1280, 2560] as const;
const SCHEMES = ['light', 'dark'] as const;
const END_TOKEN = 2047;

const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<void>>> = {
  watch: async (tab) => {
    const prompts = ['Once upon a time,', 'My best talent is', 'In a galaxy far far away'];
    await tab.generateAll(prompts.map((prompt) => ({ prompt, options: { maxNewTokens: 24, seed: 7 } })));
  },
  adder: async ({ page }) => {
    await page.getByRole('tab', { name: 'Adder' }).click();
  },
  'house-price': async ({ page }) => {
    await page.getByRole('tab', { name: 'House price' }).click();
  },
  trace: async (tab) => {
    await tab.configure({ prefixCaching: false });
    await tab.generate('Once upon a time,', { maxNewTokens: 9, seed: 7, logitBias: { [END_TOKEN]: -100 } });
    await tab.whenIdle();
    // The last steps arrive up to 100 ms after the text.
    await expect.poll(async () => (await tab.steps('decode')).length).toBe(8);
    await tab.page.getByRole('button', { name: 'Trace newest' }).click();
    await expect(tab.page.getByRole('dialog').locator('tbody tr')).toHaveCount(9);
  },
  history: async ({ page }) => {
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('12');
    await page.getByRole('textbox', { name: 'Seed' }).fill('7');
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const entry = page.getByRole('dialog').getByRole('listitem');
    // It is written beside the page.
    await expect(async () => {
      await page.getByRole('button', { name: 'History' }).click();
      await expect(entry)
        .toHaveCount(1, { timeout: 1000 })
        .catch((error: unknown) => {
          return page.keyboard.press('Escape').then(() => Promise.reject(error));
        });
    }).toPass();
  },
};

/** Results are looked at by themselves: what is around them is in the view before. */
const LOAD_FIELDS = {
  rate: '8',
  durationSeconds: '0.5',
  outputMin: '2',
  outputMax: '4',
  latencyLimitMs: '60000',
};

test.describe('looks as it should', { tag: ANY_BACKEND }, () => {
  for (const [name, show] of Object.entries(VIEWS)) {
    test(`${name} at ${WIDTHS.join(', ')} pixels, light and dark`, async ({ site }, info) => {
      const [tab] = await site.openReady(1);
      if (!tab) throw new Error('No tab');
      await show(tab);
      await expectEveryWidthToLookRight(tab.page, tab.page, name, info);
    });
  }

  test('a load test, and what each kind of it says', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await page.getByRole('tab', { name: 'Load test' }).click();
    await expectEveryWidthToLookRight(page, page.locator('.load'), 'load', info);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
    for (const [name, value] of Object.entries(LOAD_FIELDS))
      await page.locator(`.load [name=${name}]`).fill(value);
    // A search ends when its rounds are clear.
    const numRuns = { Run: '1', Sweep: '6', Compare: '3', ...(IS_WHOLE && { Suggest: '\\d+' }) };
    for (const [mode, count] of Object.entries(numRuns)) {
      await page.getByRole('radio', { name: mode }).check();
      await page.getByRole('button', { name: 'Start' }).click();
      await expect(page.locator('.load-progress output')).toHaveText(
        new RegExp(`^The load test is over: ${count} runs\\.$`),
        { timeout: 120_000 },
      );
      const results = page.locator('.load-results');
      // How many rows a search has is for its rounds to tell: its layout is judged, not its picture.
      if (mode === 'Suggest') await expectEveryWidthToHold(page, 'load-suggest');
      else await expectEveryWidthToLookRight(page, results, `load-${mode.toLowerCase()}`, info);
    }
  });

  test('the choice of a model, and its refusal', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const panel = tab.page.locator('.models');
    await panel.getByLabel('Id on the hub').fill('no such model');
    await panel.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(panel.getByRole('alert')).toBeVisible();
    await expectEveryWidthToLookRight(tab.page, panel, 'models', info);
  });

  test('a page that could not start', async ({ ownTab: { page } }, info) => {
    await page.goto('/?backend=quantum');
    await expect(page.getByText('INVALID_OPTION').first()).toBeVisible();
    await expectEveryWidthToLookRight(page, page.locator('body'), 'failure', info);
  });

  test('the hint of an empty chart covers no label of its axes', async ({ site }) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await expect(page.locator('.charts .u-wrap')).toHaveCount(9);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => page.evaluate(findCoveredAxes), `at ${width}`).toEqual([]);
    }
  });

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

async function expectEveryWidthToLookRight(
  page: Page,
  part: Page | Locator,
  name: string,
  info: TestInfo,
): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await expectToLookRight(page, part, `${name}-${width}-${colorScheme}`, info);
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function expectEveryWidthToHold(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await expectToHold(page, `${name}-${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function expectToHold(page: Page, name: string): Promise<void> {
  // Charts follow a new width with their next frame.
  await expect.poll(() => page.evaluate(findOverflow), `${name}: what is wider than its place`).toEqual([]);
}

async function expectToLookRight(
  page: Page,
  part: Page | Locator,
  name: string,
  info: TestInfo,
): Promise<void> {
  await page.mouse.move(0, 0);
  await expectToHold(page, name);
  const fonts = await page.evaluate(fontsInUse);
  const isDrawing = info.config.updateSnapshots === 'all' || info.config.updateSnapshots === 'changed';
  if (!isDrawing && !existsSync(`${SCREENSHOTS}/${fonts}`)) return;
  await standStill(page);
  await expect(part).toHaveScreenshot([fonts, `${name}.png`], { maxDiffPixelRatio: 0.005 });
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

/** Runs in the page: the charts whose hint lies on an axis. */
function findCoveredAxes(): string[] {
  return [...document.querySelectorAll('.chart')].flatMap((chart) => {
    const hint = chart.querySelector('.chart-empty')?.getBoundingClientRect();
    const plot = chart.querySelector('.u-over')?.getBoundingClientRect();
    const title = chart.querySelector('h3')?.textContent ?? '';
    if (!hint || !plot) return [`${title} has no hint`];
    return hint.left < plot.left || hint.right > plot.right || hint.bottom > plot.bottom ? [title] : [];
  });
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
