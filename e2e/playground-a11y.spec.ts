import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Download, Locator, Page } from 'playwright/test';

import { axeViolations, expectNoViolations } from './support/axe.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import { storedModels, test as hubTest, TWIN, twinFiles, WEIGHTS } from './support/hub-test.ts';
import { blur, checkWithArrows, chooseWithArrows, pressOn, tabTo, typeInto } from './support/keyboard.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';
import { openAdvanced, type Tab } from './support/tab.ts';
import { someOf } from './support/seeded-random.ts';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

const buttonOf = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** Presses the button by keyboard and returns the file that it saves. */
async function savedBy(page: Page, button: Locator): Promise<Download> {
  await tabTo(page, button);
  const saving = page.waitForEvent('download');
  await page.keyboard.press('Enter');
  return saving;
}

/** Opens the chooser of a file input and takes the file or folder. */
async function chooseFile(page: Page, input: Locator, path: string): Promise<void> {
  // Start before the focus moves: until Playwright takes over file choosers, the browser shows its own.
  const choosing = page.waitForEvent('filechooser');
  await tabTo(page, input);
  await page.keyboard.press('Enter');
  await (await choosing).setFiles(path);
}

const panelOf = (page: Page): Locator => page.locator('main [role=tabpanel]:visible');

/** Does nothing where it is open. */
async function openByKey(page: Page, details: Locator): Promise<void> {
  if ((await details.getAttribute('open')) === null) await pressOn(page, details.locator('summary'));
}

interface View {
  /** What no other view has. */
  readonly part: Page | Locator;
  readonly hide: () => Promise<unknown>;
}

/** Every view, by what brings it up. */
const VIEWS: Readonly<Record<string, (tab: Tab) => Promise<View>>> = {
  'the playground with requests in every state': async (tab) => {
    await tab.generate('Once upon a time,', { maxNewTokens: 4 });
    await tab.outcomesOf([{ prompt: 'x', options: { maxNewTokens: -1 } }]);
    return { part: tab.page, hide: () => Promise.resolve() };
  },
  'a comparison of the last run': async ({ page }) => {
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await page.getByRole('button', { name: 'Compare' }).click();
    await expect(page.getByText(/the same under each policy/)).toBeVisible();
    const part = page.locator('.compare');
    return { part, hide: () => part.getByRole('button', { name: 'Close' }).click() };
  },
  'a replay': async (tab) => {
    const prompt = 'A story that is told twice';
    await tab.generate(prompt, { maxNewTokens: 40 });
    await tab.whenIdle();
    // Until the page shows this run, “Replay” is of the one before.
    await expect(tab.page.getByRole('list', { name: 'Requests', exact: true })).toContainText(prompt);
    await tab.page.getByRole('button', { name: 'Replay' }).click();
    await expect(tab.page.getByRole('slider', { name: 'Replay position' })).toBeVisible();
    const part = tab.page.locator('.slots');
    return { part, hide: () => part.getByRole('button', { name: 'Close' }).click() };
  },
  'all charts, all options and earlier requests': async (tab) => {
    await tab.generate('Once upon a time,', { maxNewTokens: 4 });
    await tab.page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await openAdvanced(tab.page);
    await tab.openMoreCharts();
    const earlier = tab.page.locator('summary').filter({ hasText: 'Earlier requests' });
    await earlier.click();
    return { part: tab.page, hide: () => earlier.click() };
  },
  'what serves, and the choice of a model': async (tab) => {
    return { part: await tab.openStatus(), hide: () => tab.page.keyboard.press('Escape') };
  },
  'the load lab with its results': async (tab) => {
    await tab.openLab();
    const lab = tab.page.locator('.lab');
    await lab.getByRole('radio', { name: 'Sweep' }).check();
    await lab.getByRole('combobox', { name: 'Kind' }).selectOption('poisson');
    await lab.locator('[name=rate]').fill('4');
    await lab.locator('[name=durationSeconds]').fill('0.5');
    await lab.getByRole('button', { name: 'Start' }).click();
    await expect(lab.locator('.load-progress output')).toHaveText(/is over/);
    return { part: lab, hide: () => lab.getByRole('button', { name: 'Close' }).click() };
  },
  'the trace of a request': async (tab) => {
    await tab.generate('Once upon a time,', { maxNewTokens: 40 });
    await tab.page
      .getByRole('button', { name: /^Trace request/ })
      .first()
      .click();
    await expect(tab.page.getByRole('dialog').locator('tbody tr').first()).toBeVisible();
    return { part: tab.page.getByRole('dialog'), hide: () => tab.page.keyboard.press('Escape') };
  },
  'the history': async ({ page }) => {
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
    await expect(page.locator('[data-status=finished]').first()).toBeVisible();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'History' }).click();
    await expect(page.getByRole('dialog').getByRole('listitem').first()).toBeVisible();
    return { part: page.getByRole('dialog'), hide: () => page.keyboard.press('Escape') };
  },
  'a refused option': async (tab) => {
    const { page } = tab;
    await openAdvanced(tab.page);
    const field = page.getByRole('textbox', { name: 'Temperature' });
    await field.fill('hot');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const hide = (): Promise<void> => page.getByRole('button', { name: 'Reset all' }).click();
    return { part: page.locator('.compose'), hide };
  },
  'the adder': async ({ page }) => {
    await page.getByRole('tab', { name: 'Deployments' }).click();
    await page.evaluate(() =>
      Promise.all([1, 2, 3].map((n) => window.tabserve.getHandle('adder').remote(n))),
    );
    return { part: panelOf(page), hide: () => page.getByRole('tab', { name: 'Text' }).click() };
  },
  'house prices': async ({ page }) => {
    await page.getByRole('tab', { name: 'Deployments' }).click();
    await page.getByRole('radio', { name: 'House price' }).check();
    await page.locator('.deployment-view').getByText('Use it from code').click();
    const hide = async (): Promise<void> => {
      // The tab remembers the deployment.
      await page.getByRole('radio', { name: 'Adder' }).check();
      await page.getByRole('tab', { name: 'Text' }).click();
    };
    return { part: panelOf(page), hide };
  },
};

