import { axeViolations } from './support/axe.ts';
import { blur, tabTo } from './support/keyboard.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

/** Every view, by what brings it up on the page and what takes it away. */
const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<() => Promise<unknown>>>> = {
  'the playground with requests in every state': async (tab) => {
    await tab.generate('Once upon a time,', { maxNewTokens: 4 });
    await tab.outcomesOf([{ prompt: 'x', options: { maxNewTokens: -1 } }]);
    return () => Promise.resolve();
  },
  'the load test with its results': async ({ page }) => {
    await page.getByRole('tab', { name: 'Load test' }).click();
    await page.getByRole('radio', { name: 'Sweep' }).check();
    await page.locator('.load [name=rate]').fill('4');
    await page.locator('.load [name=durationSeconds]').fill('0.5');
    const start = page.getByRole('button', { name: 'Start' });
    await start.click();
    await expect(start).toBeEnabled();
    return () => page.getByRole('tab', { name: 'Watch' }).click();
  },
  'the trace of a request': async (tab) => {
    await tab.generate('Once upon a time,', { maxNewTokens: 40 });
    await tab.page.getByRole('button', { name: 'Trace newest' }).click();
    await expect(tab.page.getByRole('dialog').locator('tbody tr').first()).toBeVisible();
    return () => tab.page.keyboard.press('Escape');
  },
  'the history': async ({ page }) => {
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
    await expect(page.locator('[data-status=finished]').first()).toBeVisible();
    await page.getByRole('button', { name: 'History' }).click();
    await expect(page.getByRole('dialog').getByRole('listitem').first()).toBeVisible();
    return () => page.keyboard.press('Escape');
  },
  'a refused option': async ({ page }) => {
    const field = page.getByRole('textbox', { name: 'Temperature' });
    await field.fill('hot');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    return () => page.getByRole('button', { name: 'All at their defaults' }).click();
  },
  'the adder': async ({ page }) => {
    await page.getByRole('tab', { name: 'Adder' }).click();
    await page.evaluate(() =>
      Promise.all([1, 2, 3].map((n) => window.tabserve.getHandle('adder').remote(n))),
    );
    return () => page.getByRole('tab', { name: 'Text generator' }).click();
  },
  'house prices': async ({ page }) => {
    await page.getByRole('tab', { name: 'House price' }).click();
    return () => page.getByRole('tab', { name: 'Text generator' }).click();
  },
};

test.describe('axe finds nothing wrong with', { tag: ANY_BACKEND }, () => {
  for (const [name, show] of Object.entries(VIEWS)) {
    test(`${name}, light and dark`, async ({ tab }) => {
      const { page } = tab;
      const hide = await show(tab);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axeViolations(page), colorScheme).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: null });
      await hide();
    });
  }

  test('a page that could not start', async ({ ownTab: { page } }) => {
    await page.goto('/?backend=quantum');
    await expect(page.getByText('INVALID_OPTION').first()).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page), colorScheme).toEqual([]);
    }
  });
});

test.describe('by the keyboard alone', { tag: ANY_BACKEND }, () => {
  test('a text is continued, regenerated, undone, and found in the history', async ({ tab }) => {
    const { page } = tab;
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await blur(page);
    await tabTo(page, prompt);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('My name is Julien and I like to');
    await page.keyboard.press('Control+Enter');
    const mark = page.getByTestId('document').locator('mark');
    await expect(mark).toHaveCount(1);
    await expect(prompt).toBeEditable();
    await tabTo(page, page.getByRole('button', { name: 'Regenerate' }));
    await page.keyboard.press('Enter');
    await expect(page.locator('[data-status=finished]')).toHaveCount(2);
    await tabTo(page, page.getByRole('button', { name: 'Undo' }));
    await page.keyboard.press('Space');
    await expect(mark).toHaveCount(0);
    await tabTo(page, page.getByRole('button', { name: 'History' }));
    await page.keyboard.press('Enter');
    const use = page.getByRole('dialog').getByRole('button', { name: 'Use prompt and options' }).first();
    await expect(use).toBeVisible();
    await tabTo(page, use);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(prompt).toHaveValue('My name is Julien and I like to');
  });

  test('charts are paused, a request is traced, and a load test is run', async ({ tab }) => {
    const { page } = tab;
    await tab.generate('Once upon a time,', { maxNewTokens: 4 });
    await blur(page);
    await tabTo(page, page.getByRole('tab', { name: 'Watch' }));
    await tabTo(page, page.getByRole('button', { name: 'Pause' }));
    await page.keyboard.press('Space');
    await expect(page.getByRole('button', { name: 'Pause' })).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('button', { name: /^Trace request/ }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: /^Trace request/ }), 'the focus comes back').toBeFocused();

    await blur(page);
    await tabTo(page, page.getByRole('tab', { name: 'Watch' }));
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: 'Load test' })).toHaveAttribute('aria-selected', 'true');
    await tabTo(page, page.locator('.load input[name=mode]:checked'));
    await page.keyboard.press('Home');
    const duration = page.locator('.load [name=durationSeconds]');
    await tabTo(page, duration);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('0.5');
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('load-results').locator('tbody tr').first()).toBeVisible();
    await expect(page.getByRole('button', { name: 'Start' })).toBeEnabled();
    await blur(page);
    await tabTo(page, page.getByRole('tab', { name: 'Load test' }));
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('tab', { name: 'Watch' })).toHaveAttribute('aria-selected', 'true');
  });
});
