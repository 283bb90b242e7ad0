import { existsSync } from 'node:fs';
import type { Locator, Page } from 'playwright/test';

import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { answerGreedily } from './support/answer-greedily.ts';
import { expectNoViolations } from './support/axe.ts';
import { EMBEDDING_MODEL, loadModel, test as hubTest } from './support/hub-test.ts';
import { fontsInUse, SCREENSHOTS, standStill } from './support/screenshots.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import { DEFAULT_KNOBS, openAdvanced, type Tab } from './support/tab.ts';
import { shareSite } from './support/shared-site.ts';
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

/**
 * Every view, by what brings it up and what takes it away, in the order of their looks: one page has all of them. The first ones
 * show a page on which nothing has run.
 */
const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<() => Promise<unknown>>>> = {
  before: () => Promise.resolve(() => Promise.resolve()),
  options: async (tab) => {
    const { page } = tab;
    await openAdvanced(page);
    await tab.openMoreCharts();
    return async () => {
      for (const hasText of ['Advanced', 'More charts'])
        await page.locator('summary').filter({ hasText }).click();
    };
  },
  async status(tab) {
    const status = await tab.openStatus();
    // The models come with a script of their own.
    await expect(status.locator('.models').getByRole('button', { name: 'Load' }).first()).toBeVisible();
    return () => tab.page.keyboard.press('Escape');
  },
  adder: ({ page }) => showDeployment(page, 'Adder'),
  'house-price': ({ page }) => showDeployment(page, 'House price'),
  trace: async (tab) => {
    const { page } = tab;
    await tab.configure({ prefixCaching: false, promptLookup: false });
    await tab.generate('Once upon a time,', { maxNewTokens: 9, seed: 7, logitBias: { [END_TOKEN]: -100 } });
    await tab.whenIdle();
    // The last steps arrive up to 100 ms after the text.
    await expect.poll(async () => (await tab.steps('decode')).length).toBe(8);
    await page.getByRole('button', { name: 'Trace request 1' }).click();
    await expect(page.getByRole('dialog').locator('tbody tr')).toHaveCount(9);
    return () => page.keyboard.press('Escape');
  },
  after: async (tab) => {
    const { page } = tab;
    const seed = page.getByRole('textbox', { name: 'Seed' });
    const advanced = page.locator('summary').filter({ hasText: 'Advanced' });
    await advanced.click();
    await seed.fill('7');
    await advanced.click();
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await expect(page.locator('[data-status=finished]')).toHaveCount(9);
    await tab.whenIdle();
    return async () => {
      await advanced.click();
      await seed.fill('');
      await advanced.click();
    };
  },
  compare: async (tab) => {
    const { page } = tab;
    const prompts = ['Once upon a time,', 'My best talent is', 'In a galaxy far far away'];
    await tab.generateAll(prompts.map((prompt) => ({ prompt, options: { maxNewTokens: 24, seed: 7 } })));
    await page.getByRole('button', { name: 'Compare' }).click();
    await expect(page.getByText(/the same under each policy/)).toBeVisible();
    return () => page.locator('.compare').getByRole('button', { name: 'Close' }).click();
  },
};
const VIEWS_IN_ORDER = Object.entries(VIEWS);
const NUM_UNTOUCHED = Object.keys(VIEWS).indexOf('trace');

async function showDeployment(page: Page, name: string): Promise<() => Promise<void>> {
  await page.getByRole('tab', { name: 'Deployments' }).click();
  await page.getByRole('radio', { name }).check();
  // The script of this tab loads when it is first opened.
  await expect(page.getByText('Why each batch was cut')).toBeVisible();
  return () => page.getByRole('tab', { name: 'Text' }).click();
}

/** A short load test. Its results get their own screenshots; the page around them is in the view before. */
const LOAD_FIELDS = {
  rate: '8',
  durationSeconds: '0.5',
  outputMin: '2',
  outputMax: '4',
  latencyLimitMs: '60000',
};