test.describe('axe finds nothing wrong with', { tag: ANY_BACKEND }, () => {
  for (const [name, show] of someOf(Object.entries(VIEWS), 3)) {
    test(`${name}, light and dark`, async ({ tab }) => {
      const { page } = tab;
      const { part, hide } = await show(tab);
      // A view is loaded when it is first shown.
      await expect(panelOf(page)).toHaveCount(1);
      await expectNoViolations(part);
      await hide();
    });
  }
});

test(
  'the text of a disabled button has a contrast of 4.5 to 1 at least, light and dark',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    await tab.generate('Once upon a time,', { maxNewTokens: 4 });
    await tab.openStatus();
    await openAdvanced(tab.page);
    await expect(page.getByRole('button', { name: 'Reset all' })).toBeVisible();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'no-preference' });
      await page.evaluate(whenColorsSettle);
      const buttons = await page.evaluate(drawnDisabledButtons);
      expect(buttons.map(({ name }) => name)).toContain('Reset all');
      for (const button of buttons)
        expect(contrastOf(button), `${button.name}, ${colorScheme}`).toBeGreaterThanOrEqual(4.5);
      // Text and background that change at different paces are one color in between.
      const durations = await page.evaluate(() =>
        [...document.querySelectorAll('button:not([role=tab])')].map(
          (one) => getComputedStyle(one).transitionDuration,
        ),
      );
      expect(new Set(durations)).toEqual(new Set(['0s']));
    }
    await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' });
  },
);

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
    await expect(page.locator('summary').filter({ hasText: 'Earlier requests' })).toContainText('1');
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    await tabTo(page, page.getByRole('button', { name: 'Undo' }));
    await page.keyboard.press('Space');
    await expect(mark).toHaveCount(0);
    await expect(buttonOf(page, 'Send'), 'where Undo was pressed, which is gone').toBeFocused();
    await pressOn(page, buttonOf(page, 'More'));
    await pressOn(page, page.getByRole('button', { name: 'History' }));
    const use = page.getByRole('dialog').getByRole('button', { name: 'Use prompt and options' }).first();
    await expect(use).toBeVisible();
    await tabTo(page, use);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(prompt).toHaveValue('My name is Julien and I like to');
  });

  test('options are typed, a continuation is chosen, and the text is taken away', async ({ tab }) => {
    const { page } = tab;
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await blur(page);
    await pressOn(page, buttonOf(page, 'Examples'));
    await pressOn(page, page.getByRole('button', { name: 'Today I accidentally' }), 'Space');
    await expect(prompt).toHaveValue('Today I accidentally');
    await openByKey(page, page.locator('details').filter({ hasText: 'Advanced', visible: true }));
    await typeInto(page, page.getByRole('textbox', { name: 'Max new tokens' }), '6');
    await typeInto(page, page.getByRole('textbox', { name: 'Continuations' }), '2');
    await pressOn(page, buttonOf(page, 'Send'));
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const second = buttonOf(page, '2');
    await pressOn(page, second);
    await expect(second).toHaveAttribute('aria-pressed', 'true');
    await pressOn(page, buttonOf(page, 'More'));
    const exported = await savedBy(
      page,
      page.locator('.compose').getByRole('button', { name: 'Export JSON' }),
    );
    expect(exported.suggestedFilename()).toBe('tabserve-text.json');
    await pressOn(page, buttonOf(page, 'Copy link'));
    await expect.poll(() => page.url()).toContain('n=2');
    await pressOn(page, buttonOf(page, 'Copy text'));
    await expect(page.locator('.document-actions output')).not.toBeEmpty();

    await pressOn(page, buttonOf(page, 'Reset all'));
    await expect(page.getByRole('textbox', { name: 'Continuations' })).toHaveValue('');
    await typeInto(page, page.getByRole('textbox', { name: 'Temperature' }), 'hot');
    await page.keyboard.press('Tab');
    await expect(page.getByRole('textbox', { name: 'Temperature' })).toHaveAttribute('aria-invalid', 'true');
    await typeInto(page, page.getByRole('textbox', { name: 'Temperature' }), '');
    await typeInto(page, page.getByRole('textbox', { name: 'Max new tokens' }), '2');
    await pressOn(page, page.getByRole('button', { name: 'Run 9 prompts at once' }));
    await expect(page.locator('[data-status=finished]')).toHaveCount(9);
    await pressOn(page, buttonOf(page, 'Clear finished'));
    await expect(page.locator('[data-request-id]')).toHaveCount(0);
    const requests = page.getByRole('region', { name: 'Requests', exact: true });
    await expect(requests, 'where the button was, which is gone').toBeFocused();
    await pressOn(page, buttonOf(page, 'Reset all'));

    await tab.configure({ batchWaitTimeoutMs: HELD_MS });
    await pressOn(page, buttonOf(page, 'Send'));
    await expect(page.locator('[data-status=waiting]')).toHaveCount(1);
    await pressOn(page, page.locator('.compose').getByRole('button', { name: 'Stop' }));
    await expect(page.locator('[data-status=cancelled]')).toHaveCount(1);
    await pressOn(page, buttonOf(page, 'Send'));
    await pressOn(page, page.getByRole('button', { name: /^Cancel request/ }));
    await expect(page.locator('[data-status=waiting]')).toHaveCount(0);
  });

  test('theme, policy and every knob are set', async ({ tab }) => {
    const { page } = tab;
    await blur(page);
    await pressOn(page, page.getByRole('button', { name: 'Menu' }));
    const themes = page.getByRole('group', { name: 'Theme' });
    await checkWithArrows(
      page,
      themes.getByRole('radio', { name: 'System' }),
      themes.getByRole('radio', { name: 'Dark' }),
    );
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await checkWithArrows(
      page,
      themes.getByRole('radio', { name: 'Dark' }),
      themes.getByRole('radio', { name: 'System' }),
    );
    await page.keyboard.press('Escape');
    await checkWithArrows(
      page,
      page.locator('[name=policy]:checked'),
      page.getByRole('radio', { name: 'off' }),
    );
    await openByKey(page, page.locator('details').filter({ hasText: 'Advanced', visible: true }));
    const knobs = {
      'Max batch size': '3',
      'Batch wait timeout': '7',
      'Max batched tokens': '64',
      'Prefill stall': 'auto',
      'Max queued requests': 'unlimited',
      'K/V cache memory': '48',
      'Max context length': '2000',
    };
    for (const [name, value] of Object.entries(knobs)) {
      await typeInto(page, page.getByRole('textbox', { name }), value);
      await page.keyboard.press('Enter');
    }
    for (const name of ['Prefix caching', 'Prompt lookup'])
      await pressOn(page, page.getByRole('checkbox', { name }), 'Space');
    await expect
      .poll(async () => (await tab.status()).policy)
      .toEqual({
        policy: 'off',
        maxBatchSize: 3,
        batchWaitTimeoutMs: 7,
        maxBatchedTokens: 64,
        prefillStallMs: 'auto',
        maxQueuedRequests: Infinity,
        kvCacheMemoryBytes: 48 * 2 ** 20,
        maxContextLength: 2000,
        prefixCaching: false,
        promptLookup: false,
      });
    const field = page.getByRole('textbox', { name: 'Max batch size' });
    await typeInto(page, field, '0');
    await page.keyboard.press('Enter');
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await page.keyboard.press('Escape');
    await expect(field).toHaveValue('3');
  });

  test('any bar is traced, and charts are paused, read at any moment and saved', async ({ tab }) => {
    const { page } = tab;
    // Long enough for several points in each chart: an arrow key goes from one to the next.
    const options = { maxNewTokens: 400, ignoreEos: true };
    await tab.generateAll(['Once upon a time,', 'My best talent is'].map((prompt) => ({ prompt, options })));
    await tab.whenIdle();
    await blur(page);
    await pressOn(page, buttonOf(page, 'Pause'), 'Space');
    await expect(buttonOf(page, 'Pause')).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('Space');
    const traced = page.getByRole('button', { name: /^Trace request/ }).first();
    await pressOn(page, traced);
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(traced, 'the focus comes back').toBeFocused();
    const slots = page.locator('.slots');
    const window = slots.getByRole('combobox', { name: 'Window' });
    await pressOn(page, buttonOf(page, 'More slot controls'));
    await chooseWithArrows(page, window, '60');
    // An arrow key moves by a hundredth of the window: less than the run has taken.
    await chooseWithArrows(page, window, '10');
    await pressOn(page, buttonOf(page, 'Trace newest'));
    const dialog = page.getByRole('dialog');
    const title = await dialog.getByRole('heading').textContent();
    await pressOn(page, dialog.getByRole('button', { name: 'Previous request' }));
    await expect(dialog.getByRole('heading')).not.toHaveText(title ?? '');
    await pressOn(page, dialog.getByRole('button', { name: 'Next request' }));
    await expect(dialog.getByRole('heading')).toHaveText(title ?? '');
    const trace = await savedBy(page, dialog.getByRole('button', { name: 'Export JSON' }));
    expect(trace.suggestedFilename()).toBe('tabserve-trace.json');
    await pressOn(page, dialog.getByRole('button', { name: 'Close' }));
    await expect(dialog).toHaveCount(0);

    // The dialog has taken the focus out of the box, which closed it.
    await pressOn(page, buttonOf(page, 'More slot controls'));
    await tabTo(page, slots.getByRole('slider', { name: 'Moment' }));
    const cursor = page.getByTestId('latency-chart').locator('.u-cursor-x');
    await page.keyboard.press('ArrowLeft');
    await expect(cursor).not.toHaveClass(/u-off/);
    await page.keyboard.press('End');
    await expect(slots.getByRole('slider')).toHaveAttribute('aria-valuetext', 'the newest values');
    await pressOn(page, buttonOf(page, 'Export Batch size'));
    const csv = await savedBy(page, buttonOf(page, 'Batch size as CSV'));
    expect(csv.suggestedFilename()).toBe('batch-size-chart.csv');
    await openByKey(page, page.locator('details').filter({ hasText: 'More charts' }));
    await pressOn(page, buttonOf(page, 'Export Time to first token'));
    const png = await savedBy(page, buttonOf(page, 'Time to first token as PNG'));
    expect(png.suggestedFilename()).toBe('ttft-chart.png');
  });

  test('load tests are set up, stopped, run and exported, and a trace is chosen', async ({ tab }) => {
    const { page } = tab;
    const panel = page.locator('.lab');
    const start = panel.getByRole('button', { name: 'Start' });
    const mode = (name: string): Promise<void> =>
      checkWithArrows(page, panel.locator('[name=mode]:checked'), page.getByRole('radio', { name }));
    await blur(page);
    await pressOn(page, buttonOf(page, 'Load lab'));
    await chooseWithArrows(page, panel.getByRole('combobox', { name: 'Kind' }), 'closed-loop');
    const fields = {
      numUsers: '16',
      durationSeconds: '0.5',
      outputMin: '2',
      outputMax: '8',
      latencyLimitMs: '60000',
    };
    for (const [name, value] of Object.entries(fields))
      await typeInto(page, panel.locator(`[name=${name}]`), value);
    await chooseWithArrows(page, panel.getByRole('combobox', { name: 'Spread' }).last(), 'long-tail');

    await mode('Compare');
    await typeInto(page, panel.locator('[name=durationSeconds]'), '60');
    await pressOn(page, start);
    await expect(panel.getByRole('progressbar')).toBeVisible();
    await pressOn(page, panel.getByRole('button', { name: 'Stop' }));
    await expect(start).toBeVisible();
    await typeInto(page, panel.locator('[name=durationSeconds]'), '0.5');
    await mode('Measure');
    // Its requests may end before the test hears that they have begun.
    const hasBegun = panel.getByRole('button', { name: 'Stop' }).waitFor();
    await pressOn(page, start);
    await hasBegun;
    await expect(start).toBeVisible({ timeout: 150_000 });
    await pressOn(page, panel.getByRole('button', { name: 'Export', exact: true }));
    const saved = await savedBy(page, panel.getByRole('button', { name: 'Results as JSON' }));
    await chooseWithArrows(page, panel.getByRole('combobox', { name: 'Kind' }), 'replay');
    await chooseFile(page, panel.locator('input[type=file]'), await saved.path());
    await expect(panel).toContainText(/requests/);
    await pressOn(page, panel.getByRole('button', { name: 'Export', exact: true }));
    await pressOn(page, panel.getByRole('button', { name: 'Copy link to scenario' }));
    await expect.poll(() => page.url()).toContain('load=');
    await chooseWithArrows(page, panel.getByRole('combobox', { name: 'Kind' }), 'poisson');
    await pressOn(page, panel.getByRole('button', { name: 'Close' }));
    await expect(panel).toBeHidden();
  });

  test('the other deployments are asked and their answers cleared', async ({ tab }) => {
    const { page } = tab;
    const answers = page.getByRole('list', { name: 'Answers' }).locator('[data-status=answered]');
    await blur(page);
    await tabTo(page, page.getByRole('tab', { name: 'Text' }));
    await page.keyboard.press('End');
    await typeInto(page, page.getByRole('textbox', { name: 'Number' }), '41');
    await page.keyboard.press('Enter');
    await expect(answers.last()).toContainText('42');
    await pressOn(page, page.getByRole('button', { name: 'Send 9 queries' }));
    await typeInto(page, page.getByRole('textbox', { name: 'Max batch size' }), '5');
    await page.keyboard.press('Enter');
    await expect
      .poll(
        async () => (await tab.status()).deployments.find(({ name }) => name === 'adder')?.knobs.maxBatchSize,
      )
      .toBe(5);
    await expect(page.getByRole('list', { name: 'Answers' }).locator('[data-status=waiting]')).toHaveCount(0);
    await pressOn(page, page.getByRole('button', { name: 'Clear settled' }));
    await expect(answers).toHaveCount(0);
    await tab.page.evaluate(() => window.tabserve.configure('adder', { maxBatchSize: 4 }));

    await tabTo(page, page.getByRole('radio', { name: 'Adder' }));
    await page.keyboard.press('ArrowRight');
    await pressOn(page, page.locator('form').getByRole('button').first());
    await expect(answers).not.toHaveCount(0);
    await tabTo(page, page.getByRole('tab', { name: 'Deployments' }));
    await page.keyboard.press('Home');
    await expect(page.getByRole('tab', { name: 'Text' })).toHaveAttribute('aria-selected', 'true');
  });
});

