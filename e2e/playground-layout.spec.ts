import { existsSync } from 'node:fs';
import type { Locator, Page, TestInfo } from 'playwright/test';

import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { answerGreedily } from './support/answer-greedily.ts';
import { EMBEDDING_MODEL, loadModel, test as hubTest } from './support/hub-test.ts';
import { fontsInUse, SCREENSHOTS, standStill } from './support/screenshots.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import { openAdvanced, type Tab } from './support/tab.ts';
import { someOf } from './support/seeded-random.ts';

// Pictures are compared only on machines with the fonts that they were drawn with. Each set of fonts has its own folder, which
// `npx playwright test -c e2e playground-layout --project wasm --update-snapshots` draws. Elsewhere, only the layout is checked.

const SIZES = [
  { width: 360, height: 780 },
  { width: 820, height: 1180 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;
const DESKTOP = { width: 1280, height: 900 };
const SCHEMES = ['light', 'dark'] as const;
/** By width: the schemes differ in their colors alone, and other widths lie between these. */
const DRAWN_IN_SHORT: Readonly<Record<number, readonly (typeof SCHEMES)[number][]>> = {
  360: ['light'],
  1280: SCHEMES,
};
const END_TOKEN = 2047;

const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<unknown>>> = {
  before: () => Promise.resolve(),
  after: async (tab) => {
    const { page } = tab;
    await openAdvanced(tab.page);
    await page.getByRole('textbox', { name: 'Seed' }).fill('7');
    await page.locator('summary').filter({ hasText: 'Advanced' }).click();
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await expect(page.locator('[data-status=finished]')).toHaveCount(9);
    await tab.whenIdle();
  },
  compare: async (tab) => {
    const prompts = ['Once upon a time,', 'My best talent is', 'In a galaxy far far away'];
    await tab.generateAll(prompts.map((prompt) => ({ prompt, options: { maxNewTokens: 24, seed: 7 } })));
    await tab.page.getByRole('button', { name: 'Compare' }).click();
    await expect(tab.page.getByText(/the same under each policy/)).toBeVisible();
  },
  options: async (tab) => {
    await openAdvanced(tab.page);
    await tab.openMoreCharts();
  },
  async status(tab) {
    const status = await tab.openStatus();
    // The models come with a script of their own.
    await expect(status.locator('.models').getByRole('button', { name: 'Load' }).first()).toBeVisible();
  },
  adder: async ({ page }) => {
    await page.getByRole('tab', { name: 'Deployments' }).click();
    // The script of this tab loads when it is first opened.
    await expect(page.getByText('Why each batch was cut')).toBeVisible();
  },
  'house-price': async ({ page }) => {
    await page.getByRole('tab', { name: 'Deployments' }).click();
    await page.getByRole('radio', { name: 'House price' }).check();
    // The script of this tab loads when it is first opened.
    await expect(page.getByText('Why each batch was cut')).toBeVisible();
  },
  trace: async (tab) => {
    await tab.configure({ prefixCaching: false, promptLookup: false });
    await tab.generate('Once upon a time,', { maxNewTokens: 9, seed: 7, logitBias: { [END_TOKEN]: -100 } });
    await tab.whenIdle();
    // The last steps arrive up to 100 ms after the text.
    await expect.poll(async () => (await tab.steps('decode')).length).toBe(8);
    await tab.page.getByRole('button', { name: 'Trace request 1' }).click();
    await expect(tab.page.getByRole('dialog').locator('tbody tr')).toHaveCount(9);
  },
};

/** A short load test. Its results get their own screenshots; the page around them is in the view before. */
const LOAD_FIELDS = {
  rate: '8',
  durationSeconds: '0.5',
  outputMin: '2',
  outputMax: '4',
  latencyLimitMs: '60000',
};

test.describe('looks as it should', { tag: ANY_BACKEND }, () => {
  for (const [name, show] of someOf(Object.entries(VIEWS), 4)) {
    test(`${name} on phone, tablet and desktop, light and dark`, async ({ site }, info) => {
      const [tab] = await site.openReady(1);
      if (!tab) throw new Error('No tab');
      await show(tab);
      await expectEverySizeToLookRight(tab.page, tab.page, name, info);
    });
  }

  test('the load lab, and what each kind of test says', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await tab.openLab();
    const lab = page.locator('.lab');
    await expectEverySizeToLookRight(page, page, 'lab', info);
    await lab.getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
    for (const [name, value] of Object.entries(LOAD_FIELDS)) await lab.locator(`[name=${name}]`).fill(value);
    const numRuns = { Measure: '1 run', Sweep: '6 runs', Compare: '3 runs' };
    for (const [mode, count] of Object.entries(numRuns)) {
      await lab.getByRole('radio', { name: mode }).check();
      await lab.getByRole('button', { name: 'Start' }).click();
      await expect(lab.locator('.load-progress output')).toHaveText(`The load test is over: ${count}.`, {
        timeout: 120_000,
      });
      await expectEverySizeToLookRight(page, lab, `lab-${mode.toLowerCase()}`, info);
    }
  });

  test('the choice of a model, and its refusal', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const panel = (await tab.openStatus()).locator('.models');
    await panel.getByLabel('Hugging Face model ID').fill('no such model');
    await panel.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(panel.getByRole('alert')).toBeVisible();
    await expectEverySizeToLookRight(tab.page, panel, 'models', info);
  });

  test('a job and its rows', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    // The rows of a job this short may end before the page hears of them: the figures have a run in any case.
    await tab.generate('Once upon a time,', { maxNewTokens: 9 });
    await tab.whenIdle();
    await page.evaluate(async () => {
      const rows = ['A dog', 'A cat', 'One bird', 'Two mice'].map((text) => ({ text }));
      const responseFormat = { type: 'choice', choices: [' slept', ' ran', ' sang'] } as const;
      const options = { responseFormat, logprobs: true, temperature: 0 };
      await window.tabserve.jobs.create({ name: 'Stories', rows, template: '{{text}}', options });
    });
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await expect(page.getByText('Finished: 4 rows').first()).toBeVisible();
    await page.getByRole('button', { name: 'Show row 2', exact: true }).click();
    await expectEverySizeToLookRight(page, page.getByRole('tabpanel'), 'jobs', info);
  });

  test('the history of texts', async ({ site }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await openAdvanced(tab.page);
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('12');
    await page.getByRole('textbox', { name: 'Seed' }).fill('7');
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    // A text is written beside the page: the list may be read before that.
    await expect(async () => {
      await page.getByRole('button', { name: 'History' }).click();
      await expect(dialog.getByRole('listitem'))
        .toHaveCount(1, { timeout: 1000 })
        .catch((error: unknown) =>
          dialog
            .getByRole('button', { name: 'Close' })
            .click()
            .then(() => Promise.reject(error)),
        );
    }).toPass();
    // The other views check the page below, which the dialog covers and the focus has scrolled.
    await expectEverySizeToLookRight(page, dialog, 'history', info);
  });

  test('a page that could not start', async ({ ownTab: { page } }, info) => {
    await page.goto('/?backend=quantum');
    await expect(page.getByText('INVALID_OPTION').first()).toBeVisible();
    await expectEverySizeToLookRight(page, page.locator('body'), 'failure', info);
  });

  test('the hint of an empty chart covers no label of its axes', async ({ site }) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await tab.openMoreCharts();
    await expect(page.locator('.chart .u-wrap')).toHaveCount(10);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await expect.poll(() => page.evaluate(findCoveredAxes), `at ${size.width}`).toEqual([]);
    }
  });

  test('nothing moves while the page loads and generates', async ({ site }) => {
    const tab = await site.open();
    await tab.page.addInitScript(sumLayoutShifts);
    await tab.page.emulateMedia({ reducedMotion: 'no-preference' });
    await site.reload(tab);
    await tab.ready();
    await tab.generateAll(
      Array.from({ length: 4 }, () => ({ prompt: 'Once upon a time,', options: { maxNewTokens: 30 } })),
    );
    await tab.whenIdle();
    expect(await tab.page.evaluate(() => window.layoutShift)).toBe(0);
  });
});

