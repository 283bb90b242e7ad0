import type { Locator, Page } from 'playwright/test';

import { expectNoViolations } from './support/axe.ts';
import { someOf } from './support/seeded-random.ts';
import { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

// The first screen shows a whole run without scrolling and after a few key presses.

const NUM_PROMPTS = 9;

/** Test ids of what a run is watched by. */
const STRIP = ['batch-size-chart', 'latency-chart'];
const PARTS = [...STRIP, 'slot-timeline'];

/** What stands above the texts of the recording. */
const RECORDED = /^Recording \(storyteller, .* faster than one at a time\. Press Run to do it here\.$/;

/** Makes texts long enough to see them while they grow. */
const LONG = '#maxNewTokens=500&ignoreEos=true&seed=7';

/** A run that has not shown eight requests within this time is over. */
const PATIENCE_MS = 15_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

type Shape = Size & { readonly isWide?: true; readonly isZoomed?: true };
const SIZES: readonly Shape[] = [
  { width: 1280, height: 800, isWide: true },
  { width: 360, height: 780 },
  // The CSS pixels of a window of 1280×800 at 200 %.
  { width: 640, height: 400, isZoomed: true },
  { width: 1440, height: 900, isWide: true },
  { width: 820, height: 1180 },
];

test.describe('the first screen', { tag: ANY_BACKEND }, () => {
  test('one key press after the page has loaded, nine texts run together, and hints come on the first visit alone', async ({
    ownTab,
    backend,
  }) => {
    const { page } = ownTab;
    await ownTab.open(`?backend=${backend}`);
    await ownTab.ready();
    const hints = page.getByRole('complementary', { name: 'Hints' });
    await expect(hints).toContainText('1 of 3');
    const line = page.locator('.run-text');
    await expect(line, 'the end of the recording, where no motion is wanted').toHaveText(RECORDED);
    expect(await ownTab.updates(), 'what was generated unasked').toEqual([]);
    await page.keyboard.press('Enter');
    await expect(line).toHaveText(/^9 prompts in /);
    await expect(page.locator('[data-status=finished]')).toHaveCount(NUM_PROMPTS);
    const steps = await ownTab.steps('decode');
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(8);
    await expect(hints, 'what was done').toContainText('2 of 3');
    await hints.getByRole('button', { name: 'Next' }).click();
    await expect(hints).toContainText('3 of 3');
    await hints.getByRole('button', { name: 'Done' }).click();
    await expect(hints).toHaveCount(0);
    await expect(page.locator('.run-button'), 'so that Enter runs').toBeFocused();
    await page.reload();
    await expect(page.locator('.run-button')).toBeVisible();
    await expect(hints, 'on another visit').toHaveCount(0);
    expect(ownTab.errors).toEqual([]);
  });

  test('plays a recorded run before the first press, until a key is pressed', async ({ ownTab, backend }) => {
    const { page } = ownTab;
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await ownTab.open(`?backend=${backend}`);
    const line = page.locator('.run-text');
    await expect(line).toHaveText(
      /^Recording \(storyteller, .* slower\): 8 prompts share each step of the model, 1 waits for a slot\.$/,
    );
    const replay = page.getByRole('group', { name: 'Replay of the last run' });
    await expect(replay, 'controls').toHaveCount(0);
    await page.keyboard.press('Shift');
    await expect(line).toHaveText(RECORDED, { timeout: 5000 });
    await expectNoViolations(page);
    // It can be read step by step, and goes once something runs.
    await page.getByRole('button', { name: 'Replay' }).click();
    await expect(replay).toBeVisible();
    expect(await ownTab.updates(), 'what was generated unasked').toEqual([]);
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await expect(line).toHaveText(/^9 prompts in /);
    await expect(replay).toHaveCount(0);
    await expect(page.locator('[data-status=finished]')).toHaveCount(NUM_PROMPTS);
    expect(ownTab.errors).toEqual([]);
  });

  test('in the middle of a run shows charts, slots and texts at every size, and keeps its strip in view', async ({
    site,
    backend,
  }) => {
    // The page that leads has the model for the others.
    const [leader] = await site.openReady(1);
    for (const size of someOf(SIZES, 1))
      await test.step(`${size.width}×${size.height}`, async () => {
        // The next page is the first one of its user.
        await leader?.page.evaluate(() => localStorage.clear());
        const tab = new Tab(site.context, await site.context.newPage());
        const { page } = tab;
        await page.setViewportSize(size);
        await tab.open(`?backend=${backend}${LONG}`);
        await tab.ready();
        if (size.isZoomed) {
          await expectInView(page.getByRole('textbox', { name: 'Prompt' }), size, 'the prompt');
          await expectStripInView(page, size);
        } else {
          const { parts, numTexts } = await viewMidRun(page);
          const expected = size.isWide ? PARTS : expect.arrayContaining(STRIP);
          expect(parts, 'parts that are whole in the window').toEqual(expected);
          expect(numTexts, 'texts that are whole in the window').toBeGreaterThanOrEqual(size.isWide ? 6 : 1);
        }
        // However far the reader goes.
        for (const place of size.isZoomed ? [] : [0.5, 1]) {
          await page.evaluate((share) => scrollTo(0, document.body.scrollHeight * share), place);
          if (size.isWide) expect(await page.locator('.site-header').boundingBox()).toMatchObject({ y: 0 });
          else await expectStripInView(page, size);
        }
        expect(tab.errors).toEqual([]);
        await page.close();
      });
  });

  test('has all tabs in its bar at every width', async ({ tab: { page } }) => {
    const before = page.viewportSize();
    const tabs = page.getByRole('tablist', { name: 'View' });
    const widths = Array.from({ length: 161 }, (_, index) => 320 + 10 * ((index * 50) % 161));
    for (const width of someOf(widths, 16)) {
      await page.setViewportSize({ width, height: 800 });
      const numHidden = await tabs.evaluate((bar) => bar.scrollWidth - bar.clientWidth);
      expect(numHidden, `pixels of the tabs that are cut at ${width} px`).toBeLessThanOrEqual(0);
    }
    if (before) await page.setViewportSize(before);
  });
});

/** Starts nine texts, and returns what the window shows while at least eight run. */
async function viewMidRun(page: Page): Promise<View> {
  const viewing = page.evaluate(viewOnceRunning, [PARTS, 8, PATIENCE_MS] as const);
  await page.keyboard.press('Enter');
  // On a busy machine, a run can be over before the page has drawn its middle.
  return (await viewing) ?? viewMidRun(page);
}

interface View {
  /** Test ids. */
  readonly parts: readonly string[];
  readonly numTexts: number;
}

/** Runs in the page. `undefined` if `numRunning` requests never ran at once. */
async function viewOnceRunning([parts, numRunning, patienceMs]: readonly [
  readonly string[],
  number,
  number,
]): Promise<View | undefined> {
  const givenUpAtMs = performance.now() + patienceMs;
  const window = new DOMRect(0, 0, innerWidth, innerHeight);
  const isSeen = (element: Element | null): boolean => {
    const { left, top, right, bottom, width, height } = element?.getBoundingClientRect() ?? new DOMRect();
    const isWhole = left >= 0 && top >= 0 && right <= window.right && bottom <= window.bottom;
    return isWhole && width > 0 && height > 0;
  };
  while (document.querySelectorAll('[data-status=running]').length < numRunning) {
    if (performance.now() > givenUpAtMs) return undefined;
    await new Promise(requestAnimationFrame);
  }
  return {
    parts: parts.filter((id) => isSeen(document.querySelector(`[data-testid=${id}]`))),
    numTexts: [...document.querySelectorAll('[data-request-id]')].filter(isSeen).length,
  };
}

async function expectStripInView(page: Page, size: Size): Promise<void> {
  for (const chart of STRIP) await expectInView(page.getByTestId(chart), size, `${chart} in the strip`);
}

async function expectInView(part: Locator, size: Size, name: string): Promise<void> {
  await expect.poll(() => isInView(part, size), `${name} is in view`).toBe(true);
}

/** Whole, without scrolling. */
async function isInView(part: Locator, { width, height }: Size): Promise<boolean> {
  const box = await part.boundingBox();
  if (!box || box.width === 0 || box.height === 0) return false;
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}