hubTest(
  'by the keyboard alone a model is loaded, paused, resumed after a reload and deleted, and another comes from a folder',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    const { page } = ownTab;
    const address = `?backend=${backend}&hub=${encodeURIComponent(hub.url)}`;
    const openPanel = async (): Promise<void> => {
      await ownTab.open(address);
      await ownTab.ready();
      await blur(page);
      await pressOn(page, page.getByRole('button', { name: /^Model and tabs/ }));
    };
    const panel = page.getByRole('region', { name: 'Load another model' });
    const id = panel.getByLabel('Hugging Face model ID');
    const load = panel.getByRole('button', { name: 'Load', exact: true });
    await openPanel();

    await test.step('one that does not exist is an error in the panel, without another question to the hub', async () => {
      await typeInto(page, id, 'tests/nobody');
      await pressOn(page, load);
      const alert = panel.getByRole('alert');
      await expect(alert).toContainText('Couldn’t load tests/nobody. Still using storyteller.');
      await expect(alert).toContainText('MODEL_NOT_FOUND');
      await expect(panel).not.toContainText('asking the hub');
      expect(hub.requests).toHaveLength(1);
    });

    const size = twinFiles().get(WEIGHTS)?.length ?? 0;
    const sent = (): number =>
      hub.requests.reduce((sum, { bytesSent, kind }) => sum + (kind === 'content' ? bytesSent : 0), 0);
    hub.fault = ({ kind }) =>
      kind === 'content' ? { gate: () => sent() < size / 2 || new Promise<boolean>(() => {}) } : undefined;
    await typeInto(page, id, TWIN);
    await chooseWithArrows(page, panel.getByRole('combobox', { name: 'Precision' }), 'fp32');
    await pressOn(page, load);
    await expect(panel.getByTestId('model-load')).toContainText('downloading');
    await expect.poll(() => sent()).toBeGreaterThanOrEqual(size / 2);
    await pressOn(page, panel.getByRole('button', { name: 'Pause' }));
    await expect(panel.getByTestId('model-load')).toContainText('paused');
    await expectNoViolations(panel, 'a load that is paused');
    hub.fault = () => undefined;
    await openPanel();
    await pressOn(page, panel.getByRole('button', { name: 'Resume' }));
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe(TWIN);
    await expectReferenceTokens(ownTab);
    expect(await axeViolations(panel), 'a stored model').toEqual([]);

    const remove = panel.getByRole('button', { name: `Delete ${TWIN}` });
    await pressOn(page, remove);
    await expect(panel.getByText(`${TWIN} is in use. It runs until its tab closes`)).toBeVisible();
    expect(await axeViolations(panel), 'a model in use whose deletion waits for a yes').toEqual([]);
    await pressOn(page, panel.getByRole('button', { name: 'Keep it' }));
    await pressOn(page, remove);
    await pressOn(page, panel.getByRole('button', { name: 'Delete it' }));
    await expect(panel.getByRole('list', { name: 'Models on this device' })).toHaveCount(0);
    expect(await storedModels(ownTab), 'its files, until the time for Undo is over').toHaveLength(1);
    await pressOn(page, panel.getByRole('button', { name: 'Undo', exact: true }));
    await expect(remove).toBeVisible();

    const folder = await mkdtemp(join(tmpdir(), 'tabserve-model-'));
    for (const [name, content] of twinFiles()) await writeFile(join(folder, name), content);
    await chooseFile(page, panel.getByLabel('or a folder'), folder);
    const picked = panel.getByRole('button', { name: `Load ${folder.split('/').at(-1)}` });
    await expect(picked).toBeFocused();
    await expectNoViolations(panel, 'a picked folder that waits to be loaded');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe(folder.split('/').at(-1));
    await rm(folder, { recursive: true });
    expect(ownTab.errors).toEqual([]);
  },
);