hubTest(
  'looks as it should: chats, and the models for them on a page whose model can’t chat',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }, info) => {
    const { page } = ownTab;
    await ownTab.open(`?backend=${backend}&hub=${encodeURIComponent(hub.url)}&view=chat`);
    await ownTab.ready();
    await expect(page.getByRole('list', { name: 'Suggested models' })).toBeVisible();
    // The models that fit depend on the machine, so this checks the layout and not the picture.
    await expectEverySizeToHold(page, 'chat-models');
    await loadModel(ownTab, CHAT_MODEL, {});
    await answerGreedily(page);
    await page.getByRole('button', { name: 'Ask all 3 chats at once' }).click();
    await expect(page.locator('.exchange[data-status=finished]')).toHaveCount(3);
    await ownTab.whenIdle();
    // Each view brings a style sheet, which must not change the others.
    for (const name of ['Text', 'Deployments', 'Chat']) await page.getByRole('tab', { name }).click();
    await page.goBack();
    await expect(page.getByRole('tab', { name: 'Deployments' })).toHaveAttribute('aria-selected', 'true');
    await page.goForward();
    await expect(page.locator('.exchange[data-status=finished]'), 'nothing was lost').toHaveCount(3);
    await expectEverySizeToLookRight(page, page, 'chats', info);
  },
);