/** The tests look at one page, in this order, but for those that need another. */
test.describe('looks as it should', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();
  let tab: Tab;

  test.beforeEach(async () => {
    tab = await (await openTabs(1)).leader();
  });

  const drawn = someOf(Object.keys(VIEWS), 3);

  const testView = ([name, show]: (typeof VIEWS_IN_ORDER)[number]): void => {
    if (!drawn.includes(name)) return;
    test(`${name} on phone, tablet and desktop, light and dark`, async () => {
      await tab.forget();
      const hide = await show(tab);
      await expectEverySizeToLookRight(tab.page, tab.page, name);
      await hide();
      await tab.configure(DEFAULT_KNOBS);
      await tab.clearList();
    });
  };

  VIEWS_IN_ORDER.slice(0, NUM_UNTOUCHED).forEach(testView);

  test('the load lab', async () => {
    await tab.openLab();
    await expectEverySizeToLookRight(tab.page, tab.page, 'lab');
    await tab.page.locator('.lab').getByRole('button', { name: 'Close' }).click();
  });

  test('the choice of a model, and its refusal', async () => {
    const panel = (await tab.openStatus()).locator('.models');
    await panel.getByLabel('Hugging Face model ID').fill('no such model');
    await panel.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(panel.getByRole('alert')).toBeVisible();
    await expectEverySizeToLookRight(tab.page, panel, 'models');
    await tab.page.keyboard.press('Escape');
  });

  test('the hint of an empty chart covers no label of its axes', async () => {
    const { page } = tab;
    await tab.openMoreCharts();
    await expect(page.locator('.chart .u-wrap')).toHaveCount(10);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await expect.poll(() => page.evaluate(findCoveredAxes), `at ${size.width}`).toEqual([]);
    }
    await page.locator('summary').filter({ hasText: 'More charts' }).click();
  });

  VIEWS_IN_ORDER.slice(NUM_UNTOUCHED).forEach(testView);

  test('what each kind of load test says', async () => {
    const { page } = tab;
    const lab = page.locator('.lab');
    await tab.openLab();
    await lab.getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
    for (const [name, value] of Object.entries(LOAD_FIELDS)) await lab.locator(`[name=${name}]`).fill(value);
    const numRuns = { Measure: '1 run', Sweep: '6 runs', Compare: '3 runs' };
    for (const [mode, count] of someOf(Object.entries(numRuns), 1)) {
      await lab.getByRole('radio', { name: mode }).check();
      await lab.getByRole('button', { name: 'Start' }).click();
      await expect(lab.locator('.load-progress output')).toHaveText(`The load test is over: ${count}.`, {
        timeout: 120_000,
      });
      await expectEverySizeToLookRight(page, lab, `lab-${mode.toLowerCase()}`);
    }
    await lab.getByRole('button', { name: 'Close' }).click();
  });

  test('the history of texts', async ({ readyTab: { page } }) => {
    await openAdvanced(page);
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
    await expectEverySizeToLookRight(page, dialog, 'history');
  });

  test('a job and its rows', async () => {
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
    await expectEverySizeToLookRight(page, page.getByRole('tabpanel'), 'jobs');
  });

  test('all that can be used in a view has its turn with Tab', async () => {
    const { page } = tab;
    for (const view of ['Text', 'Chat', 'Embed', 'Jobs', 'Deployments']) {
      await page.getByRole('tab', { name: view }).click();
      // What comes last in the view: models that can chat are asked for.
      const last = view === 'Chat' ? { name: 'Another model…' } : {};
      await expect(page.getByRole('tabpanel').getByRole('button', last)).not.toHaveCount(0);
      const numStops = await page.evaluate(watchStops);
      // Boxes that scroll are stops, too, and so is what surrounds the page.
      for (let presses = 0; presses < numStops + 10; presses++) await page.keyboard.press('Tab');
      expect(await page.evaluate(() => window.missedStops()), view).toEqual([]);
    }
  });

  test('a page that could not start, in which axe finds nothing wrong', async ({ ownTab: { page } }) => {
    await page.goto('/?backend=quantum');
    await expect(page.getByText('INVALID_OPTION').first()).toBeVisible();
    await expectNoViolations(page);
    await expectEverySizeToLookRight(page, page.locator('body'), 'failure');
  });

  test('nothing moves while the page loads and generates', async ({ ownTab, backend }) => {
    await ownTab.page.addInitScript(sumLayoutShifts);
    await ownTab.page.emulateMedia({ reducedMotion: 'no-preference' });
    await ownTab.open(`?backend=${backend}`);
    await ownTab.ready();
    await ownTab.generateAll(
      Array.from({ length: 4 }, () => ({ prompt: 'Once upon a time,', options: { maxNewTokens: 30 } })),
    );
    await ownTab.whenIdle();
    expect(await ownTab.page.evaluate(() => window.layoutShift)).toBe(0);
    expect(ownTab.errors).toEqual([]);
  });
});