interface DrawnButton {
  readonly name: string;
  /** Red, green, blue, opacity: 0 to 255. */
  readonly text: readonly number[];
  readonly ground: readonly number[];
}

/** Runs in the page. Colors change gradually, and a change may be cancelled. */
async function whenColorsSettle(): Promise<void> {
  const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
  await Promise.allSettled(transitions.map(({ finished }) => finished));
}

/** Runs in the page: the colors of each disabled button, which axe leaves out. */
function drawnDisabledButtons(): DrawnButton[] {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('No canvas');
  /** As drawn: a canvas knows every notation. */
  const channelsOf = (color: string): readonly number[] => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const groundOf = (element: Element | null): readonly number[] => {
    const channels = element ? channelsOf(getComputedStyle(element).backgroundColor) : [255, 255, 255, 255];
    return channels[3] === 255 ? channels : groundOf(element?.parentElement ?? null);
  };
  return [...document.querySelectorAll('button:disabled')].map((button) => ({
    name: button.textContent,
    text: channelsOf(getComputedStyle(button).color),
    ground: groundOf(button),
  }));
}

/** As WCAG defines it, from 1 to 21. */
function contrastOf({ text, ground }: DrawnButton): number {
  const [darker = 0, lighter = 0] = [luminanceOf(text), luminanceOf(ground)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(channels: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = channels
    .map((channel) => channel / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