hubTest(
  'looks as it should: lines that are embedded and searched',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }, info) => {
    const { page } = ownTab;
    await ownTab.open(`?backend=${backend}&hub=${encodeURIComponent(hub.url)}&view=embed`);
    await page.getByRole('button', { name: `Load ${EMBEDDING_MODEL}` }).click();
    await page
      .getByRole('textbox', { name: 'One text a line' })
      .fill('a quick brown fox\na lazy dog\na wizard');
    await page.getByRole('button', { name: 'Embed', exact: true }).click();
    await page.getByRole('textbox', { name: 'Find lines that mean this' }).fill('the fox');
    await expect(page.getByRole('list', { name: 'Nearest lines' }).getByRole('listitem')).toHaveCount(3);
    await expectEverySizeToLookRight(page, page.getByRole('tabpanel'), 'embed', info);
  },
);

async function expectEverySizeToLookRight(
  page: Page,
  part: Page | Locator,
  name: string,
  info: TestInfo,
): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await expectToHold(page, `${name}-${size.width}`);
    for (const colorScheme of IS_WHOLE ? SCHEMES : (DRAWN_IN_SHORT[size.width] ?? [])) {
      await page.emulateMedia({ colorScheme });
      await expectToLookRight(page, part, `${name}-${size.width}-${colorScheme}`, info);
    }
  }
  await page.setViewportSize(DESKTOP);
}

async function expectEverySizeToHold(page: Page, name: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await expectToHold(page, `${name}-${size.width}`);
  }
  await page.setViewportSize(DESKTOP);
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
  // A new width moves what is above the place that was scrolled to, by fractions of a pixel.
  await page.evaluate(() => window.scrollTo(0, 0));
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
      if (
        right > innerWidth + 1 &&
        !element.closest('.site-header .tabs, .load-scroll, .scroll-box, .visually-hidden')
      )
        found.push(`${element.tagName} .${element.className} reaches to ${Math.round(right)}`);
    }
  }
  for (const element of document.querySelectorAll('button, h1, h2, h3, legend, .segments span, dd, dt')) {
    if (element.closest('.visually-hidden') || getComputedStyle(element).visibility === 'hidden') continue;
    // A pixel is for screen readers alone.
    if (element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
      found.push(`${element.tagName} “${element.textContent}” is cut off`);
  }
  return found;
}

/** Runs in the page: the charts whose hint lies on an axis. */
function findCoveredAxes(): string[] {
  // The others show a recording.
  return [...document.querySelectorAll('.charts .chart')].flatMap((chart) => {
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