hubTest(
  'looks as it should: chats, and the models for them on a page whose model can’t chat',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
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
    await expectEverySizeToLookRight(page, page, 'chats');
  },
);

hubTest(
  'looks as it should: lines that are embedded and searched',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    const { page } = ownTab;
    await ownTab.open(`?backend=${backend}&hub=${encodeURIComponent(hub.url)}&view=embed`);
    await page.getByRole('button', { name: `Load ${EMBEDDING_MODEL}` }).click();
    await page
      .getByRole('textbox', { name: 'One text a line' })
      .fill('a quick brown fox\na lazy dog\na wizard');
    await page.getByRole('button', { name: 'Embed', exact: true }).click();
    await page.getByRole('textbox', { name: 'Find lines that mean this' }).fill('the fox');
    await expect(page.getByRole('list', { name: 'Nearest lines' }).getByRole('listitem')).toHaveCount(3);
    await expectEverySizeToLookRight(page, page.getByRole('tabpanel'), 'embed');
  },
);

async function expectEverySizeToLookRight(page: Page, part: Page | Locator, name: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await expectToHold(page, `${name}-${size.width}`);
    for (const colorScheme of IS_WHOLE ? SCHEMES : (DRAWN_IN_SHORT[size.width] ?? [])) {
      await page.emulateMedia({ colorScheme });
      await expectToLookRight(page, part, `${name}-${size.width}-${colorScheme}`);
    }
  }
  await page.evaluate(() => (document.adoptedStyleSheets = []));
  await page.emulateMedia({ colorScheme: null });
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

async function expectToLookRight(page: Page, part: Page | Locator, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  // A new width moves what is above the place that was scrolled to, by fractions of a pixel.
  await page.evaluate(() => window.scrollTo(0, 0));
  const fonts = await page.evaluate(fontsInUse);
  const { updateSnapshots } = test.info().config;
  const isDrawing = updateSnapshots === 'all' || updateSnapshots === 'changed';
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
    missedStops: () => readonly string[];
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

/** Runs in the page: notes which of the elements that Tab stops at get the focus. Returns how many there are. */
function watchStops(): number {
  const all = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const stops = [...document.querySelectorAll<HTMLElement>(all)].filter((element) => {
    const isRadio = element instanceof HTMLInputElement && element.type === 'radio';
    const isStop = element.tabIndex >= 0 && !element.matches(':disabled') && (!isRadio || element.checked);
    return isStop && element.checkVisibility({ visibilityProperty: true });
  });
  const missed = new Set<EventTarget | null>(stops);
  // It has its turn already.
  missed.delete(document.activeElement);
  document.addEventListener('focusin', ({ target }) => missed.delete(target));
  window.missedStops = () =>
    stops
      .filter((stop) => missed.has(stop) && stop.isConnected)
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
  return stops.length;
}
